// Tokens that an attacker forges with only the public keys (RFC 8725): each is refused, and the honest token from which it was made is
// accepted.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { startWorker, type Worker } from "./harness.ts";
import {
  agentsWith, ask, encode, hmacToken, IdentityProvider, jwt, makeKey, signature, signingInput, token, type Algorithm, type Issuer, type Members, type SigningKey,
} from "./identity-provider.ts";

const SHARED = "a secret of at least thirty-two bytes, for HS256";
const keys = { RS256: makeKey("RS256"), ES256: makeKey("ES256"), EdDSA: makeKey("EdDSA") };
let provider: IdentityProvider;
let issuer: Issuer;
let neighbour: Issuer;
let worker: Worker;
before(async () => {
  provider = await IdentityProvider.open();
  issuer = provider.issuer("attacked", ...Object.values(keys));
  neighbour = provider.issuer("neighbour");
  // A key set with an HMAC key, with which everybody could sign.
  issuer.published = { keys: [...issuer.keySet().keys, { kty: "oct", kid: "hmac", alg: "HS256", k: encode(SHARED) }] };
  const schemes = { attacked: { sso: jwt(issuer) }, neighbour: { sso: jwt(neighbour) } };
  worker = await startWorker({ vars: { AGENTS: agentsWith(schemes) } });
});
after(async () => {
  await worker.stop();
  provider.close();
});

const parts = (jwt: string): [string, string, string] => jwt.split(".") as [string, string, string];
const withSignature = (jwt: string, bytes: Uint8Array): string => `${parts(jwt).slice(0, 2).join(".")}.${Buffer.from(bytes).toString("base64url")}`;
const signatureOf = (jwt: string): Buffer => Buffer.from(parts(jwt)[2], "base64url");
const honest = (algorithm: Algorithm, claims: Members = {}, header: Members = {}): string => token(keys[algorithm], issuer.claims(claims), header);
const pem = ({ publicKey }: SigningKey): string => publicKey.export({ format: "pem", type: "spki" }) as string;
const changed = (bytes: Buffer, at: number): Buffer => Buffer.from(bytes.map((byte, index) => (index === at ? byte ^ 1 : byte)));
/** The DER form of a signature of ECDSA: a sequence of two integers. */
function der(raw: Buffer): Buffer {
  const integer = (bytes: Buffer): Buffer => Buffer.concat([Buffer.from([2, bytes.length + 1, 0]), bytes]);
  const both = Buffer.concat([integer(raw.subarray(0, 32)), integer(raw.subarray(32))]);
  return Buffer.concat([Buffer.from([0x30, both.length]), both]);
}
/** The order of P-256. */
const ORDER = Buffer.from("ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551", "hex");
const number = (value: number): Buffer => Buffer.concat([Buffer.alloc(31), Buffer.from([value])]);

