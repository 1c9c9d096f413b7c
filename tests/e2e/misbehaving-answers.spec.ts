// Wrong answers of remote agents: the final state of the task of an agent of kind "remote", and the number of calls. The same with
// only the client, and many more cases: crates/a2a/tests/all/misbehaving.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { followUp, textOf, until, untilEnded } from "./client.ts";
import { Liars, task, type Asked, type Lie, type Reply } from "./liars.ts";

/** A server without streams, which is polled; it answers the first sends with this function. */
const polled = (times: number, answer: (reply: Reply, asked: Asked) => void): Lie => ({
  card: () => ({ capabilities: { streaming: false } }),
  answer: (asked, reply) => (asked.method === "SendMessage" && asked.before < times ? answer(reply, asked) : false),
});
const ALWAYS = 100;

const liars = new Liars({
  "bad-gateway": polled(2, (reply) => reply.raw(502, "text/html", "<h1>Bad gateway</h1>")),
  "busy": polled(1, (reply) => reply.raw(429, "text/plain", "too many", { "retry-after": "1" })),
  "down": polled(ALWAYS, (reply) => reply.raw(503, "text/plain", "down", { "retry-after": "0" })),
  "broken": polled(ALWAYS, (reply) => reply.raw(500, "text/plain", "a bug, at line 5")),
  "page": polled(ALWAYS, (reply) => reply.raw(200, "text/html", "<h1>Welcome</h1>")),
  "wrong-shape": polled(ALWAYS, (reply) => reply.result({ hello: 1 })),
  "error-400": polled(ALWAYS, (reply) => reply.error(-32602, "the prompt is too long", 400)),
  "error-500": polled(ALWAYS, (reply) => reply.error(-32603, "the model is out of order", 500)),
  "bare-message": polled(ALWAYS, (reply) => reply.result({ message: { messageId: "m-1", role: "ROLE_AGENT", parts: [{ text: "no task" }] } })),
  "silent": { ...polled(ALWAYS, () => undefined), settings: { timeout_ms: 1_000, max_retries: 1 } },
  "rejects": polled(ALWAYS, (reply) => reply.result({ task: task("r-1", "REJECTED", { status: { state: "TASK_STATE_REJECTED", message: { messageId: "m", role: "ROLE_AGENT", parts: [{ text: "not today" }] } } }) })),
  "lost-task": {
    card: () => ({ capabilities: { streaming: false } }),
    answer: ({ method }, reply) => {
      if (method === "SendMessage") return reply.result({ task: task("r-1", "WORKING") });
      return method === "GetTask" ? reply.error(-32001, "task not found") : false;
    },
  },
  "uncancelable": {
    card: () => ({ capabilities: { streaming: false } }),
    answer: ({ method }, reply) => {
      if (method === "CancelTask") return reply.error(-32002, "it cannot be canceled");
      return reply.result(method === "SendMessage" ? { task: task("r-1", "WORKING") } : task("r-1", "WORKING"));
    },
  },
  // This agent asks a question, and then answers nothing except a cancel.
  "mute": {
    card: () => ({ capabilities: { streaming: false } }),
    answer: ({ method, params }, reply) => {
      if (method === "SendMessage" && params.message?.taskId === undefined) return reply.result({ task: task("r-1", "INPUT_REQUIRED") });
      return method === "CancelTask" ? false : undefined;
    },
    settings: { request_timeout_ms: 20_000 },
    run: { timeout_ms: 5_000 },
  },
});

before(() => liars.start());
after(() => liars.stop());

const sends = (name: string) => liars.asked(name).filter(({ method }) => method === "SendMessage");

for (const [name, count] of [["bad-gateway", 3], ["busy", 2]] as const) {
  test(`${name}: the same message is sent again, and the task is done`, async () => {
    const ended = await liars.ended(name);
    assert.deepEqual([ended.status.state, textOf(ended.artifacts?.[0])], ["TASK_STATE_COMPLETED", "done"]);
    assert.equal(sends(name).length, count);
    assert.equal(new Set(sends(name).map(({ params }) => params.message?.messageId)).size, 1, "one message");
    const keys = new Set(sends(name).map(({ headers }) => headers["idempotency-key"]));
    assert.ok(keys.size === 1 && !keys.has(undefined), "one key");
  });
}

for (const [name, count, reason] of [
  ["down", 3, /503/],
  ["broken", 1, /500/],
  ["page", 1, /JSON|cannot be used/],
  ["wrong-shape", 1, /./],
  ["error-400", 1, /the prompt is too long/],
  ["error-500", 1, /the model is out of order/],
  // The time limit of the call ends before the message could be sent again.
  ["silent", 1, /the remote agent has not answered within (999|1000) ms/],
] as const) {
  test(`${name}: the task fails with the reason, and the message was sent ${count === 1 ? "once" : `${count} times`}`, async () => {
    const ended = await liars.ended(name);
    assert.equal(ended.status.state, "TASK_STATE_FAILED");
    assert.match(textOf(ended.status.message), reason);
    assert.equal(sends(name).length, count, JSON.stringify(liars.counts(name)));
  });
}

test("bare-message: a message without a task is the answer", async () => {
  const { message, task } = await liars.agent("bare-message").send("hello");
  assert.equal(textOf(message ?? task?.status.message), "no task");
  assert.equal(task?.status.state ?? "TASK_STATE_COMPLETED", "TASK_STATE_COMPLETED");
  assert.equal(liars.asked("bare-message").length, 1);
});

test("rejects: what the remote agent rejects is rejected", async () => {
  const ended = await liars.ended("rejects");
  assert.deepEqual([ended.status.state, textOf(ended.status.message)], ["TASK_STATE_REJECTED", "not today"]);
});

test("lost-task: a task that the remote agent does not know any more fails", async () => {
  const ended = await liars.ended("lost-task");
  assert.equal(ended.status.state, "TASK_STATE_FAILED");
  assert.equal(sends("lost-task").length, 1);
});

test("uncancelable: our task is canceled whatever the remote agent says", async () => {
  const agent = liars.agent("uncancelable");
  const { id } = await agent.sendForTask("hello", { returnImmediately: true });
  await until(() => Promise.resolve(liars.counts("uncancelable")), (counts) => (counts["GetTask"] ?? 0) > 0);
  assert.equal((await agent.cancelTask(id)).status.state, "TASK_STATE_CANCELED");
  await until(() => Promise.resolve(liars.counts("uncancelable")), (counts) => (counts["CancelTask"] ?? 0) > 0);
  assert.equal((await agent.getTask(id)).status.state, "TASK_STATE_CANCELED");
});

test("mute: the task fails before its time is over, and the remote task is canceled", async () => {
  const agent = liars.agent("mute");
  const asked = await agent.sendForTask("hello");
  assert.equal(asked.status.state, "TASK_STATE_INPUT_REQUIRED");
  await agent.sendForTask(followUp(asked, "well?"), { returnImmediately: true });
  const { status } = await untilEnded(agent, asked.id);
  assert.equal(status.state, "TASK_STATE_FAILED");
  assert.match(textOf(status.message), /^the remote agent has not answered within \d+ ms/);
  await until(() => Promise.resolve(liars.counts("mute")), (counts) => counts["CancelTask"] === 1);
  assert.deepEqual(liars.asked("mute").at(-1)?.params, { id: "r-1" });
});
