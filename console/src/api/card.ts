// A card as the console relies on it: whatever an agent serves, its members have the shapes that types.ts says.
import type { AgentCard, AgentExtension, AgentInterface, AgentSkill, SecurityScheme } from "./types.ts";

/** What JSON may hold. */
export type Members = Record<string, unknown>;

/** The card in 1.0 with what can be read of it: members of a wrong type are left out, those that must be there are empty. */
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

/** The scopes that a requirement wants of a scheme. Proto libraries leave out a list that is empty. */
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

/** Whether it is an object of JSON, which a list is not. */
export function isObject(json: unknown): json is Members {
  return typeof json === "object" && json !== null && !Array.isArray(json);
}

/** The members of an object; none of anything else. */
export function members(json: unknown): Members {
  return isObject(json) ? json : {};
}

/** The elements of a list; none of anything else. */
export function list(json: unknown): unknown[] {
  return Array.isArray(json) ? json : [];
}

/** The text; empty for anything else. */
export function text(json: unknown): string {
  return typeof json === "string" ? json : "";
}

/** The texts of a list. */
export function texts(json: unknown): string[] {
  return list(json).filter((one): one is string => typeof one === "string");
}

/** A member with a text that is not empty; none for anything else. */
export function optional<Name extends string>(name: Name, json: unknown): { [name in Name]?: string } {
  return (typeof json === "string" && json !== "" ? { [name]: json } : {}) as { [name in Name]?: string };
}