/** The attacks: the description, and the token, usually made from an honest one. */
const ATTACKS: Record<string, () => string> = {
  "no algorithm, no signature": () => `${signingInput({ alg: "none", typ: "JWT" }, issuer.claims())}.`,
  "no algorithm, an honest signature": () => withSignature(`${signingInput({ alg: "none", kid: keys.ES256.kid }, issuer.claims())}.`, signatureOf(honest("ES256"))),
  "an honest token without its signature": () => `${parts(honest("ES256")).slice(0, 2).join(".")}.`,
  "HMAC with the RSA key as PEM": () => hmacToken(pem(keys.RS256), issuer.claims(), { kid: keys.RS256.kid }),
  "HMAC with the RSA key as PEM, called RS256": () => hmacToken(pem(keys.RS256), issuer.claims(), { alg: "RS256", kid: keys.RS256.kid }),
  "HMAC with the EC key as PEM": () => hmacToken(pem(keys.ES256), issuer.claims(), { kid: keys.ES256.kid }),
  "HMAC with the RSA key as JWK": () => hmacToken(JSON.stringify(keys.RS256.jwk), issuer.claims(), { kid: keys.RS256.kid }),
  "HMAC with the modulus": () => hmacToken(Buffer.from(String(keys.RS256.jwk.n), "base64url"), issuer.claims(), { kid: keys.RS256.kid }),
  "HMAC with the HMAC key of the set": () => hmacToken(SHARED, issuer.claims(), { kid: "hmac" }),
  "HMAC with the HMAC key of the set, called ES256": () => hmacToken(SHARED, issuer.claims(), { alg: "ES256", kid: "hmac" }),
  "r and s are 0": () => withSignature(honest("ES256"), Buffer.alloc(64)),
  "r is 0": () => withSignature(honest("ES256"), Buffer.concat([number(0), signatureOf(honest("ES256")).subarray(32)])),
  "s is 0": () => withSignature(honest("ES256"), Buffer.concat([signatureOf(honest("ES256")).subarray(0, 32), number(0)])),
  "r and s are the order of the curve": () => withSignature(honest("ES256"), Buffer.concat([ORDER, ORDER])),
  "r and s are 1": () => withSignature(honest("ES256"), Buffer.concat([number(1), number(1)])),
  "all bits are set": () => withSignature(honest("ES256"), Buffer.alloc(64, 0xff)),
  "a DER signature": () => {
    const honestToken = honest("ES256");
    return withSignature(honestToken, der(signatureOf(honestToken)));
  },
  "a signature of P-256 that is one byte short": () => withSignature(honest("ES256"), signatureOf(honest("ES256")).subarray(0, 63)),
  "a signature of P-256 and one byte more": () => {
    const honestToken = honest("ES256");
    return withSignature(honestToken, Buffer.concat([signatureOf(honestToken), Buffer.alloc(1)]));
  },
  "an empty signature of Ed25519": () => withSignature(honest("EdDSA"), Buffer.alloc(0)),
  "a signature of Ed25519 that is all zero": () => withSignature(honest("EdDSA"), Buffer.alloc(64)),
  "a signature of Ed25519 whose s is not reduced": () => {
    const honestToken = honest("EdDSA");
    const order = (1n << 252n) + 27742317777372353535851937790883648493n;
    const raw = signatureOf(honestToken);
    const s = BigInt(`0x${Buffer.from(raw.subarray(32)).reverse().toString("hex")}`) + order;
    const bytes = Buffer.from(s.toString(16).padStart(64, "0"), "hex").reverse();
    return withSignature(honestToken, Buffer.concat([raw.subarray(0, 32), bytes]));
  },
  "a signature of RSA that is all zero": () => withSignature(honest("RS256"), Buffer.alloc(256)),
  "a signature of RSA that is 1": () => withSignature(honest("RS256"), Buffer.concat([Buffer.alloc(255), Buffer.from([1])])),
  "a signature of RSA that is longer than the key": () => {
    const honestToken = honest("RS256");
    return withSignature(honestToken, Buffer.concat([Buffer.alloc(1), signatureOf(honestToken)]));
  },
  "a key of the token's own, as jwk": () => {
    const own = makeKey("ES256");
    return token(own, issuer.claims(), { jwk: own.jwk, kid: keys.ES256.kid });
  },
  "a key set of the attacker's, as jku": () => token(makeKey("ES256"), issuer.claims(), { jku: neighbour.jwksUrl, kid: keys.ES256.kid }),
  "the key of another issuer": () => token(neighbour.keys[0] ?? keys.ES256, issuer.claims()),
  "the key of another issuer under a known kid": () => token(neighbour.keys[0] ?? keys.ES256, issuer.claims(), { kid: keys.ES256.kid }),
  "the token of another issuer": () => neighbour.token(),
  "the kid of a key for another algorithm": () => honest("ES256", {}, { kid: keys.RS256.kid }),
  "the name of another algorithm": () => honest("ES256", {}, { alg: "RS256" }),
  "the name of another algorithm and its kid": () => honest("ES256", {}, { alg: "EdDSA", kid: keys.EdDSA.kid }),
  "an algorithm in other letters": () => honest("ES256", {}, { alg: "es256" }),
  "an algorithm that is not taken": () => honest("RS256", {}, { alg: "PS256" }),
  "a kid that leads to another place": () => honest("ES256", {}, { kid: `../neighbour/jwks#${keys.ES256.kid}` }),
  "a kid that is SQL": () => honest("ES256", {}, { kid: `' OR 1=1 --` }),
  "a kid of 100 KB": () => honest("ES256", {}, { kid: "k".repeat(6_000) }),
  "a kid that is a list": () => honest("ES256", {}, { kid: [keys.ES256.kid] }),
};
for (const algorithm of ["RS256", "ES256", "EdDSA"] as const) {
  ATTACKS[`the signature of another token, ${algorithm}`] = () => withSignature(honest(algorithm), signatureOf(honest(algorithm, { sub: "mallory" })));
  ATTACKS[`the claims of another token, ${algorithm}`] = () => {
    const [head, , tail] = parts(honest(algorithm));
    return `${head}.${parts(honest(algorithm, { sub: "root" }))[1]}.${tail}`;
  };
  ATTACKS[`the first bit of the signature, ${algorithm}`] = () => {
    const honestToken = honest(algorithm);
    return withSignature(honestToken, changed(signatureOf(honestToken), 0));
  };
  ATTACKS[`the last bit of the signature, ${algorithm}`] = () => {
    const honestToken = honest(algorithm);
    return withSignature(honestToken, changed(signatureOf(honestToken), signatureOf(honestToken).length - 1));
  };
  ATTACKS[`half of the signature, ${algorithm}`] = () => {
    const honestToken = honest(algorithm);
    return withSignature(honestToken, signatureOf(honestToken).subarray(0, signatureOf(honestToken).length / 2));
  };
  ATTACKS[`a signature over the claims alone, ${algorithm}`] = () => withSignature(honest(algorithm), signature(keys[algorithm], encode(issuer.claims())));
}

describe("refused is", () => {
  for (const [what, make] of Object.entries(ATTACKS)) {
    test(`${what} (§7.3, RFC 8725)`, async () => {
      const refused = await ask(`${worker.url}/attacked`, make());
      assert.equal(refused.status, 401, refused.message);
      assert.match(refused.challenge ?? "", /^Bearer\b/);
      assert.match(refused.message, /UNAUTHENTICATED|-32000|token/);
    });
  }
});

test("what the attacks are made of is taken", async () => {
  for (const algorithm of ["RS256", "ES256", "EdDSA"] as const) assert.equal((await ask(`${worker.url}/attacked`, honest(algorithm))).status, 200);
  assert.equal((await ask(`${worker.url}/neighbour`, neighbour.token())).status, 200);
});

test("all that was one fetch of the keys, and one look-up for unknown ones at most", () => {
  assert.ok(issuer.fetches <= 2, String(issuer.fetches));
});
