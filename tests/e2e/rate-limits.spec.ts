// Protection against too many requests: `rate_limits` of the table [access], with the rate limits of the platform.
import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import { KEYS, KEY_SCHEME, withAccess } from "./tables.ts";
import { logged, message } from "./client.ts";
import { startWorker, type Worker } from "./harness.ts";

const LIMIT = 3;
const PERIOD = 60;

let worker: Worker;
before(async () => {
  const limit = (binding: string, by: string): object => ({ rate_limits: [{ binding, by, period_s: PERIOD }] });
  const key = { schemes: { key: KEY_SCHEME } };
  const agents = {
    "by-address": { open: true, open_listing: true, ...limit("ADDRESSES", "address") },
    "by-other-address": { open: true, ...limit("ADDRESSES", "address") },
    "by-caller": { ...key, ...limit("CALLERS", "caller") },
    "by-its-caller": { ...key, ...limit("CALLERS", "caller") },
    "by-anonymous": { open: true, ...limit("CALLERS", "caller") },
    "by-failures": { ...key, ...limit("FAILURES", "failures") },
    "by-failures-of-two": { schemes: { key: KEY_SCHEME, token: { kind: "bearer", callers: [{ id: "bob", secrets: ["BOB_KEY"] }] } }, ...limit("FAILURES", "failures") },
    missing: { open: true, ...limit("NO_SUCH_BINDING", "address") },
  };
  const rateLimits = Object.fromEntries(["ADDRESSES", "CALLERS", "FAILURES"].map((name) => [name, { limit: LIMIT, period: PERIOD } as const]));
  worker = await startWorker({ vars: { ...KEYS, AGENTS: withAccess(agents) }, rateLimits });
});
after(() => worker.stop());
// The emulation counts in full minutes; a test must not run in two of them.
beforeEach(async () => {
  const left = PERIOD * 1_000 - (Date.now() % (PERIOD * 1_000));
  if (left < 15_000) await new Promise((resolve) => setTimeout(resolve, left));
});

/** An address that no other test uses. */
let addresses = 0;
const newAddress = (): string => `192.0.2.${++addresses}`;

const rpc = (method: string, params: unknown): string => JSON.stringify({ jsonrpc: "2.0", id: 7, method, params });
const sent = (text = "hello", method = "SendMessage"): string => rpc(method, { message: message(text) });

function post(agent: string, address: string, body = sent(), headers: Record<string, string> = {}): Promise<Response> {
  const all = { "content-type": "application/json", "a2a-version": "1.0", "cf-connecting-ip": address, ...headers };
  return fetch(`${worker.url}/${agent}`, { method: "POST", headers: all, body });
}

/** Sends as many requests as a limit admits. */
async function exhaust(ask: () => Promise<Response>, status = 200): Promise<void> {
  for (let count = 0; count < LIMIT; count++) {
    const response = await ask();
    assert.equal(response.status, status, await response.text());
  }
}

async function assertHeld(response: Response, id: unknown = 7): Promise<void> {
  assert.equal(response.status, 429);
  assert.equal(response.headers.get("retry-after"), String(PERIOD));
  assert.match(response.headers.get("content-type") ?? "", /^application\/json/);
  assert.ok(response.headers.get("x-request-id"));
  const body = (await response.json()) as { id?: unknown; error: { code: number; message: string; data?: { reason?: string }[] } };
  assert.deepEqual([body.id, body.error.code], [id, -32603]);
  assert.match(body.error.message, /too many requests; send this one again in 60 seconds/);
}

test("an address over its limit is refused in the form of the binding, also as the first answer to a stream", async () => {
  const address = newAddress();
  await exhaust(() => post("by-address", address));
  await assertHeld(await post("by-address", address));
  await assertHeld(await post("by-address", address, sent("hello", "SendStreamingMessage"), { accept: "text/event-stream" }));
  await assertHeld(await post("by-address", address, rpc("ListTasks", {})));
  await assertHeld(await post("by-address", address, "{"), null);
  await assertHeld(await post("by-address", address, sent("hello"), { "content-type": "text/plain" }), null);

  const rest = await fetch(`${worker.url}/by-address/tasks`, { headers: { "a2a-version": "1.0", "cf-connecting-ip": address } });
  assert.deepEqual([rest.status, rest.headers.get("retry-after")], [429, String(PERIOD)]);
  assert.equal(((await rest.json()) as { error: { status: string } }).error.status, "RESOURCE_EXHAUSTED");
});

test("a large body of an address over its limit is not received", async () => {
  const address = newAddress();
  await exhaust(() => post("by-address", address, sent("x".repeat(70_000))));
  await assertHeld(await post("by-address", address, sent("x".repeat(70_000))), null);
});

