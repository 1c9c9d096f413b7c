// Servers of public keys that are down, slow or lying: no token is accepted, no caller waits for long, and other issuers are not
// affected.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { startWorker, type Worker } from "./harness.ts";
import { agentsWith, ask, discovered, IdentityProvider, jwt, makeKey, type Issuer, type Members } from "./identity-provider.ts";
import { logged, until } from "./client.ts";

const [key, other] = [makeKey("ES256"), makeKey("ES256")];
const weak = [makeKey("RS256", { bits: 1024 }), makeKey("RS256", { bits: 512 })];
const jwks = (...keys: unknown[]): Partial<Issuer> => ({ published: { keys } });
const { kid } = key;
const html = { headers: { "content-type": "text/html" }, body: "<!doctype html><title>Sign in</title>" };
const privateJwk = key.privateKey.export({ format: "jwk" });

/** The behaviour of an issuer, the resulting status of a token of its key, and the message for the operator. */
const BY_KEY_SET: [name: string, does: Partial<Issuer>, status: number, told?: RegExp][] = [
  ["down", { isDown: true }, 503, /it answered 503$/],
  ["html", { answer: html }, 503, /is not JSON, by its content type/],
  ["html-as-json", { answer: { ...html, headers: {} } }, 503, /must be a JWK Set/],
  ["no-type", { answer: { headers: { "content-type": "" } } }, 503, /is not JSON, by its content type/],
  ["redirect", { answer: { status: 302, headers: { location: "/honest/jwks" } } }, 503, /it answered 302; redirects are not followed/],
  ["ten-megabytes", { answer: { body: `{"keys":[],"x":"${"x".repeat(10_000_000)}"}` } }, 503, /more than 262144 bytes/],
  ["no-content", { answer: { status: 204, body: "" } }, 503, /it answered 204$/],
  ["list", { published: [key.jwk] }, 503, /must be a JWK Set/],
  ["no-keys", { published: {} }, 503, /must be a JWK Set/],
  ["no-objects", { published: { keys: [kid] } }, 503, /must be a JWK Set/],
  ["many-keys", jwks(...Array.from({ length: 101 }, () => key.jwk)), 503, /at most 100 keys/],
  ["empty", jwks(), 401],
  ["other-keys", jwks(other.jwk), 401],
  ["other-kid", jwks({ ...key.jwk, kid: "other" }), 401],
  ["no-kid", jwks({ ...key.jwk, kid: undefined }), 401],
  ["number-as-kid", jwks({ ...key.jwk, kid: 7 }), 401],
  ["for-encryption", jwks({ ...key.jwk, use: "enc" }), 401],
  ["for-signing", jwks({ ...key.jwk, key_ops: ["sign"] }), 401],
  ["other-algorithm", jwks({ ...key.jwk, alg: "ES384" }), 401],
  ["hmac-algorithm", jwks({ ...key.jwk, alg: "HS256" }), 401],
  ["other-curve", jwks({ ...key.jwk, crv: "P-384" }), 401],
  ["not-on-its-curve", jwks({ ...key.jwk, x: other.jwk.x }), 401, /the platform refuses the public key/],
  ["symmetric", jwks({ kty: "oct", kid, alg: "HS256", k: "c2VjcmV0" }), 401, /1 keys that are private, symmetric or too weak/],
  ["private", jwks({ ...privateJwk, kid }), 401, /1 keys that are private, symmetric or too weak/],
  ["two-of-a-name", jwks(key.jwk, { ...other.jwk, kid }), 401],
  ["twice-the-same", jwks(key.jwk, key.jwk), 200],
  ["among-strange-ones", jwks({}, { kty: "AKP", kid: "pq" }, { ...other.jwk, use: "enc" }, key.jwk), 200],
  ["json-of-another-name", { answer: { headers: { "content-type": "application/jwk-set+json" } } }, 200],
];

/** Members of a discovery document. */
const BY_DISCOVERY: [name: string, document: Members, status: number, told?: RegExp][] = [
  ["other-issuer", { issuer: "https://evil.example" }, 503, /its discovery document must have the member issuer/],
  ["issuer-with-slash", { issuer: "SELF/" }, 503, /character by character/],
  ["no-issuer", { issuer: undefined }, 503, /its discovery document must be a JSON object/],
  ["no-uri", { jwks_uri: undefined }, 503, /its discovery document must be a JSON object/],
  ["uri-by-http", { jwks_uri: "http://keys.example.com/jwks" }, 503, /the public keys of keys\.example\.com cannot be fetched: it was not called: its URL must begin with https/],
  ["uri-of-a-file", { jwks_uri: "file:///etc/passwd" }, 503, /its URL must begin with https/],
  ["uri-with-data", { jwks_uri: 'data:application/json,{"keys":[]}' }, 503, /its URL must begin with https/],
  ["uri-of-metadata", { jwks_uri: "https://169.254.169.254/latest" }, 503, /169\.254\.169\.254 is a link-local address/],
  ["uri-of-a-network", { jwks_uri: "https://10.0.0.1/jwks" }, 503, /10\.0\.0\.1 is a private address/],
  ["uri-with-password", { jwks_uri: "https://me:hush@keys.example.com/" }, 503, /must hold no user name or password/],
  ["honest-document", {}, 200],
];

