// Follow-ups: messages that continue a task (spec §3.4).
import assert from "node:assert/strict";
import { randomBytes, randomUUID } from "node:crypto";
import { after, before, describe, test } from "node:test";
import { Agent, followUp, message, textOf } from "./client.ts";
import { startWorker, type Worker } from "./harness.ts";

let worker: Worker;
let demo: Agent;
before(async () => {
  worker = await startWorker({ notes: true });
  demo = new Agent(`${worker.url}/demo`);
});
after(() => worker.stop());

describe("a follow-up", () => {
  test("answers the agent's question and finishes the task (§3.4.3)", async () => {
    const asked = await demo.sendForTask("ask");
    assert.equal(asked.status.state, "TASK_STATE_INPUT_REQUIRED");
    assert.equal(asked.status.message?.role, "ROLE_AGENT");

    const task = await demo.sendForTask(followUp(asked, "red"));
    assert.equal(task.id, asked.id);
    assert.equal(task.status.state, "TASK_STATE_COMPLETED");
    assert.equal(textOf(task.status.message), "You chose red.");
    assert.deepEqual(task.artifacts?.map(textOf), ["red"]);
  });

  test("stands in the history after the question that it answers (§3.4.3)", async () => {
    const asked = await demo.sendForTask("ask");
    const task = await demo.sendForTask(followUp(asked, "red"));
    const history = (task.history ?? []).map((said) => [said.role, textOf(said)]);
    assert.deepEqual(history, [["ROLE_USER", "ask"], ["ROLE_AGENT", "Which colour?"], ["ROLE_USER", "red"]]);
    assert.deepEqual(task.history?.[1], asked.status.message);
    for (const said of task.history ?? []) {
      assert.equal(said.taskId, task.id);
      assert.equal(said.contextId, task.contextId);
    }
  });

  test("may be followed by another (§3.4.3)", async () => {
    const asked = await demo.sendForTask("ask");
    const again = await demo.sendForTask(followUp(asked, "pink"));
    assert.equal(again.status.state, "TASK_STATE_INPUT_REQUIRED");
    assert.match(textOf(again.status.message), /red, green and blue/);
    const task = await demo.sendForTask(followUp(again, "pink, really"));
    assert.equal(task.status.state, "TASK_STATE_COMPLETED");
    assert.equal(textOf(task.artifacts?.[0]), "pink, really");
    assert.equal(task.history?.length, 5);
  });

  test("may name the context of its task (§3.4.1)", async () => {
    const asked = await demo.sendForTask("ask");
    const task = await demo.sendForTask({ ...followUp(asked, "blue"), contextId: asked.contextId });
    assert.equal(task.status.state, "TASK_STATE_COMPLETED");
  });

  test("gives as much history as it asks for (§3.2.4)", async () => {
    const asked = await demo.sendForTask("ask");
    const task = await demo.sendForTask(followUp(asked, "red"), { historyLength: 2 });
    assert.deepEqual(task.history?.map(textOf), ["Which colour?", "red"]);
  });

  test("to a working task is kept, and gets the finished task (§3.4.2)", async () => {
    const working = await demo.sendForTask("hold 3000", { returnImmediately: true });
    const task = await demo.sendForTask(followUp(working, "one more thing"));
    assert.equal(task.status.state, "TASK_STATE_COMPLETED");
    assert.deepEqual(task.history?.map(textOf), ["hold 3000", "one more thing"]);
  });

  test("may return while the task works (§3.2.2)", async () => {
    const working = await demo.sendForTask("hold 60000", { returnImmediately: true });
    const task = await demo.sendForTask(followUp(working, "still there?"), { returnImmediately: true });
    assert.equal(task.status.state, "TASK_STATE_WORKING");
    assert.equal((await demo.cancelTask(task.id)).status.state, "TASK_STATE_CANCELED");
  });
});

