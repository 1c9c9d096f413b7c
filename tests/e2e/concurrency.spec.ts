// Simultaneous work: tasks that do not disturb each other, and messages that arrive in one task at once.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Agent, RpcError, followUp, textOf, toolCall, untilEnded, type Task } from "./client.ts";
import { startWorker, type Worker } from "./harness.ts";

let worker: Worker;
let demo: Agent;
before(async () => {
  worker = await startWorker();
  demo = new Agent(`${worker.url}/demo`);
});
after(() => worker.stop());

test("fifty sends at once give fifty tasks, each with its own result (§3.1.1)", async () => {
  const texts = Array.from({ length: 50 }, (_, index) => `message number ${index}`);
  const tasks = await Promise.all(texts.map((text) => demo.sendForTask(text)));
  assert.equal(new Set(tasks.map(({ id }) => id)).size, 50);
  assert.equal(new Set(tasks.map(({ contextId }) => contextId)).size, 50);
  assert.deepEqual([...new Set(tasks.map(({ status }) => status.state))], ["TASK_STATE_COMPLETED"]);
  assert.deepEqual(tasks.map((task) => textOf(task.artifacts?.[0])), texts);
  assert.deepEqual(await Promise.all(tasks.map(({ id }) => demo.getTask(id))), tasks);
});

test("agents that wait do not wait for each other (§3.1.1)", async () => {
  // All tasks are working before the first may end.
  const tasks = await Promise.all(Array.from({ length: 20 }, () => demo.sendForTask("polls", { returnImmediately: true })));
  const read = () => Promise.all(tasks.map(({ id }) => demo.getTask(id)));
  for (const task of await read()) assert.equal(task.status.state, "TASK_STATE_WORKING");
  for (const task of await Promise.all(tasks.map(({ id }) => untilEnded(demo, id)))) {
    assert.equal(task.status.state, "TASK_STATE_COMPLETED");
  }
});

test("tools and scripts at once get their own results (§3.1.1)", async () => {
  const tools = new Agent(worker.url);
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, index) =>
      index % 2 === 0 ? tools.sendForTask(toolCall("add_numbers", { a: index, b: 1 })) : demo.sendForTask(`script ${index}`),
    ),
  );
  const results = answers.map((task) => task.artifacts?.[0]?.parts[0]);
  assert.deepEqual(results, answers.map((_, index) => (index % 2 === 0 ? { data: index + 1 } : { text: `script ${index}` })));
});

test("two follow-ups at once are handled one after the other (§3.4.3)", async () => {
  for (let round = 0; round < 10; round++) {
    const asked = await demo.sendForTask("ask");
    const answers = await Promise.all(["pink", "grey"].map((text) => demo.sendForTask(followUp(asked, text))));
    const states = answers.map(({ status }) => status.state).sort();
    assert.deepEqual(states, ["TASK_STATE_COMPLETED", "TASK_STATE_INPUT_REQUIRED"]);

    const task = await demo.getTask(asked.id);
    assert.equal(task.status.state, "TASK_STATE_COMPLETED");
    const [, , first, question, second] = (task.history ?? []).map(textOf);
    assert.deepEqual([first, second].sort(), ["grey", "pink"], "both are kept");
    assert.equal(question, "I know red, green and blue. Which colour?", "the first was answered before the second");
    assert.equal(textOf(task.artifacts?.[0]), second, "the second got its turn");
  }
});

test("of two answers that both finish the task one is refused (§3.1.1)", async () => {
  for (let round = 0; round < 10; round++) {
    const asked = await demo.sendForTask("ask");
    const send = (text: string) => demo.sendForTask(followUp(asked, text)).catch((error: RpcError) => error);
    const outcomes: (Task | RpcError)[] = await Promise.all([send("red"), send("blue")]);
    const refused = outcomes.filter((outcome) => outcome instanceof RpcError);
    assert.deepEqual(refused.map(({ code, reason }) => [code, reason]), [[-32004, "UNSUPPORTED_OPERATION"]]);
    const task = await demo.getTask(asked.id);
    assert.deepEqual(outcomes.find((outcome) => !(outcome instanceof RpcError)), task);
    assert.equal(task.artifacts?.length, 1);
    assert.equal(task.history?.length, 3, "the refused one left no trace");
  }
});

test("thirty messages at once to a working task are all kept (§3.4.2)", async () => {
  const begun = await demo.sendForTask("polls", { returnImmediately: true });
  const texts = Array.from({ length: 30 }, (_, index) => `word ${index}`);
  await Promise.all(texts.map((text) => demo.sendForTask(followUp(begun, text), { returnImmediately: true })));
  const task = await demo.getTask(begun.id);
  assert.deepEqual(task.history?.slice(1).map(textOf).sort(), texts.sort());
  await demo.cancelTask(begun.id);
});
