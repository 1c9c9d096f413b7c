// Lying cards of remote agents, and servers that redirect callers: the hosts that an agent of kind "remote" calls, and those that
// receive its credentials. The same with only the client, and many more cases: crates/a2a/tests/all/misbehaving.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { textOf } from "./client.ts";
import { Liars, TOKEN, type Lie } from "./liars.ts";

const interfaces = (url: string, more: object = {}) => ({
  supportedInterfaces: [{ url, protocolBinding: "JSONRPC", protocolVersion: "1.0", ...more }],
});

const older: Lie = {
  card: () => ({ url: "", capabilities: { streaming: false } }),
  answer: ({ method, params }, reply) => {
    if (method !== "message/send") return reply.error(-32601, `method not found: ${method}`);
    reply.result({ kind: "message", messageId: "m-1", role: "agent", parts: [{ kind: "text", text: `0.3: ${textOf(params.message)}` }] });
  },
};

const liars: Liars = new Liars({
  "internal-host": { card: (elsewhere) => interfaces(`${elsewhere}/internal-host/rpc`) },
  "other-host": { card: (elsewhere) => interfaces(`${elsewhere}/other`), settings: { allow_other_hosts: true } },
  "card-elsewhere": { cardAnswer: (response) => void response.writeHead(302, { location: `${liars.elsewhere}/card` }).end() },
  "send-elsewhere": { answer: (_, reply) => reply.raw(307, "text/plain", "", { location: `${liars.elsewhere}/rpc` }) },
  "no-card": { cardAnswer: (response) => void response.writeHead(404).end() },
  "card-page": { cardAnswer: (response) => void response.writeHead(200, { "content-type": "text/html" }).end("<h1>Welcome</h1>") },
  "card-empty": { cardAnswer: (response) => void response.writeHead(200, { "content-type": "application/json" }).end("{}") },
  "card-huge": { cardAnswer: (response) => void response.writeHead(200, { "content-type": "application/json" }).end(`{"name":"${"x".repeat(2 * 1024 * 1024)}"}`) },
  "no-streams": { answer: ({ method }, reply) => (method === "SendStreamingMessage" ? reply.error(-32004, "no streams here") : false) },
  "older": older,
});

before(() => liars.start());
after(() => liars.stop());

test("internal-host: the configured host is called, with the path of the card", async () => {
  const ended = await liars.ended("internal-host");
  assert.equal(ended.status.state, "TASK_STATE_COMPLETED");
  assert.ok(liars.asked("internal-host").every(({ headers }) => headers.authorization === `Bearer ${TOKEN}`));
  assert.deepEqual(liars.strays.filter(({ url }) => url.startsWith("/internal-host")), []);
});

test("other-host: another host is called where that is allowed, without credentials", async () => {
  const ended = await liars.ended("other-host");
  assert.equal(ended.status.state, "TASK_STATE_FAILED");
  const strays = liars.strays.filter(({ url }) => url.startsWith("/other"));
  assert.ok(strays.length > 0);
  assert.ok(strays.every(({ headers }) => headers.authorization === undefined));
});

for (const name of ["card-elsewhere", "send-elsewhere"]) {
  test(`${name}: nobody elsewhere sees the credentials`, async () => {
    const ended = await liars.ended(name);
    assert.equal(ended.status.state, "TASK_STATE_FAILED");
    assert.ok(liars.strays.every(({ headers }) => headers.authorization === undefined));
  });
}

for (const [name, reason] of [
  ["no-card", /404/],
  ["card-page", /JSON|card/],
  ["card-empty", /name/],
  ["card-huge", /large|bytes/],
] as const) {
  test(`${name}: the task fails with the reason, and nothing is sent`, async () => {
    const ended = await liars.ended(name);
    assert.equal(ended.status.state, "TASK_STATE_FAILED");
    assert.match(textOf(ended.status.message), reason);
    assert.deepEqual(liars.asked(name), []);
  });
}

test("older: a server that speaks 0.3 behind a card of 1.0 is asked once more, in 0.3", async () => {
  const { message, task } = await liars.agent("older").send("hello");
  assert.equal(textOf(message ?? task?.status.message), "0.3: hello", JSON.stringify(task));
  assert.deepEqual(liars.asked("older").map(({ method }) => method), ["SendMessage", "message/send"]);
});
