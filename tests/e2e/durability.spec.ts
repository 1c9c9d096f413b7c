// Answered data is kept, whatever happens to the process (spec §3.1.3).
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { Agent, followUp, textOf, toolCall, until, untilEnded, type Task } from "./client.ts";
import { startWorker, type Worker } from "./harness.ts";

let worker: Worker;
let demo: Agent;
let tools: Agent;
before(async () => {
  worker = await startWorker();
  demo = new Agent(`${worker.url}/demo`);
  tools = new Agent(worker.url);
});
after(() => worker.stop());

const losses: [string, () => Promise<void>][] = [
  ["a crash", async () => {
    await worker.kill9();
    await worker.restart();
  }],
  ["a restart", () => worker.restart()],
];

/** Twenty tasks of all kinds at once, as in their answers. */
function sendTwenty(): Promise<Task[]> {
  const sends = [
    () => demo.sendForTask("Grüße"),
    () => demo.sendForTask("ask"),
    () => demo.sendForTask("chunks"),
    () => demo.sendForTask("fail"),
    () => tools.sendForTask(toolCall("add_numbers", { a: 1, b: 2 })),
  ];
  return Promise.all([...sends, ...sends, ...sends, ...sends].map((send) => send()));
}

for (const [loss, lose] of losses) {
  describe(`after ${loss}`, () => {
    test("every task is as it was answered (§3.1.3)", async () => {
      const answered = await sendTwenty();
      await lose();
      const found = await Promise.all(answered.map(({ id }, index) => (index % 5 === 4 ? tools : demo).getTask(id)));
      assert.deepEqual(found, answered);
    });

    test("tasks that wait for an answer can be continued (§3.4.3)", async () => {
      const asked = await Promise.all([1, 2, 3, 4].map(() => demo.sendForTask("ask")));
      await lose();
      const tasks = await Promise.all(asked.map((task) => demo.sendForTask(followUp(task, "green"))));
      for (const [index, task] of tasks.entries()) {
        assert.equal(task.id, asked[index]?.id);
        assert.equal(task.status.state, "TASK_STATE_COMPLETED");
        assert.deepEqual(task.history?.map(textOf), ["ask", "Which colour?", "green"]);
      }
    });

    test("finished tasks are still final (§4.1.3)", async () => {
      const [ended, asked] = [await demo.sendForTask("hello"), await demo.sendForTask("ask")];
      const canceled = await demo.cancelTask(asked.id);
      await lose();
      await assert.rejects(demo.send(followUp(ended, "more")), { code: -32004 });
      await assert.rejects(demo.send(followUp(canceled, "more")), { code: -32004 });
      await assert.rejects(demo.cancelTask(ended.id), { code: -32002 });
      assert.deepEqual(await demo.cancelTask(canceled.id), canceled);
      assert.deepEqual(await demo.getTask(ended.id), ended);
    });

    test("a repeated message is still known (§3.3.1)", async () => {
      const asked = await demo.sendForTask("ask");
      const said = followUp(asked, "pink");
      const answered = await demo.sendForTask(said);
      await lose();
      assert.deepEqual(await demo.sendForTask(said), answered);
    });

    test("a task that was at work comes to an end that says why (§4.1.3)", async () => {
      const begun = await demo.sendForTask("hold 3000", { returnImmediately: true });
      await until(() => demo.getTask(begun.id), (task) => task.status.state === "TASK_STATE_WORKING");
      await lose();
      const ended = await untilEnded(demo, begun.id);
      assert.equal(ended.contextId, begun.contextId);
      assert.deepEqual(ended.history, begun.history);
      // The run was either given up or repeated.
      if (ended.status.state === "TASK_STATE_COMPLETED") assert.equal(textOf(ended.artifacts?.[0]), "hold 3000");
      else {
        assert.equal(ended.status.state, "TASK_STATE_FAILED");
        assert.match(textOf(ended.status.message), /interrupted/);
      }
      assert.deepEqual(await demo.getTask(begun.id), ended, "and stays like that");
    });

    test("a task that was at work can be canceled (§3.1.5)", async () => {
      const begun = await demo.sendForTask("hold 60000", { returnImmediately: true });
      await lose();
      const outcome = await demo.cancelTask(begun.id).catch((error: { code: number }) => error);
      const ended = await untilEnded(demo, begun.id);
      if ("code" in outcome) {
        assert.equal(outcome.code, -32002);
        assert.equal(ended.status.state, "TASK_STATE_FAILED");
      } else assert.deepEqual(ended, outcome);
    });
  });
}

test("a task survives crash after crash (§3.1.3)", async () => {
  let task = await demo.sendForTask("ask");
  for (const answer of ["pink", "grey"]) {
    await worker.kill9();
    await worker.restart();
    assert.deepEqual(await demo.getTask(task.id), task);
    task = await demo.sendForTask(followUp(task, answer));
  }
  await worker.kill9();
  await worker.restart();
  assert.equal(task.status.state, "TASK_STATE_COMPLETED");
  assert.deepEqual(await demo.getTask(task.id), task);
});

test("what a crash cut off leaves nothing half done (§3.1.1)", async () => {
  const sends = Array.from({ length: 20 }, (_, index) => demo.sendForTask(`cut ${index}`));
  const outcomes = Promise.allSettled(sends);
  await Promise.race(sends);
  await worker.kill9();
  await worker.restart();
  const answered = (await outcomes).flatMap((outcome) => (outcome.status === "fulfilled" ? [outcome.value] : []));
  assert.ok(answered.length > 0);
  assert.deepEqual(await Promise.all(answered.map(({ id }) => demo.getTask(id))), answered);
});

describe("a task that was dropped from memory", () => {
  test("is found as it was answered (§3.1.3)", async () => {
    for (const text of ["hello", "ask", "chunks", "x".repeat(300_000)]) {
      const answered = await demo.sendForTask(text);
      await worker.evict(answered.id);
      assert.deepEqual(await demo.getTask(answered.id), answered);
    }
  });

  test("goes on with the next message (§3.4.3)", async () => {
    const asked = await demo.sendForTask("ask");
    await worker.evict(asked.id);
    const again = await demo.sendForTask(followUp(asked, "pink"));
    assert.equal(again.status.state, "TASK_STATE_INPUT_REQUIRED");
    await worker.evict(asked.id);
    const ended = await demo.sendForTask(followUp(asked, "grey"));
    assert.equal(ended.status.state, "TASK_STATE_COMPLETED");
    assert.equal(textOf(ended.artifacts?.[0]), "grey");
    assert.equal(ended.history?.length, 5);
  });

  test("while it was at work comes to an end that says why (§4.1.3)", async () => {
    const begun = await demo.sendForTask("hold 500", { returnImmediately: true });
    await worker.evict(begun.id);
    const ended = await untilEnded(demo, begun.id);
    if (ended.status.state === "TASK_STATE_COMPLETED") assert.equal(textOf(ended.artifacts?.[0]), "hold 500");
    else assert.match(textOf(ended.status.message), /interrupted/);
  });
});
