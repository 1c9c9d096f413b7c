// Wrong streams of remote agents: the final state of the task of an agent of kind "remote", and the load on the remote agent. The same
// with only the client, and many more cases: crates/a2a/tests/all/misbehaving.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { followUp, textOf, type Task } from "./client.ts";
import { artifact, done, Liars, status, task, type Lie } from "./liars.ts";

/** Answers a streaming send with these events, and other calls with `others`. */
const streaming = (events: (object | string)[], others: Lie["answer"] = () => false): Lie => ({
  answer: (asked, reply) => (asked.method === "SendStreamingMessage" ? reply.stream(events) : others(asked, reply)),
});

const begun = task("r-1", "WORKING");

const liars = new Liars({
  "early-end": streaming([{ task: begun }]),
  "half-event": streaming([{ task: begun }, artifact("r-1", "do", { lastChunk: false }), `data: {"jsonrpc":"2.0","id":1,"resu`], (asked, reply) => {
    if (asked.method === "SubscribeToTask") return reply.stream([{ task: done("r-1", "done") }]);
    return false;
  }),
  "no-first-task": streaming([status("r-1", "WORKING"), artifact("r-1", "done"), status("r-1", "COMPLETED")]),
  "told-twice": streaming([
    { task: begun }, artifact("r-1", "do"), artifact("r-1", "ne", { append: true, lastChunk: true }), artifact("r-1", "done"), status("r-1", "COMPLETED"),
  ]),
  "task-at-the-end": streaming([{ task: begun }, artifact("r-1", "done"), status("r-1", "COMPLETED"), { task: done("r-1", "done") }]),
  "error-first": { answer: (asked, reply) => (asked.method === "SendStreamingMessage" ? reply.stream([failure]) : false) },
  "no-json": streaming([{ task: begun }, "data: {not json\n\n", artifact("r-1", "done"), status("r-1", "COMPLETED")]),
  "huge-event": streaming([{ task: begun }, artifact("r-1", "x".repeat(5 * 1024 * 1024)), status("r-1", "COMPLETED")], (asked, reply) => {
    return asked.method === "GetTask" ? reply.result(task("r-1", "COMPLETED")) : false;
  }),
  "asks-and-closes": {
    answer: ({ method, params }, reply) => {
      if (method !== "SendStreamingMessage" || params.message?.taskId !== undefined) return false;
      return reply.stream([{ task: begun }, status("r-1", "INPUT_REQUIRED", "which?")]);
    },
  },
  "asks-and-stays": {
    answer: ({ method, params }, reply) => {
      if (method !== "SendStreamingMessage" || params.message?.taskId !== undefined) return false;
      return reply.stream([{ task: begun }, status("r-1", "INPUT_REQUIRED", "which?")], true);
    },
  },
});

const failure = `data: ${JSON.stringify({ jsonrpc: "2.0", id: 1, error: { code: -32603, message: "the model is out of order" } })}\n\n`;

before(() => liars.start());
after(() => liars.stop());

const text = (task: Task): string => (task.artifacts ?? []).map(textOf).join("|");

for (const [name, most] of [
  ["early-end", 3],
  ["half-event", 3],
  ["no-first-task", 2],
  ["told-twice", 2],
  ["task-at-the-end", 2],
  ["no-json", 3],
] as const) {
  test(`${name}: the task is done, with its text once`, async () => {
    const task = await liars.ended(name);
    assert.deepEqual([task.status.state, text(task)], ["TASK_STATE_COMPLETED", "done"], JSON.stringify(liars.counts(name)));
    const counts = liars.counts(name);
    assert.equal(counts["SendStreamingMessage"], 1, "it is sent once");
    assert.ok(liars.asked(name).length <= most, JSON.stringify(counts));
  });
}

test("error-first: the task fails with the words of the remote agent", async () => {
  const task = await liars.ended("error-first");
  assert.equal(task.status.state, "TASK_STATE_FAILED");
  assert.match(textOf(task.status.message), /the model is out of order/);
});

test("huge-event: the event is not taken, and the task ends all the same", async () => {
  const task = await liars.ended("huge-event");
  assert.match(task.status.state, /COMPLETED|FAILED/);
  assert.ok(text(task).length < 5 * 1024 * 1024);
  assert.ok(liars.asked("huge-event").length <= 10, JSON.stringify(liars.counts("huge-event")));
});

for (const name of ["asks-and-closes", "asks-and-stays"]) {
  test(`${name}: the question is ours, and the answer goes to the same remote task`, async () => {
    const agent = liars.agent(name);
    const asked = await agent.sendForTask("hello");
    assert.deepEqual([asked.status.state, textOf(asked.status.message)], ["TASK_STATE_INPUT_REQUIRED", "which?"]);
    const ended = await agent.sendForTask(followUp(asked, "that one"));
    assert.deepEqual([ended.status.state, text(ended)], ["TASK_STATE_COMPLETED", "done"]);
    const sends = liars.asked(name).filter(({ method }) => method === "SendStreamingMessage");
    assert.deepEqual(sends.map(({ params }) => [params.message?.taskId, textOf(params.message)]), [[undefined, "hello"], ["r-1", "that one"]]);
  });
}
