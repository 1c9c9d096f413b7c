// An agent that panics: only its own request and its own task fail.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { Agent, RpcError, followUp, textOf, untilEnded } from "./client.ts";
import { startWorker, type Worker } from "./harness.ts";

let worker: Worker;
let faults: Agent;
let demo: Agent;
before(async () => {
  worker = await startWorker();
  faults = new Agent(`${worker.url}/faults`);
  demo = new Agent(`${worker.url}/demo`);
});
after(() => worker.stop());

describe("an agent that panics", () => {
  test("a panic before anything was said is an internal error without a task (§3.3.2)", async () => {
    const internal = { code: -32603, reason: "INTERNAL_ERROR", taskId: undefined };
    await assert.rejects(faults.send("panic"), internal);
    await assert.rejects(faults.send("panic", { returnImmediately: true }), internal);
  });

  test("the client is not told what happened inside (§3.3.2)", async () => {
    const error = (await faults.send("panic").catch((error: unknown) => error)) as RpcError;
    assert.equal(error.message, "internal error");
  });

  test("a panic in a task is an internal error that names the task, which has failed (§3.3.2)", async () => {
    const error = (await faults.send("panic later").catch((error: unknown) => error)) as RpcError;
    assert.ok(error instanceof RpcError);
    assert.equal(error.code, -32603);
    assert.equal(error.reason, "INTERNAL_ERROR");
    assert.ok(error.taskId);
    const task = await faults.getTask(error.taskId);
    assert.equal(task.status.state, "TASK_STATE_FAILED");
    assert.notEqual(textOf(task.status.message), "");
    assert.equal(textOf(task.history?.[0]), "panic later");
    await worker.evict(task.id);
    assert.deepEqual(await faults.getTask(task.id), task, "and that is stored");
    await assert.rejects(faults.send(followUp(task, "hello")), { code: -32004 });
  });

  test("a panic after the answer leaves a failed task (§4.1.3)", async () => {
    const begun = await faults.sendForTask("panic later", { returnImmediately: true });
    assert.equal(begun.status.state, "TASK_STATE_WORKING");
    assert.equal((await untilEnded(faults, begun.id)).status.state, "TASK_STATE_FAILED");
  });

  test("tasks that are at work go on undisturbed (§3.3.2)", async () => {
    const held = await demo.sendForTask("polls", { returnImmediately: true });
    const waiting = demo.sendForTask("hold 400");
    await assert.rejects(faults.send("panic"), { code: -32603 });
    await assert.rejects(faults.send("panic later"), { code: -32603 });
    assert.equal((await demo.getTask(held.id)).status.state, "TASK_STATE_WORKING");
    assert.equal((await waiting).status.state, "TASK_STATE_COMPLETED");
    assert.equal((await untilEnded(demo, held.id)).status.state, "TASK_STATE_COMPLETED");
  });

  test("many panics among many sends fail alone (§3.3.2)", async () => {
    const codes = await Promise.all(
      Array.from({ length: 30 }, async (_, index) => {
        const text = ["hello", "panic", "panic later"][index % 3] ?? "";
        return faults.sendForTask(text).then(({ status }) => status.state, ({ code }: RpcError) => code);
      }),
    );
    assert.deepEqual(codes, codes.map((_, index) => (index % 3 === 0 ? "TASK_STATE_COMPLETED" : -32603)));
  });
});

describe("after panics", () => {
  test("the Worker serves on, and answered tasks are still there (§3.1.3)", async () => {
    const answered = [await demo.sendForTask("hello"), await demo.sendForTask("ask")] as const;
    for (const text of ["panic", "panic later"]) {
      await assert.rejects(faults.send(text), { code: -32603 });
      assert.equal((await demo.sendForTask("hello")).status.state, "TASK_STATE_COMPLETED");
    }
    for (const task of answered) assert.deepEqual(await demo.getTask(task.id), task);
    const ended = await demo.sendForTask(followUp(answered[1], "red"));
    assert.equal(textOf(ended.artifacts?.[0]), "red");
  });

  test("a task whose agent panicked does not stay at work (§4.1.3)", async () => {
    const begun = await faults.sendForTask("panic later", { returnImmediately: true });
    const ended = await untilEnded(faults, begun.id);
    assert.equal(ended.status.state, "TASK_STATE_FAILED");
    assert.notEqual(textOf(ended.status.message), "");
  });

  test("an agent that can panic works otherwise (§3.1.1)", async () => {
    const task = await faults.sendForTask("hello");
    assert.equal(task.status.state, "TASK_STATE_COMPLETED");
  });
});
