// Waiting for the next generation of a task (docs/generation.md).
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { Agent, followUp, message, until } from "./client.ts";
import { asking, beyond, bindings, demo, ofRpc, withWorker } from "./generation.ts";
import { startWorker } from "./harness.ts";

withWorker();

for (const [name, binding] of Object.entries(bindings)) {
  describe(`over ${name}`, () => {
    test("who waits for the next generation is answered when it comes", async () => {
      const { task, generation } = await asking();
      const waiting = Promise.all([binding.get(task.id, beyond(generation)), binding.get(task.id, beyond(generation, 3600))]);
      // The task continues while the requests wait.
      assert.deepEqual((await binding.get(task.id)).task, task);
      const sent = await binding.send(followUp(task, "red"));
      assert.equal(sent.task?.status.state, "TASK_STATE_COMPLETED");
      for (const got of await waiting) assert.ok((got.generation ?? 0) > generation);
    });

    test("waiting from generation to generation follows a task to its end", async () => {
      const begun = await ofRpc("SendMessage", { message: message("count 5 every 50"), configuration: { returnImmediately: true } });
      const id = begun.task?.id ?? "";
      const seen = [begun.generation ?? 0];
      let task = begun.task;
      while (task?.status.state !== "TASK_STATE_COMPLETED") {
        const got = await binding.get(id, beyond(seen.at(-1) ?? 0));
        task = got.task;
        assert.ok((got.generation ?? 0) > (seen.at(-1) ?? 0), "each answer is news");
        seen.push(got.generation ?? 0);
      }
      assert.equal(seen.at(-1), 8);
      assert.deepEqual((await binding.get(id)).task, task);
    });

    test("a wait that is over gives the task as it stands", async () => {
      const { task, generation } = await asking();
      for (const headers of [beyond(generation, 0), beyond(generation + 1000, 1)]) {
        const got = await binding.get(task.id, headers);
        assert.deepEqual([got.task, got.generation], [task, generation]);
      }
    });

    test("a task that has ended is not waited for", async () => {
      const sent = await binding.send(message("hello"));
      const got = await binding.get(sent.task?.id ?? "", beyond(1000, 3600));
      assert.deepEqual([got.task, got.generation], [sent.task, sent.generation]);
    });

    test("a wait ends with the task", async () => {
      const { task, generation } = await asking();
      const waiting = binding.get(task.id, beyond(generation + 1000, 3600));
      const canceled = await binding.cancel(task.id);
      assert.deepEqual((await waiting).task, canceled.task);
    });
  });
}

test("a wait is one question to an agent that counts them", async () => {
  const begun = await demo.sendForTask("polls", { returnImmediately: true });
  const waiting = ofRpc("GetTask", { id: begun.id }, beyond(1000));
  for (let asked = 1; asked < 3; asked++) await demo.getTask(begun.id);
  assert.equal((await waiting).task?.status.state, "TASK_STATE_COMPLETED");
});

test("the limit of a blocking send is that of a wait, too", async () => {
  const quick = await startWorker({ vars: { BLOCKING_LIMIT_MS: "50" } });
  try {
    const agent = new Agent(`${quick.url}/demo`);
    const { id } = await agent.sendForTask("ask");
    const task = await until(() => agent.getTask(id), ({ status }) => status.state === "TASK_STATE_INPUT_REQUIRED");
    const headers = { "a2a-version": "1.0", ...beyond(1000, 3600) };
    const response = await fetch(`${quick.url}/demo/tasks/${task.id}`, { headers });
    assert.deepEqual(await response.json(), task);
  } finally {
    await quick.stop();
  }
});

test("a preference alone is ignored", async () => {
  const { task } = await asking();
  assert.deepEqual((await ofRpc("GetTask", { id: task.id }, { prefer: "wait=3600" })).task, task);
});

test("a long wait keeps nobody else waiting", async () => {
  const { task, generation } = await asking();
  const waiting = Array.from({ length: 50 }, () => ofRpc("GetTask", { id: task.id }, beyond(generation, 3600)));
  for (let round = 0; round < 5; round++) assert.deepEqual(await demo.getTask(task.id), task);
  const canceled = await demo.cancelTask(task.id);
  for (const got of await Promise.all(waiting)) assert.deepEqual(got.task, canceled);
  await until(() => demo.getTask(task.id), ({ status }) => status.state === "TASK_STATE_CANCELED");
});
