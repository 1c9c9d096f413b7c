// GetTask (spec §3.1.3).
import assert from "node:assert/strict";
import { randomBytes, randomUUID } from "node:crypto";
import { after, before, describe, test } from "node:test";
import { Agent, followUp, textOf, toolCall, until, untilEnded, type Task } from "./client.ts";
import { startWorker, type Worker } from "./harness.ts";

let worker: Worker;
let demo: Agent;
before(async () => {
  worker = await startWorker();
  demo = new Agent(`${worker.url}/demo`);
});
after(() => worker.stop());

for (const text of ["hello", "ask", "fail", "reject", "auth", "chunks", "hold 10"]) {
  test(`a task that came of "${text}" is given as it was answered (§3.1.3)`, async () => {
    const answered = await demo.sendForTask(text);
    assert.deepEqual(await demo.getTask(answered.id), answered);
    assert.deepEqual(await demo.getTask(answered.id), answered, "asking changes nothing");
  });
}

test("a task of tools is given as it was answered (§3.1.3)", async () => {
  const agent = new Agent(worker.url);
  const answered = await agent.sendForTask(toolCall("add_numbers", { a: 1, b: 2 }));
  assert.deepEqual(await agent.getTask(answered.id), answered);
});

test("a task is given while it works, and its end afterwards (§3.1.3)", async () => {
  const { id } = await demo.sendForTask("hold 3000", { returnImmediately: true });
  const working = await until(() => demo.getTask(id), (task) => task.status.state !== "TASK_STATE_SUBMITTED");
  assert.equal(working.status.state, "TASK_STATE_WORKING");
  assert.equal(working.artifacts, undefined);
  const ended = await untilEnded(demo, id);
  assert.equal(ended.status.state, "TASK_STATE_COMPLETED");
  assert.ok(ended.status.timestamp >= working.status.timestamp);
});

test("a task holds the members of version 1.0 and no others (§4.1.1)", async () => {
  const asked = await demo.sendForTask("ask");
  const task = await demo.sendForTask(followUp(asked, "red"));
  assert.deepEqual(Object.keys(task).sort(), ["artifacts", "contextId", "history", "id", "status"]);
  assert.deepEqual(Object.keys(task.status).sort(), ["message", "state", "timestamp"]);
  assert.deepEqual(Object.keys(task.artifacts?.[0] ?? {}).sort(), ["artifactId", "name", "parts"]);
  for (const said of task.history ?? []) {
    assert.deepEqual(Object.keys(said).sort(), ["contextId", "messageId", "parts", "role", "taskId"]);
  }
});

describe("historyLength", () => {
  const all = ["ask", "Which colour?", "red"];
  for (const [historyLength, expected] of [
    [0, undefined],
    [1, ["red"]],
    [2, ["Which colour?", "red"]],
    [3, all],
    [1000, all],
    ["2", ["Which colour?", "red"]],
    [1.0, ["red"]],
    [null, all],
    [undefined, all],
  ] as const) {
    test(`${JSON.stringify(historyLength) ?? "left out"} gives ${expected?.length ?? "none"} of 3 messages, the newest (§3.2.4)`, async () => {
      const { id } = await demo.sendForTask(followUp(await demo.sendForTask("ask"), "red"));
      const task = await demo.call<Task>("GetTask", { id, historyLength });
      assert.deepEqual(task.history?.map(textOf), expected);
      assert.equal(textOf(task.artifacts?.[0]), "red");
    });
  }

  test("is also understood as history_length (§5.5)", async () => {
    const { id } = await demo.sendForTask("ask");
    assert.equal((await demo.call<Task>("GetTask", { id, history_length: 0, unknown: true })).history, undefined);
  });

  for (const historyLength of [-1, 1.5, "x", true, [], 4_294_967_296]) {
    test(`${JSON.stringify(historyLength)} is refused (§3.2.4)`, async () => {
      const { id } = await demo.sendForTask("hello");
      const refused = { code: -32602, reason: "INVALID_PARAMS", fields: ["historyLength"] };
      await assert.rejects(demo.call("GetTask", { id, historyLength }), refused);
    });
  }
});

describe("a task is not found", () => {
  for (const [what, id] of [
    ["by a text", "unknown"],
    ["by a UUID", randomUUID()],
    ["by 64 random digits", randomBytes(32).toString("hex")],
    ["by 64 zeros", "0".repeat(64)],
    ["by a text with odd letters", "../../etc/passwd?\u0000✓"],
    ["by a long text", "f".repeat(10_000)],
  ] as const) {
    test(`${what} (§3.1.3)`, async () => {
      await assert.rejects(demo.getTask(id), { code: -32001, reason: "TASK_NOT_FOUND", taskId: id });
    });
  }

  test("by its id with any digit changed (§3.1.3)", async () => {
    const { id } = await demo.sendForTask("hello");
    for (let at = 0; at < id.length; at += 7) {
      const forged = id.slice(0, at) + ((parseInt(id.charAt(at), 16) + 1) % 16).toString(16) + id.slice(at + 1);
      await assert.rejects(demo.getTask(forged), { code: -32001, reason: "TASK_NOT_FOUND", taskId: forged });
    }
    assert.equal((await demo.getTask(id)).id, id);
  });
});

test("a task is found by its id in capitals, and keeps its own (§3.1.3)", async () => {
  const task = await demo.sendForTask("hello");
  assert.deepEqual(await demo.getTask(task.id.toUpperCase()), task);
});
