// Makes a valid card from any JSON: all members have the shapes of types.ts.
import type { AgentCard, AgentExtension, AgentInterface, AgentSkill, SecurityScheme } from "./types.ts";

/** The members of a JSON object. */
export type Members = Record<string, unknown>;

/** The readable part of a card in the form of 1.0: members of a wrong type are left out; required members are empty then. */
export function readCard(json: unknown): AgentCard {
  const card = members(json);
  const capabilities = members(card["capabilities"]);
  const provider = members(card["provider"]);
  return {
    name: text(card["name"]),
    description: text(card["description"]),
    version: text(card["version"]),
    supportedInterfaces: list(card["supportedInterfaces"]).map(readInterface),
    ...("provider" in card ? { provider: { organization: text(provider["organization"]), url: text(provider["url"]) } } : {}),
    ...optional("documentationUrl", card["documentationUrl"]),
    ...optional("iconUrl", card["iconUrl"]),
    capabilities: {
      streaming: capabilities["streaming"] === true,
      pushNotifications: capabilities["pushNotifications"] === true,
      extendedAgentCard: capabilities["extendedAgentCard"] === true,
      extensions: list(capabilities["extensions"]).map(readExtension),
    },
    securitySchemes: Object.fromEntries(Object.entries(members(card["securitySchemes"])).map(([name, scheme]) => [name, readScheme(scheme)])),
    securityRequirements: list(card["securityRequirements"]).map((one) => ({ schemes: members(members(one)["schemes"]) })),
    defaultInputModes: texts(card["defaultInputModes"]),
    defaultOutputModes: texts(card["defaultOutputModes"]),
    skills: list(card["skills"]).map(readSkill),
    signatures: list(card["signatures"]),
  };
}

/** The scopes of a scheme in a requirement. Proto libraries leave out an empty list. */
export function scopesOf(requirement: unknown): string[] {
  return Array.isArray(requirement) ? texts(requirement) : texts(members(requirement)["list"]);
}

function readInterface(json: unknown): AgentInterface {
  const one = members(json);
  return {
    url: text(one["url"]),
    protocolBinding: text(one["protocolBinding"]),
    ...optional("protocolVersion", one["protocolVersion"]),
    ...optional("tenant", one["tenant"]),
  };
}

function readExtension(json: unknown): AgentExtension {
  const one = members(json);
  return {
    uri: text(one["uri"]),
    ...optional("description", one["description"]),
    required: one["required"] === true,
    ...("params" in one ? { params: members(one["params"]) } : {}),
  };
}

function readSkill(json: unknown): AgentSkill {
  const one = members(json);
  return {
    id: text(one["id"]),
    name: text(one["name"]),
    description: text(one["description"]),
    tags: texts(one["tags"]),
    examples: texts(one["examples"]),
    inputModes: texts(one["inputModes"]),
    outputModes: texts(one["outputModes"]),
    securityRequirements: list(one["securityRequirements"]),
  };
}

function readScheme(json: unknown): SecurityScheme {
  const scheme = members(json);
  const inner = (name: keyof SecurityScheme) => (name in scheme ? members(scheme[name]) : undefined);
  const [key, http, oauth2, openId, mtls] = [
    inner("apiKeySecurityScheme"), inner("httpAuthSecurityScheme"), inner("oauth2SecurityScheme"), inner("openIdConnectSecurityScheme"), inner("mtlsSecurityScheme"),
  ];
  const described = (of: Members) => optional("description", of["description"]);
  const location = key?.["location"];
  return {
    ...(key !== undefined && (location === "header" || location === "query" || location === "cookie")
      ? { apiKeySecurityScheme: { location, name: text(key["name"]), ...described(key) } }
      : {}),
    ...(http === undefined ? {} : { httpAuthSecurityScheme: { scheme: text(http["scheme"]), ...optional("bearerFormat", http["bearerFormat"]), ...described(http) } }),
    ...(oauth2 === undefined
      ? {}
      : { oauth2SecurityScheme: { flows: members(oauth2["flows"]), ...optional("oauth2MetadataUrl", oauth2["oauth2MetadataUrl"]), ...described(oauth2) } }),
    ...(openId === undefined ? {} : { openIdConnectSecurityScheme: { openIdConnectUrl: text(openId["openIdConnectUrl"]), ...described(openId) } }),
    ...(mtls === undefined ? {} : { mtlsSecurityScheme: described(mtls) }),
  };
}

/** True for a JSON object; a list is not an object. */
export function isObject(json: unknown): json is Members {
  return typeof json === "object" && json !== null && !Array.isArray(json);
}

/** The members of an object; empty for any other value. */
export function members(json: unknown): Members {
  return isObject(json) ? json : {};
}

/** The elements of a list; empty for any other value. */
export function list(json: unknown): unknown[] {
  return Array.isArray(json) ? json : [];
}

/** The text; empty for any other value. */
export function text(json: unknown): string {
  return typeof json === "string" ? json : "";
}

/** The texts of a list. */
export function texts(json: unknown): string[] {
  return list(json).filter((one): one is string => typeof one === "string");
}

/** An object with this member if the value is a text and not empty; otherwise an empty object. */
export function optional<Name extends string>(name: Name, json: unknown): { [name in Name]?: string } {
  return (typeof json === "string" && json !== "" ? { [name]: json } : {}) as { [name in Name]?: string };
}

/** True if the agent accepts files: by one of its input modes that is neither text nor JSON. */
export function takesFiles(card: Pick<AgentCard, "defaultInputModes" | "skills"> | undefined): boolean {
  const modes = [...(card?.defaultInputModes ?? []), ...(card?.skills ?? []).flatMap(({ inputModes }) => inputModes ?? [])];
  return modes.some((mode) => !/^(text\/(plain|markdown)|application\/json)\b/i.test(mode));
}