test("other addresses, other agents, documents and preflights are not refused", async () => {
  const address = newAddress();
  await exhaust(() => post("by-address", address));
  await assertHeld(await post("by-address", address));
  assert.equal((await post("by-address", newAddress())).status, 200);
  assert.equal((await post("by-other-address", address)).status, 200, "the same binding counts agents apart");
  const headers = { "cf-connecting-ip": address };
  assert.equal((await fetch(`${worker.url}/by-address`, { method: "OPTIONS", headers })).status, 204);
  assert.equal((await fetch(`${worker.url}/by-address/.well-known/agent-card.json`, { headers })).status, 200);
});

test("addresses of one IPv6 network count together", async () => {
  let host = 0;
  await exhaust(() => post("by-address", `2001:db8:1:2::${++host}`));
  await assertHeld(await post("by-address", "2001:DB8:1:2:ffff::9"));
  assert.equal((await post("by-address", "2001:db8:1:3::1")).status, 200);
});

test("a caller over its limit is refused from every address, and others are not", async () => {
  const as = (key: string, body?: string): Promise<Response> => post("by-caller", newAddress(), body, { "x-api-key": key });
  await exhaust(() => as(KEYS.ALICE_KEY));
  await assertHeld(await as(KEYS.ALICE_KEY));
  await assertHeld(await as(KEYS.ALICE_KEY, sent("x".repeat(70_000))), null);
  assert.equal((await as(KEYS.BOB_KEY)).status, 200);
  assert.equal((await as("wrong")).status, 401, "who is nobody uses nobody's limit");
});

test("a large body counts once for its caller", async () => {
  const as = (body?: string): Promise<Response> => post("by-its-caller", newAddress(), body, { "x-api-key": KEYS.BOB_KEY });
  for (const body of [sent("x".repeat(70_000)), sent(), sent()]) assert.equal((await as(body)).status, 200);
  await assertHeld(await as());
});

test("a limit that only the body leads to, since that names the agent, is asked when it was received and refuses what it asks", async () => {
  const body = (): string => rpc("SendMessage", { tenant: "by-its-caller", message: message("x".repeat(70_000)) });
  const headers = { "content-type": "application/json", "a2a-version": "1.0", "x-api-key": KEYS.ALICE_KEY };
  const ask = (): Promise<Response> => fetch(worker.url, { method: "POST", headers, body: body() });
  await exhaust(ask);
  await assertHeld(await ask());
});

test("anonymous callers are told apart by their addresses", async () => {
  const address = newAddress();
  await exhaust(() => post("by-anonymous", address));
  await assertHeld(await post("by-anonymous", address));
  assert.equal((await post("by-anonymous", newAddress())).status, 200);
});

test("only refused credentials count as failures, and over the limit they are told to wait", async () => {
  const address = newAddress();
  const as = (key: string): Promise<Response> => post("by-failures", address, sent(), { "x-api-key": key });
  for (let count = 0; count <= LIMIT; count++) assert.equal((await as(KEYS.ALICE_KEY)).status, 200);
  await exhaust(() => as("wrong"), 401);
  await assertHeld(await as("wrong"));
  const right = await as(KEYS.ALICE_KEY);
  assert.equal(right.status, 429, "no answer tells that a guess is right");
  assert.ok(Number(right.headers.get("retry-after")) <= PERIOD);
  assert.equal((await post("by-failures", newAddress(), sent(), { "x-api-key": "wrong" })).status, 401);
});

test("a wrong key beside a right one counts, and none is no guess", async () => {
  const address = newAddress();
  const as = (headers: Record<string, string>): Promise<Response> => post("by-failures-of-two", address, sent(), headers);
  for (let count = 0; count <= LIMIT; count++) assert.equal((await as({})).status, 401);
  await exhaust(() => as({ "x-api-key": KEYS.ALICE_KEY, authorization: "Bearer guessed" }));
  await assertHeld(await as({ "x-api-key": KEYS.ALICE_KEY, authorization: "Bearer guessed" }));
  assert.equal((await as({ authorization: `Bearer ${KEYS.BOB_KEY}` })).status, 429);
});

test("an agent whose binding does not exist refuses every call, and the log says why", async () => {
  const response = await post("missing", newAddress());
  const { error } = (await response.json()) as { error: { code: number } };
  assert.equal(error.code, -32603);
  await logged(worker, "names NO_SUCH_BINDING, but this deployment has no such binding");
  assert.equal((await fetch(`${worker.url}/missing/.well-known/agent-card.json`)).status, 200, "its card is served");
});
