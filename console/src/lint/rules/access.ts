// The access rules that the card declares (spec §4.5, §7).
import { list, members, scopesOf, type Members } from "../../api/card.ts";
import { advice, error, isLoopback, urlOf, warning, when, type Finding, type Rule, type Subject } from "../found.ts";

const KINDS = ["apiKeySecurityScheme", "httpAuthSecurityScheme", "oauth2SecurityScheme", "openIdConnectSecurityScheme", "mtlsSecurityScheme"];

/** The URLs that each flow of OAuth 2.0 needs. */
const FLOWS: Record<string, string[]> = {
  authorizationCode: ["authorizationUrl", "tokenUrl"],
  clientCredentials: ["tokenUrl"],
  deviceCode: ["deviceAuthorizationUrl", "tokenUrl"],
  implicit: ["authorizationUrl"],
  password: ["tokenUrl"],
};

export const access: Rule = (subject) => {
  const schemes = Object.entries(members(subject.raw["securitySchemes"]));
  return [...schemes.flatMap(([name, scheme]) => single(members(scheme), `securitySchemes.${name}`)), ...requirements(subject), ...open(subject)];
};

function single(scheme: Members, about: string): Finding[] {
  const kinds = KINDS.filter((kind) => kind in scheme);
  const [kind] = kinds;
  if (kind === undefined) {
    const fix = "type" in scheme ? "Wrap it as 1.0 does, as `apiKeySecurityScheme`." : `Use one of ${KINDS.join(", ")}.`;
    return [error(about, "The scheme is of no kind of the specification, so clients do not know what to send.", fix)];
  }
  const inner = members(scheme[kind]);
  return [
    ...when(kinds.length > 1, () => error(about, `The scheme is of several kinds at once (${kinds.join(", ")}).`, "Make a scheme of each.")),
    ...(kind === "apiKeySecurityScheme" ? apiKey(inner, about) : []),
    ...(kind === "httpAuthSecurityScheme" ? when(!isText(inner["scheme"]), () => error(`${about}.scheme`, "The scheme of the header Authorization is not named.", 'Name it, as "Bearer".')) : []),
    ...(kind === "oauth2SecurityScheme" ? oauth2(members(inner["flows"]), about) : []),
    ...(kind === "openIdConnectSecurityScheme" ? needed(inner, "openIdConnectUrl", about) : []),
  ];
}

function apiKey(inner: Members, about: string): Finding[] {
  const { location, name } = inner;
  return [
    ...when(!["header", "query", "cookie"].includes(String(location)), () => error(`${about}.location`, "The scheme does not say where the key goes.", "Say header, query or cookie.")),
    ...when(!isText(name), () => error(`${about}.name`, "The scheme does not say what the header, parameter or cookie is called.", "Name it, as X-API-Key.")),
    ...when(location === "query", () => advice(about, "The key is sent in the URL, which servers and proxies write into their logs.", "Take it in a header, too.")),
  ];
}

function oauth2(flows: Members, about: string): Finding[] {
  const given = Object.keys(flows);
  if (given.length === 0) return [error(`${about}.flows`, "The scheme has no flow, so clients do not know where to get a token.", "Declare a flow.")];
  return [
    ...when(given.length > 1, () => warning(`${about}.flows`, `The scheme has several flows (${given.join(", ")}); the specification allows one, and clients take any.`, "Make a scheme of each flow.")),
    ...given.flatMap((flow): Finding[] => {
      const urls = FLOWS[flow];
      if (urls === undefined) return [error(`${about}.flows.${flow}`, `\`${flow}\` is no flow that the specification knows.`, `Use one of ${Object.keys(FLOWS).join(", ")}.`)];
      return [
        ...urls.flatMap((url) => needed(members(flows[flow]), url, `${about}.flows.${flow}`)),
        ...when(flow === "implicit" || flow === "password", () => advice(`${about}.flows.${flow}`, `The flow \`${flow}\` is deprecated, since tokens or passwords can leak.`, "Use authorizationCode with PKCE, or clientCredentials.")),
      ];
    }),
  ];
}

/** Checks a required URL, which must use https. */
function needed(inner: Members, member: string, about: string): Finding[] {
  const url = urlOf(inner[member]);
  if (url === undefined || !/^https?:$/.test(url.protocol)) return [error(`${about}.${member}`, "The URL is missing, or is not absolute.", "Give it in full, with https://.")];
  return when(url.protocol === "http:" && !isLoopback(url.hostname), () => error(`${about}.${member}`, "Credentials are sent there by http, for everybody on the way to read.", "Use https."));
}

function requirements({ raw, read }: Subject): Finding[] {
  const declared = members(raw["securitySchemes"]);
  const ofCard = requirementsIn(raw["securityRequirements"], "securityRequirements");
  const ofSkills = list(raw["skills"]).flatMap((skill, index) => requirementsIn(members(skill)["securityRequirements"], `skills[${index}].securityRequirements`));
  const all = [...ofCard, ...ofSkills];
  const names = Object.keys(declared);
  return [
    ...all.filter(({ name }) => !(name in declared)).map(({ name, about }) =>
      error(about, `The requirement names the scheme \`${name}\`, which the card does not declare, so clients do not know what to send.`, `Declare \`${name}\` in securitySchemes, or name one of ${names.join(", ") || "those that are declared"}.`)),
    ...when(names.length > 0 && all.length === 0, () =>
      warning("securityRequirements", "Schemes are declared, but no requirement names them: clients call without credentials.", "Say in securityRequirements which schemes are needed.")),
    ...all.flatMap(({ name, scopes, about }): Finding[] => {
      const flows = Object.values(members(read.securitySchemes?.[name]?.oauth2SecurityScheme?.flows));
      const known = flows.flatMap((flow) => Object.keys(members(members(flow)["scopes"])));
      const unknown = scopes.filter((scope) => known.length > 0 && !known.includes(scope));
      return unknown.map((scope) => warning(about, `The scope \`${scope}\` is required, but the flows of \`${name}\` do not have it.`, "Add the scope to the flow, with what it is for."));
    }),
  ];
}

function requirementsIn(json: unknown, about: string): { name: string; scopes: string[]; about: string }[] {
  return list(json).flatMap((one, index) => Object.entries(members(members(one)["schemes"])).map(([name, scopes]) => ({ name, scopes: scopesOf(scopes), about: `${about}[${index}]` })));
}

/** Reports an agent that everybody can call, if this may not be intended. */
function open({ raw, at, isDevelopment }: Subject): Finding[] {
  const isPublic = at !== undefined && !isLoopback(at.hostname) && isDevelopment !== true;
  return when(isPublic && Object.keys(members(raw["securitySchemes"])).length === 0, () =>
    advice("securitySchemes", "The card declares no security scheme: everybody who knows the URL may call the agent.", "If that is not meant, declare a scheme and enforce it."));
}

function isText(json: unknown): boolean {
  return typeof json === "string" && json !== "";
}
