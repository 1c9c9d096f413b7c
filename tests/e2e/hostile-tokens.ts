// The requests of attackers and of honest callers: the tables of access-hostile.spec.ts.

import { createHmac, randomUUID } from "node:crypto";
import { basic, bearer, type Headers } from "./access.ts";
import { AUDIENCE, encode, hmacToken, makeKey, signature, signingInput, token, type Issuer, type Members, type SigningKey } from "./identity-provider.ts";

/** A request: its description, its agent (with a query, if any), and its headers. */
export type Row = [what: string, agent: string, headers: Record<string, string | string[]>];

/** The issuer, with a key of each algorithm, and the secrets of the Worker, from which requests are made. */
export interface Means {
  issuer: Issuer;
  rsa: SigningKey;
  ec: SigningKey;
  ed: SigningKey;
  secrets: Record<"JWT_SECRET" | "API_KEY" | "ROBOT_TOKEN" | "PASSWORD", string>;
}

const now = (): number => Math.floor(Date.now() / 1000);

/** Valid headers and claims. */
function honestForms({ issuer }: Means): [what: string, claims: Members, header: Members][] {
  return [
    ["plain", {}, {}],
    ["without typ", {}, { typ: undefined }],
    ["typ at+jwt", {}, { typ: "at+jwt" }],
    ["typ application/at+JWT", {}, { typ: "application/at+JWT" }],
    ["typ jwt in small letters", {}, { typ: "jwt" }],
    ["header members in another order", {}, { cty: "json", zzz: 1 }],
    ["certificates in the header", {}, { x5t: "abc", x5c: ["MIIC"], "x5t#S256": "abc" }],
    ["several audiences", { aud: ["other", AUDIENCE] }, {}],
    ["one audience in a list", { aud: [AUDIENCE] }, {}],
    ["expires in a second", { exp: now() + 61 }, {}],
    ["expired within the leeway", { exp: now() - 20 }, {}],
    ["expires in ten years", { exp: now() + 315_360_000 }, {}],
    ["a fraction of a second", { exp: now() + 300.5 }, {}],
    ["valid from now", { nbf: now() }, {}],
    ["valid from within the leeway", { nbf: now() + 40 }, {}],
    ["valid for long", { nbf: 0 }, {}],
    ["given out within the leeway", { iat: now() + 40 }, {}],
    ["given out long ago", { iat: 1 }, {}],
    ["not said when", { iat: undefined, jti: undefined }, {}],
    ["scopes in a text", { scope: "read write" }, {}],
    ["scopes in a list", { scp: ["read", "write"] }, {}],
    ["no scopes", { scope: "", permissions: [] }, {}],
    ["a session", { session_id: randomUUID() }, {}],
    ["a name of another script", { sub: "\u0430lice" }, {}],
    ["a name with signs", { sub: "auth0|5f7c8ec7c33c6c004bbafe82" }, {}],
    ["a name with a colon", { sub: "urn:a:b" }, {}],
    ["a long name", { sub: "x".repeat(256) }, {}],
    ["a name with spaces", { sub: "Alice B." }, {}],
    ["an emoji", { sub: "\u{1f600}" }, {}],
    ["claims that nobody knows", { a: { b: [1, null, { c: true }] }, "https://a.example/b": "c" }, {}],
    ["claims of null", { session_id: null, scope: null }, {}],
    ["much to say", { note: "x".repeat(3000) }, {}],
    ["an issuer's own id", { azp: "client", sid: "s", iss: issuer.url }, {}],
  ];
}