describe("a follow-up is refused", () => {
  test("with another context than its task's, and changes nothing (§3.4.1)", async () => {
    const asked = await demo.sendForTask("ask");
    const said = { ...followUp(asked, "red"), contextId: randomUUID() };
    await assert.rejects(demo.send(said), { code: -32602, reason: "INVALID_PARAMS", fields: ["message.contextId"] });
    assert.deepEqual(await demo.getTask(asked.id), asked);
    assert.ok(!(await wasReceived(said.messageId)), "the agent must not see it");
  });

  for (const text of ["hello", "fail", "reject"]) {
    test(`to a task that ended with "${text}", and changes nothing (§3.1.1)`, async () => {
      const ended = await demo.sendForTask(text);
      const said = followUp(ended, "and now?");
      await assert.rejects(demo.send(said), { code: -32004, reason: "UNSUPPORTED_OPERATION" });
      assert.deepEqual(await demo.getTask(ended.id), ended);
      assert.ok(!(await wasReceived(said.messageId)), "the agent must not see it");
    });
  }

  test("to a canceled task (§3.1.1)", async () => {
    const asked = await demo.sendForTask("ask");
    await demo.cancelTask(asked.id);
    await assert.rejects(demo.send(followUp(asked, "red")), { code: -32004, reason: "UNSUPPORTED_OPERATION" });
  });

  test("to a task that was never given out (§3.4.2)", async () => {
    const asked = await demo.sendForTask("ask");
    for (const taskId of ["unknown", randomUUID(), randomBytes(32).toString("hex"), flipDigit(asked.id, 0), flipDigit(asked.id, 63)]) {
      const said = message({ taskId, parts: [{ text: "red" }] });
      await assert.rejects(demo.send(said), { code: -32001, reason: "TASK_NOT_FOUND", taskId });
      assert.ok(!(await wasReceived(said.messageId)), "the agent must not see it");
    }
  });

  test("through another agent than its task's (§3.4.2)", async () => {
    const asked = await demo.sendForTask("ask");
    const said = followUp(asked, "red");
    await assert.rejects(new Agent(worker.url).send(said), { code: -32001, reason: "TASK_NOT_FOUND" });
    assert.deepEqual(await demo.getTask(asked.id), asked);
    assert.ok(!(await wasReceived(said.messageId)), "the agent must not see it");
  });
});

describe("a repeated message", () => {
  test("is answered with the task and not run again (§3.3.1)", async () => {
    const asked = await demo.sendForTask("ask");
    const said = followUp(asked, "pink");
    const first = await demo.sendForTask(said);
    const second = await demo.sendForTask(said);
    assert.deepEqual(second, first);
    assert.equal(second.status.state, "TASK_STATE_INPUT_REQUIRED", "a second run would have completed it");
  });

  test("is answered even when it has finished the task (§3.3.1)", async () => {
    const asked = await demo.sendForTask("ask");
    const said = followUp(asked, "red");
    const first = await demo.sendForTask(said);
    assert.deepEqual(await demo.sendForTask(said), first);
    assert.equal((await worker.given()).filter((id) => id === said.messageId).length, 1);
  });

  test("sent twice at once is run once (§3.3.1)", async () => {
    const asked = await demo.sendForTask("ask");
    const said = followUp(asked, "pink");
    await Promise.all([demo.send(said), demo.send(said)]);
    const task = await demo.getTask(asked.id);
    assert.equal(task.status.state, "TASK_STATE_INPUT_REQUIRED");
    assert.deepEqual(task.history?.map(textOf), ["ask", "Which colour?", "pink"]);
  });

  test("without a task begins another task (§3.4.2)", async () => {
    const said = message("hello");
    const [first, second] = [await demo.sendForTask(said), await demo.sendForTask(said)];
    assert.notEqual(first.id, second.id);
  });
});

test("the id of a task may be written in capitals (§3.4.2)", async () => {
  const asked = await demo.sendForTask("ask");
  const task = await demo.sendForTask({ taskId: asked.id.toUpperCase(), parts: [{ text: "green" }] });
  assert.equal(task.id, asked.id);
  assert.equal(task.status.state, "TASK_STATE_COMPLETED");
  assert.equal(task.history?.at(-1)?.taskId, asked.id);
});

async function wasReceived(messageId: string): Promise<boolean> {
  return (await worker.given()).includes(messageId);
}

function flipDigit(id: string, at: number): string {
  return id.slice(0, at) + (id[at] === "0" ? "1" : "0") + id.slice(at + 1);
}
