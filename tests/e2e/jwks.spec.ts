// The key set with which receivers of notifications verify JWTs (/.well-known/jwks.json).
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { createPublicKey } from "node:crypto";
import { Agent, logged, message } from "./client.ts";
import { startWorker, type Worker } from "./harness.ts";
import { Sink } from "./sink.ts";

const PATH = "/.well-known/jwks.json";

/** The key pairs of RFC 7517 (A.2) and RFC 8037 (A.1), which are public. */
const p256 = {
  kty: "EC", crv: "P-256", kid: "hooks-1", use: "enc",
  x: "MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4", y: "4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM",
  d: "870MB6gfuTJ4HtUnUvYMyJpr5eUZNP4Bk43bVdj3eAE",
};
const ed25519 = {
  kty: "OKP", crv: "Ed25519", x: "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo", d: "nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A",
};

/** The code that receivers copy from the docs. */
interface Receiver {
  isSigned(secret: string, headers: Record<string, unknown>, body: string): boolean;
  verifyToken(token: string, expected: { jwks: unknown; issuer: string; audience: string }): Record<string, unknown>;
}

const ISSUER = "https://agents.example";
let worker: Worker;

function withSecret(jwk: string | undefined): void {
  before(async () => {
    const vars = { PUBLIC_URL: ISSUER, ...(jwk === undefined ? {} : { WEBHOOK_JWK: jwk }) };
    worker = await startWorker({ vars });
  });
  after(() => worker.stop());
}

for (const { title, jwk, expected } of [
  { title: "an EC key", jwk: p256, expected: { kid: "hooks-1", alg: "ES256" } },
  { title: "an Ed25519 key without kid, named by its thumbprint", jwk: ed25519, expected: { kid: "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k", alg: "EdDSA" } },
]) {
  describe(`with ${title}`, () => {
    withSecret(JSON.stringify(jwk));

    test("its public half is shown, and nothing else", async () => {
      const response = await fetch(worker.url + PATH);
      assert.equal(response.status, 200);
      assert.match(response.headers.get("content-type") ?? "", /^application\/json\b/);
      assert.match(response.headers.get("cache-control") ?? "", /\bmax-age=\d+/);
      assert.equal(response.headers.get("access-control-allow-origin"), "*");
      const { d: _, kid: __, use: ___, ...members } = { kid: "", use: "", ...jwk };
      const keys = (await response.json()) as { keys: Record<string, string>[] };
      assert.deepEqual(keys, { keys: [{ ...members, ...expected, use: "sig" }] });
      createPublicKey({ key: keys.keys[0] ?? {}, format: "jwk" });
    });

    test("notifications are signed, and carry a JWT that it verifies, unless the webhook has credentials", async () => {
      const { isSigned, verifyToken } = (await import(new URL("../../docs/receivers/verify.mjs", import.meta.url).href)) as Receiver;
      const sink = await Sink.open();
      const agent = new Agent(`${worker.url}/demo`);
      const signingSecret = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;
      const send = (path: string, rest: object) => {
        const taskPushNotificationConfig = { url: sink.url + path, signingSecret, ...rest };
        return agent.call("SendMessage", { message: message("hello"), configuration: { taskPushNotificationConfig } });
      };
      try {
        await send("/open", {});
        const jwks = await (await fetch(worker.url + PATH)).json();
        for (const nth of [1, 2, 3, 4]) {
          const { headers, body } = await sink.arrival("/open", nth);
          assert.ok(isSigned(signingSecret, headers, body));
          assert.ok(!isSigned(signingSecret, headers, `${body} `));
          const token = /^Bearer (.+)$/.exec(headers.authorization ?? "")?.[1] ?? "";
          const claims = verifyToken(token, { jwks, issuer: ISSUER, audience: sink.url });
          assert.equal(claims["jti"], headers["webhook-id"]);
          assert.throws(() => verifyToken(`${token.slice(0, -6)}AAAAAA`, { jwks, issuer: ISSUER, audience: sink.url }));
        }
        await send("/closed", { authentication: { scheme: "Basic", credentials: "abc" } });
        assert.equal((await sink.arrival("/closed")).headers.authorization, "Basic abc");
      } finally {
        sink.close();
      }
    });

    test("HEAD and OPTIONS are answered, other verbs are refused", async () => {
      const head = await fetch(worker.url + PATH, { method: "HEAD" });
      assert.deepEqual([head.status, await head.text()], [200, ""]);
      assert.equal((await fetch(worker.url + PATH, { method: "OPTIONS" })).status, 204);
      assert.equal((await fetch(worker.url + PATH, { method: "POST" })).status, 405);
    });
  });
}

describe("without a key", () => {
  withSecret(undefined);

  test("there is nothing at the path, as at any other", async () => {
    const response = await fetch(worker.url + PATH);
    assert.equal(response.status, 404);
    assert.equal(response.headers.get("cache-control"), null);
  });
});

describe("with a key that cannot be used", () => {
  withSecret(JSON.stringify({ ...p256, y: undefined }));

  test("the log names the variable and not its content, and requests go on", async () => {
    assert.equal((await fetch(worker.url + PATH)).status, 404);
    await new Agent(worker.url).sendForTask("hello");
    assert.match(await logged(worker, "WEBHOOK_JWK"), /must have the member y/);
    assert.equal(worker.logs.filter(({ message }) => message.includes("WEBHOOK_JWK")).length, 1);
    assert.ok(!worker.logs.some(({ message }) => message.includes(p256.d) || message.includes(p256.x)));
  });
});
