// Verifies notifications of a2a-edge. Node 20 or newer, no dependencies.
import { createHmac, createPublicKey, timingSafeEqual, verify } from "node:crypto";

const TOLERANCE_S = 300;

/**
 * Whether a notification was signed with the secret, and is not an old one.
 * `headers` are those of the request, by names in lower case; `body` is its body as it came, a string or a Buffer.
 */
export function isSigned(secret, headers, body, nowS = Date.now() / 1000) {
  const id = headers["webhook-id"] ?? "";
  const timestamp = headers["webhook-timestamp"] ?? "";
  if (!/^\d+$/.test(timestamp) || Math.abs(nowS - Number(timestamp)) > TOLERANCE_S) return false;

  const key = Buffer.from(secret.replace(/^whsec_/, ""), "base64");
  if (key.length < 24) throw new Error("the secret must be whsec_ and base64");
  const expected = createHmac("sha256", key).update(`${id}.${timestamp}.`).update(body).digest();
  // There may be several, separated by spaces, while a secret is being replaced.
  return (headers["webhook-signature"] ?? "").split(" ").some((signature) => {
    const [version, value] = signature.split(",");
    const given = Buffer.from(value ?? "", "base64");
    return version === "v1" && given.length === expected.length && timingSafeEqual(given, expected);
  });
}

/**
 * The claims of a JWT, if it is genuine; throws otherwise. `jwks` is what the agents' server gives at
 * /.well-known/jwks.json, `issuer` that server's origin, `audience` the origin of your webhook.
 */
export function verifyToken(token, { jwks, issuer, audience }, nowS = Date.now() / 1000) {
  const [header, claims, signature] = token.split(".");
  if (signature === undefined) throw new Error("not a JWT");
  const read = (part) => JSON.parse(Buffer.from(part, "base64url").toString());

  const { kid, alg } = read(header);
  const jwk = jwks.keys.find((key) => key.kid === kid);
  // The key says which algorithm is right, never the token.
  if (jwk === undefined || jwk.alg !== alg) throw new Error("unknown key");
  const hashes = { ES256: "sha256", EdDSA: null };
  if (!(alg in hashes)) throw new Error("unknown algorithm");
  const key = { key: createPublicKey({ key: jwk, format: "jwk" }), dsaEncoding: "ieee-p1363" };
  const genuine = verify(hashes[alg], Buffer.from(`${header}.${claims}`), key, Buffer.from(signature, "base64url"));
  if (!genuine) throw new Error("wrong signature");

  const { iss, aud, exp, ...rest } = read(claims);
  if (iss !== issuer) throw new Error("another issuer");
  if (aud !== audience) throw new Error("another audience");
  if (!(nowS < exp)) throw new Error("expired");
  return { iss, aud, exp, ...rest };
}