/** Invalid claims and headers under a valid signature. */
function wrongForms({ issuer }: Means): [what: string, claims: Members, header: Members][] {
  const claims: [string, unknown][] = [
    ["iss", undefined], ["iss", null], ["iss", ""], ["iss", [issuer.url]], ["iss", `${issuer.url}/`], ["iss", issuer.url.toUpperCase()], ["iss", `${issuer.url} `],
    ["iss", issuer.url.replace("o", "\u043e")], ["iss", "https://evil.example"],
    ["aud", undefined], ["aud", null], ["aud", ""], ["aud", []], ["aud", "other"], ["aud", ["other"]], ["aud", `${AUDIENCE} other`], ["aud", AUDIENCE.toUpperCase()],
    ["aud", { [AUDIENCE]: true }], ["aud", [AUDIENCE, 5]], ["aud", [[AUDIENCE]]], ["aud", "\u0430gents"], ["aud", "*"],
    ["exp", undefined], ["exp", null], ["exp", now() - 61], ["exp", 0], ["exp", -1], ["exp", String(now() + 300)], ["exp", 1e300], ["exp", [now() + 300]], ["exp", true],
    ["nbf", now() + 90], ["nbf", "0"], ["nbf", null], ["iat", now() + 90], ["iat", {}],
    ["sub", undefined], ["sub", null], ["sub", ""], ["sub", 5], ["sub", true], ["sub", ["alice"]], ["sub", { id: "alice" }], ["sub", "alice\u0000"], ["sub", "alice\n"],
    ["sub", "al\u200bice"], ["sub", "\u202eecila"], ["sub", " alice"], ["sub", "x".repeat(257)],
    ["scope", 5], ["scope", { read: true }], ["scope", [5]], ["permissions", "a".length], ["session_id", 5], ["session_id", "a\nb"],
  ];
  const headers: [string, unknown][] = [
    ["crit", ["exp"]], ["crit", []], ["crit", null], ["b64", false], ["zip", "DEF"], ["enc", "A128GCM"],
    ["typ", "JWE"], ["typ", "dpop+jwt"], ["typ", "logout+jwt"], ["typ", "secevent+jwt"], ["typ", null], ["typ", 5], ["typ", "JWT\u0000"],
    ["jku", "https://evil.example/jwks"], ["x5u", "https://evil.example/cert"], ["jwk", { kty: "oct", k: "AAAA" }],
    ["kid", null], ["kid", 5], ["kid", ""], ["kid", ["a"]], ["kid", { a: 1 }], ["kid", "a\u0000"], ["kid", "a\r\nb: c"], ["kid", "x".repeat(300)],
  ];
  return [
    ...claims.map(([name, value]): [string, Members, Members] => [`${name} is ${JSON.stringify(value)?.slice(0, 40)}`, { [name]: value }, {}]),
    ...headers.map(([name, value]): [string, Members, Members] => [`${name} is ${JSON.stringify(value)?.slice(0, 40)}`, {}, { [name]: value }]),
  ];
}

export function honest(means: Means): Row[] {
  const { issuer, rsa, ec, ed, secrets } = means;
  const forms = honestForms(means);
  const rows: Row[] = forms.map(([what, claims, header]) => [`HS256: ${what}`, "shared", bearer(hmacToken(secrets.JWT_SECRET, issuer.claims(claims), header))]);
  for (const key of [rsa, ec, ed]) {
    rows.push(...forms.map(([what, claims, header]): Row => [`${key.algorithm}: ${what}`, "public", bearer(issuer.token(claims, { key, header }))]));
  }
  const shared = hmacToken(secrets.JWT_SECRET, issuer.claims());
  return [
    ...rows,
    ["kid without a meaning", "shared", bearer(hmacToken(secrets.JWT_SECRET, issuer.claims(), { kid: "../../etc/passwd" }))],
    ["bearer in small letters", "shared", { authorization: `bearer ${shared}` }],
    ["several spaces", "shared", { authorization: `BEARER   ${shared}` }],
    ["a cookie among others", "cookie", { cookie: `a=b; id_token=${shared}; c=d` }],
    ["a key", "key", { "x-api-key": secrets.API_KEY }],
    ["a key beside what is not asked for", "key", { "X-Api-Key": secrets.API_KEY, authorization: "Bearer none", cookie: "a=b" }],
    ["a static token", "token", bearer(secrets.ROBOT_TOKEN)],
    ["a password with a colon", "people", basic("alice", secrets.PASSWORD)],
  ];
}

