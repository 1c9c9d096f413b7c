// CancelTask (spec §3.1.5).
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { Agent, RpcError, followUp, textOf, until, untilEnded, type Task } from "./client.ts";
import { startWorker, type Worker } from "./harness.ts";

let worker: Worker;
let demo: Agent;
before(async () => {
  worker = await startWorker();
  demo = new Agent(`${worker.url}/demo`);
});
after(() => worker.stop());

/** A new task that its agent is working on. */
async function begin(text: string): Promise<Task> {
  const { id } = await demo.sendForTask(text, { returnImmediately: true });
  return until(() => demo.getTask(id), (task) => task.status.state === "TASK_STATE_WORKING");
}

test("a working task is canceled at once (§3.1.5)", async () => {
  const { id, contextId } = await begin("hold 60000");
  const canceled = await demo.cancelTask(id);
  assert.equal(canceled.id, id);
  assert.equal(canceled.contextId, contextId);
  assert.equal(canceled.status.state, "TASK_STATE_CANCELED");
  assert.deepEqual(await demo.getTask(id), canceled);
});

test("a blocking send that waits for the task gets it canceled (§3.1.5)", async () => {
  const { id } = await begin("hold 60000");
  const waiting = demo.sendForTask({ taskId: id, parts: [{ text: "are you there?" }] });
  await until(() => demo.getTask(id), (task) => task.history?.length === 2);
  const canceled = await demo.cancelTask(id);
  assert.deepEqual(await waiting, canceled);
});

for (const text of ["ask", "auth"]) {
  test(`a task that waits for somebody ("${text}") can be canceled (§3.1.5)`, async () => {
    const { id } = await demo.sendForTask(text);
    assert.equal((await demo.cancelTask(id)).status.state, "TASK_STATE_CANCELED");
  });
}

test("canceling twice gives the same task (§3.3.1)", async () => {
  const { id } = await begin("hold 60000");
  const first = await demo.cancelTask(id);
  assert.deepEqual(await demo.cancelTask(id), first);
  assert.deepEqual(await demo.cancelTask(id.toUpperCase()), first);
});

test("several cancels at once give the same task (§3.3.1)", async () => {
  const { id } = await begin("hold 60000");
  const [first, ...others] = await Promise.all([1, 2, 3, 4].map(() => demo.cancelTask(id)));
  assert.equal(first?.status.state, "TASK_STATE_CANCELED");
  for (const other of others) assert.deepEqual(other, first);
});

for (const text of ["hello", "fail", "reject"]) {
  test(`a task that ended with "${text}" cannot be canceled (§3.1.5)`, async () => {
    const ended = await demo.sendForTask(text);
    const refused = { code: -32002, reason: "TASK_NOT_CANCELABLE", taskId: ended.id };
    await assert.rejects(demo.cancelTask(ended.id), refused);
    assert.deepEqual(await demo.getTask(ended.id), ended);
  });
}

test("an unknown task cannot be canceled (§3.1.5)", async () => {
  for (const id of ["unknown", "0".repeat(64)]) {
    await assert.rejects(demo.cancelTask(id), { code: -32001, reason: "TASK_NOT_FOUND", taskId: id });
  }
});

test("nothing that the agent would have said later appears (§3.1.5)", async () => {
  const { id } = await begin("count 3 every 1000");
  const canceled = await demo.cancelTask(id);
  // Begun after the cancel with the same pauses, so the canceled run would have ended before this one.
  assert.equal((await demo.sendForTask("count 3 every 1000")).status.state, "TASK_STATE_COMPLETED");
  assert.deepEqual(await demo.getTask(id), canceled);
  await worker.evict(id);
  assert.deepEqual(await demo.getTask(id), canceled, "nor is it stored");
});

describe("at once", () => {
  test("an end and a cancel leave one of the two (§3.1.5)", async () => {
    for (let round = 0; round < 10; round++) {
      const { id } = await demo.sendForTask(`hold ${round * 2}`, { returnImmediately: true });
      const outcome = await demo.cancelTask(id).catch((error: RpcError) => error);
      const ended = await untilEnded(demo, id);
      if (outcome instanceof RpcError) {
        assert.equal(outcome.code, -32002);
        assert.equal(ended.status.state, "TASK_STATE_COMPLETED");
      } else {
        assert.deepEqual(ended, outcome);
        assert.equal(ended.status.state, "TASK_STATE_CANCELED");
      }
    }
  });

  test("a follow-up and a cancel leave one of the two (§3.1.5)", async () => {
    for (let round = 0; round < 10; round++) {
      const asked = await demo.sendForTask("ask");
      const calls = [() => demo.sendForTask(followUp(asked, "red")), () => demo.cancelTask(asked.id)];
      if (round % 2 === 1) calls.reverse();
      const outcomes = await Promise.all(calls.map((call) => call().catch((error: RpcError) => error)));
      if (round % 2 === 1) outcomes.reverse();
      const [sent, canceled] = outcomes;
      const ended = await demo.getTask(asked.id);
      if (canceled instanceof RpcError) {
        assert.equal(canceled.code, -32002);
        assert.equal(ended.status.state, "TASK_STATE_COMPLETED");
        assert.deepEqual(sent, ended);
      } else {
        assert.equal(ended.status.state, "TASK_STATE_CANCELED");
        assert.deepEqual(canceled, ended);
        // The follow-up arrived after the cancel, or began a turn that the cancel ended.
        if (sent instanceof RpcError) assert.equal(sent.code, -32004);
        else assert.deepEqual(sent, ended);
      }
    }
  });
});

test("without DEVELOPMENT there are no routes below /_dev/, and no agents for development", async (t) => {
  const deployed = await startWorker({ vars: { DEVELOPMENT: "false" }, hasDev: true });
  t.after(() => deployed.stop());
  for (const path of ["/_dev/received", "/_dev/", "/faults/.well-known/agent-card.json"]) {
    assert.equal((await fetch(deployed.url + path)).status, 404, path);
  }
  assert.equal((await fetch(`${deployed.url}/faults`, { method: "POST", body: "{}" })).status, 404);
  const task = await new Agent(`${deployed.url}/demo`).sendForTask("hello");
  assert.equal(textOf(task.artifacts?.[0]), "hello");
});
