// The ways to sign in to an agent, from the schemes and requirements of its card (spec §4.5), in words. Pure.
import { members, scopesOf } from "../api/card.ts";
import type { AgentCard, SecurityScheme } from "../api/types.ts";

/** The place of a secret in a request. `authorization` is that header, with the name of its scheme before the secret. */
export type Slot = { in: "header" | "query"; name: string } | { in: "authorization"; scheme: string };

/** The action that signs in: typing a secret, typing a name and a password, or an action outside of the page. */
export type Doing = "secret" | "password" | "cookie" | "access" | "certificate" | "unknown";

/** A scheme of a card in the form for people. */
export interface Scheme {
  /** The name of the scheme in the card. */
  name: string;
  /** The kind of the scheme in one or two words, for example `API key`. */
  kind: string;
  doing: Doing;
  /** The place of the scheme's secret in a request, in words. */
  where: string;
  /** The place for the program; undefined if no secret is typed. */
  slot: Slot | undefined;
  /** The description in the card. */
  description: string | undefined;
  /** The sources of tokens: labels with URLs. */
  links: [string, string][];
}

/** One of several ways to sign in, which needs all of its schemes. */
export interface Way {
  title: string;
  schemes: Scheme[];
  /** The required scopes. */
  scopes: string[];
}

/** The header with which Cloudflare Access identifies the caller to the Worker; a browser cannot send it. */
const ACCESS_HEADER = "cf-access-jwt-assertion";

/** The ways to sign in to an agent, in the order of its card. Empty if callers need no credentials. */
export function waysOf(card: Pick<AgentCard, "securitySchemes" | "securityRequirements">): Way[] {
  const schemes = schemesOf(card);
  const required = (card.securityRequirements ?? []).map(({ schemes: wanted = {} }) => Object.entries(members(wanted)));
  const alternatives = required.length > 0 ? required : schemes.map(({ name }): [string, unknown][] => [[name, []]]);
  return alternatives.flatMap((wanted) => {
    const found = wanted.flatMap(([name]) => schemes.find((scheme) => scheme.name === name) ?? []);
    if (found.length === 0 || found.length < wanted.length) return [];
    return [{ title: found.map(titleOf).join(" and "), schemes: found, scopes: wanted.flatMap(([, scopes]) => scopesOf(scopes)) }];
  });
}

/** The schemes of a card. */
export function schemesOf(card: Pick<AgentCard, "securitySchemes">): Scheme[] {
  return Object.entries(card.securitySchemes ?? {}).map(([name, scheme]) => schemeOf(name, scheme));
}

/** The kinds of the schemes of an agent, each once; empty if callers need no credentials. */
export function kindsOf(card: Pick<AgentCard, "securitySchemes">): string[] {
  return [...new Set(schemesOf(card).map(({ kind }) => kind))];
}

function titleOf({ name, kind }: Scheme): string {
  return name.toLowerCase() === kind.toLowerCase() ? kind : `${kind} (${name})`;
}

function schemeOf(name: string, scheme: SecurityScheme): Scheme {
  const { apiKeySecurityScheme: key, httpAuthSecurityScheme: http, oauth2SecurityScheme: oauth2, openIdConnectSecurityScheme: openId, mtlsSecurityScheme: mtls } = scheme;
  const told = { name, slot: undefined, description: (key ?? http ?? oauth2 ?? openId ?? mtls)?.description, links: [] };
  if (key !== undefined) {
    if (key.name.toLowerCase() === ACCESS_HEADER) return { ...told, kind: "Cloudflare Access", doing: "access", where: "added by Cloudflare Access to each request" };
    if (key.location === "cookie") return { ...told, kind: "Cookie", doing: "cookie", where: `the cookie ${key.name}` };
    const where = key.location === "header" ? `the header ${key.name}` : `the query parameter ${key.name}`;
    return { ...told, kind: "API key", doing: "secret", where, slot: { in: key.location, name: key.name } };
  }
  if (http !== undefined) return httpScheme(told, http.scheme, http.bearerFormat);
  const bearer = { doing: "secret", where: "the header Authorization, as Bearer", slot: { in: "authorization", scheme: "Bearer" } } as const;
  if (oauth2 !== undefined) return { ...told, ...bearer, kind: "OAuth 2.0", links: linksOf(oauth2.flows, oauth2.oauth2MetadataUrl) };
  if (openId !== undefined) return { ...told, ...bearer, kind: "OpenID Connect", links: [["Provider", openId.openIdConnectUrl]] };
  if (mtls !== undefined) return { ...told, kind: "Client certificate", doing: "certificate", where: "the connection itself" };
  return { ...told, kind: "Unknown", doing: "unknown", where: "somewhere that the card does not tell" };
}

function httpScheme(told: Pick<Scheme, "name" | "description" | "links">, scheme: string, format: string | undefined): Scheme {
  const named = /^bearer$/i.test(scheme) ? "Bearer" : /^basic$/i.test(scheme) ? "Basic" : scheme;
  const slot: Slot = { in: "authorization", scheme: named };
  const where = `the header Authorization, as ${named}`;
  if (named === "Basic") return { ...told, kind: "Password", doing: "password", where, slot };
  return { ...told, kind: named === "Bearer" ? (format === undefined ? "Bearer token" : `Bearer token, ${format}`) : named, doing: "secret", where, slot };
}

function linksOf(flows: unknown, metadata: string | undefined): [string, string][] {
  const words: Record<string, string> = { authorizationUrl: "Sign in", deviceAuthorizationUrl: "Sign in with a device", tokenUrl: "Tokens" };
  const found = Object.values(members(flows)).flatMap((flow) =>
    Object.entries(members(flow)).flatMap(([member, url]): [string, string][] => (words[member] !== undefined && typeof url === "string" ? [[words[member], url]] : [])));
  return metadata === undefined ? found : [...found, ["Metadata", metadata]];
}

/** The value after `Basic` in the header Authorization: name and password as UTF-8 in base64 (RFC 7617). */
export function basicOf(name: string, password: string): string {
  return btoa(String.fromCharCode(...new TextEncoder().encode(`${name}:${password}`)));
}