export function hostile(means: Means): Row[] {
  const { issuer, rsa, ec, ed, secrets } = means;
  const good = issuer.token({}, { key: ec });
  const [head = "", body = "", signed = ""] = good.split(".");
  const shared = hmacToken(secrets.JWT_SECRET, issuer.claims());
  const forms = wrongForms(means);
  const rows: Row[] = [];
  const add = (what: string, agent: string, text: string): void => void rows.push([what, agent, bearer(text)]);

  for (const [what, claims, header] of forms) {
    add(`HS256: ${what}`, "shared", hmacToken(secrets.JWT_SECRET, issuer.claims(claims), header));
    add(`ES256: ${what}`, "public", issuer.token(claims, { key: ec, header }));
  }
  for (const alg of ["none", "None", "NONE", "nOnE", "none ", " none", "n\u043ene", "", null, undefined, ["none"], 0]) {
    const input = signingInput({ alg, typ: "JWT", kid: ec.kid }, issuer.claims());
    for (const agent of ["public", "shared"]) {
      add(`alg ${JSON.stringify(alg)}, no signature, to ${agent}`, agent, `${input}.`);
      add(`alg ${JSON.stringify(alg)}, signed, to ${agent}`, agent, `${input}.${agent === "public" ? signature(ec, input).toString("base64url") : createHmac("sha256", secrets.JWT_SECRET).update(input).digest("base64url")}`);
    }
  }
  for (const key of [rsa, ec, ed]) {
    const pem = key.publicKey.export({ type: "spki", format: "pem" }).toString();
    const der = key.publicKey.export({ type: "spki", format: "der" });
    for (const [what, secret] of [["PEM", pem], ["PEM without its last line break", pem.trim()], ["DER", der], ["JWK", JSON.stringify(key.jwk)], ["nothing", ""], ["one zero", Buffer.alloc(1)]] as const) {
      add(`HMAC by the public ${key.algorithm} key as ${what}`, "public", hmacToken(secret, issuer.claims(), { kid: key.kid }));
    }
    for (const alg of ["HS256", "RS256", "ES256", "EdDSA", "PS256", "RS512", "ES384", "Ed25519", "es256"]) {
      if (alg !== key.algorithm) add(`${key.algorithm} that says ${alg}`, "public", issuer.token({}, { key, header: { alg } }));
    }
    const stranger = makeKey(key.algorithm, { kid: key.kid });
    add(`a stranger's ${key.algorithm} key under a known name`, "public", token(stranger, issuer.claims()));
    add(`a stranger's ${key.algorithm} key in the header`, "public", token(stranger, issuer.claims(), { jwk: stranger.jwk }));
    add(`a stranger's ${key.algorithm} key by jku`, "public", token(stranger, issuer.claims(), { jku: issuer.jwksUrl.replace("provider", "evil") }));
    add(`a stranger's ${key.algorithm} key and a certificate`, "public", token(stranger, issuer.claims(), { x5c: ["MIIC"], x5t: "abc" }));
  }
  add("only ES256 is taken, and this is RS256", "narrow", issuer.token({}, { key: rsa }));
  for (const kid of ["../../../../dev/null", "/dev/null", "' OR 1=1 --", "https://evil.example/jwks", "%00", "${JWT_SECRET}", rsa.kid, ed.kid, ec.kid.toUpperCase()]) {
    add(`a key named ${kid}`, "public", issuer.token({}, { key: ec, header: { kid } }));
    add(`HMAC by nothing, with a key named ${kid}`, "shared", hmacToken("", issuer.claims(), { kid }));
  }
  const raw = (header: string, claims: string): string => {
    const input = `${encode(header)}.${encode(claims)}`;
    return `${input}.${createHmac("sha256", secrets.JWT_SECRET).update(input).digest("base64url")}`;
  };
  const [plainHeader, plain] = [JSON.stringify({ alg: "HS256" }), JSON.stringify(issuer.claims())];
  for (const [what, text] of [
    ["alg twice", raw('{"alg":"HS256","alg":"none"}', plain)], ["alg twice, the other way", raw('{"alg":"none","alg":"HS256"}', plain)],
    ["sub twice", raw(plainHeader, plain.replace("{", '{"sub":"mallory",'))], ["exp twice, one escaped", raw(plainHeader, plain.replace("{", '{"\\u0065xp":9999999999,'))],
    ["a byte order mark", raw(`\ufeff${plainHeader}`, plain)], ["something behind the header", raw(`${plainHeader}x`, plain)], ["two claim sets", raw(plainHeader, plain + plain)],
    ["a list for a header", raw("[]", plain)], ["a text for claims", raw(plainHeader, '"alice"')], ["a token within a token", raw(plainHeader, shared)], ["no JSON", raw(plainHeader, "alice")],
    ["deep claims", raw(plainHeader, `${'{"a":'.repeat(500)}1${"}".repeat(500)}`)], ["a giant", hmacToken(secrets.JWT_SECRET, issuer.claims({ note: "x".repeat(9000) }))],
    ["two parts", shared.split(".").slice(0, 2).join(".")], ["four parts", `${shared}.`], ["five parts", "a.b.c.d.e"], ["a part before", `.${shared}`], ["padded", `${shared}=`],
    ["a letter more", `${shared}A`], ["a letter less", shared.slice(0, -1)], ["no signature", shared.replace(/[^.]*$/, "")], ["zeros", shared.replace(/[^.]*$/, "A".repeat(43))],
    ["the signature of another", `${shared.split(".").slice(0, 2).join(".")}.${hmacToken(secrets.JWT_SECRET, issuer.claims({ sub: "b" })).split(".")[2]}`],
    ["the secret itself", secrets.JWT_SECRET], ["another secret", hmacToken(secrets.API_KEY, issuer.claims())], ["letters of base64 that are not those of URLs", shared.replace(/\.[^.]/, ".+")],
  ] as const) add(what, "shared", text);
  add("a signature in DER", "public", `${head}.${body}.${Buffer.concat([Buffer.from([48, 68, 2, 32]), Buffer.from(signed, "base64url")]).toString("base64url")}`);
  add("an empty signature of ES256", "public", `${head}.${body}.${Buffer.alloc(64).toString("base64url")}`);
  add("claims of another token", "public", `${head}.${encode(issuer.claims({ sub: "mallory" }))}.${signed}`);
  const plainly: [string, string, Record<string, string | string[]>][] = [
    ["two headers", "shared", { authorization: [`Bearer ${shared}`, `Bearer ${shared}`] }], ["two tokens in one header", "shared", { authorization: `Bearer ${shared}, Bearer ${shared}` }],
    ["a comma behind", "shared", { authorization: `Bearer ${shared},` }], ["no word before it", "shared", { authorization: shared }], ["another word", "shared", { authorization: `Token ${shared}` }],
    ["a tab", "shared", { authorization: `Bearer\t${shared}` }], ["Basic before it", "shared", { authorization: `Basic ${shared}` }], ["nothing behind", "shared", { authorization: "Bearer" }],
    ["in the query", `shared?access_token=${shared}`, {}], ["in another header", "shared", { "x-access-token": shared }], ["in a cookie", "shared", { cookie: `id_token=${shared}` }],
    ["in the header of Cloudflare Access", "public", { "cf-access-jwt-assertion": good }], ["in the header where a cookie is asked for", "cookie", bearer(shared)],
    ["two cookies", "cookie", { cookie: `id_token=${shared}; id_token=${shared}` }], ["a cookie with white space that HTTP does not know", "cookie", { cookie: `id_token=${shared}\u00a0` }],
    ["two cookies, one empty", "cookie", { cookie: `id_token=; id_token=${shared}` }],
    ["a quoted cookie", "cookie", { cookie: `id_token="${shared}"` }], ["another cookie", "cookie", { cookie: `ID_TOKEN=${shared}` }], ["a cookie with a prefix", "cookie", { cookie: `__Host-id_token=${shared}` }],
    ["two keys", "key", { "x-api-key": [secrets.API_KEY, secrets.API_KEY] }], ["a key behind another", "key", { "x-api-key": `x,${secrets.API_KEY}` }], ["an empty key", "key", { "x-api-key": "" }],
    ["a key in capitals", "key", { "x-api-key": secrets.API_KEY.toUpperCase() }], ["half a key", "key", { "x-api-key": secrets.API_KEY.slice(0, 24) }], ["a key in the query", `key?x-api-key=${secrets.API_KEY}`, {}],
    ["a header with _", "key", { x_api_key: secrets.API_KEY }], ["a key of another name", "key", { "x-api-keys": secrets.API_KEY }],
    ["a password for a token", "token", basic("robot", secrets.ROBOT_TOKEN)], ["no name", "people", basic("", secrets.PASSWORD)], ["no password", "people", basic("alice", "")],
    ["a name in capitals", "people", basic("Alice", secrets.PASSWORD)], ["no colon", "people", { authorization: `Basic ${Buffer.from("alice").toString("base64")}` }],
    ["a password in the clear", "people", { authorization: `Basic alice:${secrets.PASSWORD}` }], ["a password that begins alike", "people", basic("alice", secrets.PASSWORD + "\0")],
  ];
  rows.push(...plainly);
  // Headers with which a proxy, the platform or the front Worker itself might identify a caller.
  const alice = JSON.stringify({ id: "jwt:alice", permissions: ["operator"] });
  for (const name of [
    "caller", "x-caller", "x-a2a-caller", "a2a-caller", "x-user", "x-forwarded-user", "remote-user", "x-authenticated-user", "cf-access-authenticated-user-email", "x-original-user", "certificate", "x-certificate",
    "x-client-cert", "cf-client-cert", "x-ssl-client-verify", "command", "x-command", "act-as", "x-operator", "x-internal", "x-verdict", "cf-worker", "x-agent", "x-original-url", "x-http-method-override",
  ]) {
    rows.push([`the header ${name}`, "shared", { [name]: alice }], [`the header ${name} beside a wrong token`, "public", { [name]: alice, ...bearer("a.b.c") } as Headers]);
  }
  return rows;
}