let provider: IdentityProvider;
let worker: Worker;
const issuers = new Map<string, Issuer>();
const issuer = (name: string): Issuer => issuers.get(name) ?? assert.fail(name);
before(async () => {
  provider = await IdentityProvider.open();
  const schemes: Parameters<typeof agentsWith>[0] = {};
  const add = (name: string, scheme: typeof jwt, does: Partial<Issuer>, ...keys: (typeof key)[]): void => {
    const made = provider.issuer(name, ...keys);
    issuers.set(name, Object.assign(made, does));
    schemes[name] = { sso: scheme(made) };
  };
  for (const [name, does] of BY_KEY_SET) add(name, jwt, does, key);
  for (const [name, document] of BY_DISCOVERY) {
    add(name, discovered, {}, key);
    const own = Object.entries(document).map(([member, value]) => [member, value === "SELF/" ? `${issuer(name).url}/` : value]);
    issuer(name).document = Object.fromEntries(own) as Members;
  }
  for (const name of ["honest", "silent", "dripping", "breaking"]) add(name, jwt, {}, key);
  weak.forEach((key, nth) => add(`weak-${nth}`, jwt, {}, key));
  worker = await startWorker({ vars: { AGENTS: agentsWith(schemes) } });
});
after(async () => {
  await worker.stop();
  provider.close();
});

const askFor = (name: string) => ask(`${worker.url}/${name}`, issuer(name).token());
const lines = (): string[] => worker.logs.map(({ message }) => message);

describe("a token of an issuer whose key set is", () => {
  for (const [name, , status, told] of BY_KEY_SET) {
    test(`${name} gets ${status}`, async () => {
      const before = lines().length;
      const admission = await askFor(name);
      assert.equal(admission.status, status, admission.message);
      assert.equal(admission.retryAfter !== null, status === 503);
      assert.equal(admission.challenge !== null, status === 401);
      if (told !== undefined) await until(async () => lines().slice(before), (later) => told.test(later.join("\n")));
      assert.equal(issuer(name).fetches, 1);
    });
  }

  test("of RSA keys that are too short gets 401", async () => {
    for (const name of ["weak-0", "weak-1"]) assert.equal((await askFor(name)).status, 401);
  });
});

describe("a token of an issuer whose discovery document is", () => {
  for (const [name, , status, told] of BY_DISCOVERY) {
    test(`${name} gets ${status}`, async () => {
      const before = lines().length;
      const admission = await askFor(name);
      assert.equal(admission.status, status, admission.message);
      if (told !== undefined) await until(async () => lines().slice(before), (later) => told.test(later.join("\n")));
      assert.equal(issuer(name).fetches, status === 200 ? 1 : 0);
    });
  }
});

describe("a server of keys that", { concurrency: true }, () => {
  test("says nothing is left after five seconds, and others are not held up", async () => {
    issuer("silent").holdKeys();
    const waiting = Promise.all([askFor("silent"), askFor("silent")]);
    await issuer("silent").asked(1);
    assert.equal((await askFor("honest")).status, 200);
    for (const { status } of await waiting) assert.equal(status, 503);
    await logged(worker, /it did not answer within 5000 ms|its answer did not come within 5000 ms/);
    assert.equal(issuer("silent").fetches, 1, "and asked once for both");
  });

  test("sends its keys too slowly is left, too, however often a piece comes", async () => {
    const dripping = issuer("dripping");
    dripping.holdKeys();
    const asked = askFor("dripping");
    const arrival = await dripping.asked(1);
    const drip = setInterval(() => void arrival.piece(" ", { "content-type": "application/json" }), 500);
    try {
      assert.equal((await asked).status, 503);
    } finally {
      clearInterval(drip);
      arrival.drop();
    }
    await logged(worker, /its answer did not come within 5000 ms/);
  });

  test("breaks off is left alone for some seconds, so a flood of tokens does not become one of requests", async () => {
    issuer("breaking").dropKeys(100);
    const asked = await Promise.all(Array.from({ length: 30 }, () => askFor("breaking")));
    assert.deepEqual(new Set(asked.map(({ status }) => status)), new Set([503]));
    // The platform may retry a broken connection once.
    assert.ok(issuer("breaking").fetches <= 2, String(issuer("breaking").fetches));
  });
});

test("outside of development, keys come by https alone, and from the public internet", async (t) => {
  const honest = issuer("honest");
  const deployed = await startWorker({ vars: { AGENTS: agentsWith({ honest: { sso: jwt(honest) } }), DEVELOPMENT: "false" } });
  const open = await startWorker({
    vars: { AGENTS: agentsWith({ honest: { sso: jwt(honest) } }), DEVELOPMENT: "false", WEBHOOK_ALLOW_PRIVATE: "true" },
  });
  t.after(() => Promise.all([deployed.stop(), open.stop()]));
  const before = honest.fetches;
  for (const worker of [deployed, open]) assert.notEqual((await ask(`${worker.url}/honest`, honest.token())).status, 200);
  assert.equal(honest.fetches, before);
});

test("the list of hosts that webhooks may go to is none for keys", async (t) => {
  const honest = issuer("honest");
  const own = await startWorker({ vars: { AGENTS: agentsWith({ honest: { sso: jwt(honest) } }), WEBHOOK_HOSTS: "hooks.example.com" } });
  t.after(() => own.stop());
  assert.equal((await ask(`${own.url}/honest`, honest.token())).status, 200);
});

test("no line of the log holds a token, a key or a URL of an issuer", () => {
  const found = lines().join("\n");
  for (const secret of [privateJwk.d ?? "", "hush", String(key.jwk.x), provider.sink.url]) assert.ok(!found.includes(secret), secret);
  assert.doesNotMatch(found, /eyJ/);
});
