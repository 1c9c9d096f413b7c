// Where a request has a key, by the security schemes of a card (spec §4.5), in the words of the console (console/src/session/schemes.ts).
import { record, text } from "./values.mjs";

const ACCESS_HEADER = "cf-access-jwt-assertion";

/** What one may name a header or a parameter, and the scheme of Authorization. */
const TOKEN = /^[!#$%&'*+.^_`|~\dA-Za-z-]{1,100}$/;

/** The schemes of an agent that take a secret which can be typed: `{ name, kind, slot }`. */
export function schemesOf(agent) {
  return Object.entries(record(record(agent.access).securitySchemes)).flatMap(([name, scheme]) => {
    const found = schemeOf(record(scheme));
    return found === undefined ? [] : [{ name, ...found }];
  });
}

function schemeOf(scheme) {
  const [key, http] = [record(scheme.apiKeySecurityScheme), record(scheme.httpAuthSecurityScheme)];
  const name = text(key.name);
  if (name !== undefined && TOKEN.test(name) && name.toLowerCase() !== ACCESS_HEADER && ["header", "query", "cookie"].includes(key.location)) {
    return { kind: "API key", slot: { in: key.location, name } };
  }
  const named = text(http.scheme);
  if (named !== undefined && TOKEN.test(named)) {
    if (/^basic$/i.test(named)) return { kind: "Password", slot: { in: "authorization", scheme: "Basic" } };
    return {
      kind: /^bearer$/i.test(named) ? "Bearer token" : named,
      slot: { in: "authorization", scheme: /^bearer$/i.test(named) ? "Bearer" : named },
    };
  }
  const bearer = { in: "authorization", scheme: "Bearer" };
  if (scheme.oauth2SecurityScheme !== undefined) return { kind: "OAuth 2.0", slot: bearer };
  if (scheme.openIdConnectSecurityScheme !== undefined) return { kind: "OpenID Connect", slot: bearer };
  return undefined;
}

/** The slots that a secret fits, the likeliest one first: a JSON Web Token is a bearer's, a password has a name before it. */
export function fitting(slots, secret) {
  const isJwt = /^[\w-]+\.[\w-]+\.[\w-]+$/.test(secret) && secret.startsWith("ey");
  const isAscii = /^[\x20-\x7e]+$/.test(secret);
  const rank = (slot) => {
    if (slot.in === "authorization" && slot.scheme === "Basic") return secret.includes(":") ? 3 : undefined;
    if (!isAscii) return undefined;
    if (slot.in === "authorization") return isJwt ? 0 : 2;
    return { header: 1, cookie: isJwt ? 1 : 4, query: 5 }[slot.in];
  };
  return slots.filter((slot) => rank(slot) !== undefined).sort((one, other) => rank(one) - rank(other));
}

/** Each slot once. */
export function distinct(slots) {
  return [...new Map(slots.map((slot) => [JSON.stringify([slot.in, (slot.name ?? slot.scheme).toLowerCase()]), slot])).values()];
}

/** Where a secret is, in words. */
export function placeOf(slot) {
  return {
    header: `the header ${slot.name}`,
    query: `the query parameter ${slot.name}`,
    cookie: `the cookie ${slot.name}`,
    authorization: `the header Authorization, as ${slot.scheme}`,
  }[slot.in];
}

/** Puts a secret into a request. */
export function place(slot, secret, url, headers) {
  if (slot.in === "query") url.searchParams.set(slot.name, secret);
  else if (slot.in === "cookie") headers.append("cookie", `${slot.name}=${secret}`);
  else if (slot.in === "header") headers.set(slot.name, secret);
  else headers.set("authorization", `${slot.scheme} ${slot.scheme === "Basic" ? Buffer.from(secret).toString("base64") : secret}`);
}

/** The texts by which a secret is recognized in an answer. */
export function tracesOf({ slot, secret }) {
  const traces = [secret, ...(slot.scheme === "Basic" ? [Buffer.from(secret).toString("base64"), secret.slice(secret.indexOf(":") + 1)] : [])];
  return traces.filter((trace) => trace.length >= 6);
}

/** True if a value from the file of keys is a slot. */
export function isSlot(slot) {
  const { in: where, name, scheme } = record(slot);
  return where === "authorization" ? TOKEN.test(text(scheme) ?? "") : ["header", "query", "cookie"].includes(where) && TOKEN.test(text(name) ?? "");
}
