// The examples for receivers of notifications (docs/receivers), with the test vectors in their folder.
// tests/all/receivers.rs tests the example in Rust.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

type Headers = Record<string, string>;

interface Receiver {
  isSigned(secret: string, headers: Headers, body: string | Buffer, nowS?: number): boolean;
  verifyToken(token: string, expected: object, nowS?: number): Record<string, unknown>;
}

interface Vectors {
  secret: string;
  id: string;
  timestamp: string;
  body: string;
  signature: string;
  issuer: string;
  audience: string;
  taskId: string;
  jwks: object;
  tokens: Record<string, string>;
  badTokens: Record<string, string>;
}

const docs = new URL("../../docs/", import.meta.url);
const read = (name: string) => readFileSync(new URL(name, docs), "utf8");
const vectors = JSON.parse(read("receivers/vectors.json")) as Vectors;
const { secret, id, timestamp, body, signature, issuer, audience, jwks } = vectors;
const nowS = Number(timestamp);
const headers = { "webhook-id": id, "webhook-timestamp": timestamp, "webhook-signature": signature };
const wrong = "v1,AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=";

/** Notifications; `genuine` is the expected verdict. */
const notifications: { why: string; genuine: boolean; headers?: Headers; body?: string; secret?: string; nowS?: number }[] = [
  { why: "as it came", genuine: true },
  { why: "soon after", genuine: true, nowS: nowS + 299 },
  { why: "several signatures", genuine: true, headers: { "webhook-signature": `${wrong} v2,other ${signature}` } },
  { why: "too late", genuine: false, nowS: nowS + 301 },
  { why: "too early", genuine: false, nowS: nowS - 301 },
  { why: "another body", genuine: false, body: body.replace("COMPLETED", "CANCELED") },
  { why: "another id", genuine: false, headers: { "webhook-id": "other" } },
  { why: "another time", genuine: false, headers: { "webhook-timestamp": String(nowS + 1) } },
  { why: "no time", genuine: false, headers: { "webhook-timestamp": "soon" } },
  { why: "another secret", genuine: false, secret: "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD" },
  { why: "another signature", genuine: false, headers: { "webhook-signature": wrong } },
  { why: "another version", genuine: false, headers: { "webhook-signature": signature.replace("v1", "v2") } },
  { why: "no signature", genuine: false, headers: { "webhook-signature": "" } },
];
const cases = notifications.map((given) => ({ secret, body, nowS, ...given, headers: { ...headers, ...given.headers } }));

test("the example in JavaScript tells genuine notifications from others", async () => {
  const { isSigned, verifyToken } = (await import(new URL("receivers/verify.mjs", docs).href)) as Receiver;
  for (const { why, genuine, ...given } of cases) {
    assert.equal(isSigned(given.secret, given.headers, given.body, given.nowS), genuine, why);
    assert.equal(isSigned(given.secret, given.headers, Buffer.from(given.body), given.nowS), genuine, why);
  }
  assert.equal(isSigned(secret, {}, body, nowS), false);
  assert.throws(() => isSigned("", headers, body, nowS), /secret/);
  for (const [algorithm, token] of Object.entries(vectors.tokens)) {
    const { jti, taskId } = verifyToken(token, { jwks, issuer, audience });
    assert.deepEqual({ jti, taskId }, { jti: id, taskId: vectors.taskId }, algorithm);
  }
  for (const [why, token] of Object.entries(vectors.badTokens)) {
    assert.throws(() => verifyToken(token, { jwks, issuer, audience }), Error, why);
  }
});

const python = process.env["A2A_PYTHON"];
const skip = python === undefined && "no Python 3.10 or newer with venv";

test("the example in Python tells genuine notifications from others", { skip }, async () => {
  const check = fileURLToPath(new URL("python/receivers.py", import.meta.url));
  const running = promisify(execFile)(python ?? "", [check, fileURLToPath(new URL("receivers", docs))]);
  running.child.stdin?.end(JSON.stringify({ cases, vectors }));
  const { stdout } = await running;
  assert.equal(stdout, `${cases.length} notifications and ${Object.keys(vectors.badTokens).length} bad tokens: ok\n`);
});

test("the documentation shows the examples as they are", () => {
  const shown = read("webhooks.md");
  for (const name of ["verify.mjs", "verify.py", "verify.rs"]) {
    const code = read(`receivers/${name}`);
    assert.ok(shown.includes(`\n${code}\`\`\`\n`), `docs/webhooks.md shows another ${name}`);
  }
});
