// Turns of agents of kind "model" that reach a limit: of their agent, or of their caller's daily use (docs/models.md, "Limits").
import assert from "node:assert/strict";
import { beforeEach, describe, test } from "node:test";
import { followUp, message, textOf, until, type Agent, type RpcError, type Task } from "./client.ts";
import type { Database } from "./harness.ts";
import { calls, resultsIn, say } from "./model-server.ts";
import { withThinkers } from "./models.ts";

const DAY_MS = 86_400_000;
// A test that uses up a limit has its own agent.
const daily = { table: { limits: { caller_tokens_per_day: 100 } } };
const thinking = withThinkers({ tired: daily, curious: daily, cheap: daily, terse: { table: { limits: { rounds: 1 } } } });

let opened: Promise<Database> | undefined;
const database = (): Promise<Database> => (opened ??= thinking.worker.index());
// A test must not run across midnight.
beforeEach(async () => {
  const left = DAY_MS - (Date.now() % DAY_MS);
  if (left < 20_000) await new Promise((resolve) => setTimeout(resolve, left));
});

const ask = (question: string): [string, object, string] => ["ask_user", { question }, "q"];
const order = (item: string): [string, object, string] => ["order", { item }, "o"];
const usageOf = ({ metadata }: Task) => metadata?.["urn:a2a-edge:usage"] as Record<string, number> | undefined;
const sumsOf = async (agent: string) =>
  (await (await database()).prepare("SELECT turns, input_tokens + output_tokens AS tokens FROM usage WHERE agent = ?1").bind(agent).run<{ turns: number; tokens: number }>()).results;
const refused = (error: RpcError) => error.code === -32603 && error.reason === "USED_UP";

/** A send over either binding is refused, begins nothing, and does not call the model. */
async function assertRefused(agent: Agent, said: object): Promise<void> {
  const [asked, { totalSize }] = [thinking.model.asked.length, await agent.listTasks()];
  await assert.rejects(agent.send(said), refused);
  const headers = { "content-type": "application/json", "a2a-version": "1.0" };
  const response = await fetch(`${agent.endpoint}/message:send`, { method: "POST", headers, body: JSON.stringify({ message: message(said) }) });
  assert.equal(response.status, 429);
  assert.ok(Number(response.headers.get("retry-after")) > 0);
  assert.match(await response.text(), /you have used up the 100 tokens that this agent lets you use in a day/);
  assert.equal((await agent.listTasks()).totalSize, totalSize, "no task is begun");
  assert.equal(thinking.model.asked.length, asked, "the model is asked nothing");
}

describe("a caller that uses up its day in the middle of a turn", () => {
  test("gets a task that failed and says so, and is refused then", async () => {
    const agent = thinking.agent("tired");
    thinking.model.answers(calls([order("tea")], { usage: [90, 20] }), say("never said"));
    const before = thinking.model.asked.length;
    const task = await agent.sendForTask("tea, please");
    assert.equal(task.status.state, "TASK_STATE_FAILED");
    assert.equal(textOf(task.status.message), "the model has come to no answer: the caller has used up the tokens of the day");
    assert.equal(thinking.model.asked.length, before + 1);
    assert.equal(thinking.sink.count("/orders/tea"), 1, "what the answer called was called");
    assert.deepEqual([usageOf(task)?.["requests"], usageOf(task)?.["inputTokens"], usageOf(task)?.["outputTokens"]], [1, 90, 20]);
    await until(() => sumsOf("tired"), ([sum]) => sum?.turns === 1 && sum.tokens === 110);
    await assertRefused(agent, { parts: [{ text: "tea, please" }] });
    assert.equal((await agent.getTask(task.id)).status.state, "TASK_STATE_FAILED", "tasks can be read");
    thinking.model.answers(say("hello"));
    assert.equal((await thinking.agent().sendForTask("hi")).status.state, "TASK_STATE_COMPLETED", "each agent has its own sums");
  });

  test("is asked what the last answer asks; the answer waits for another day", async () => {
    const agent = thinking.agent("curious");
    thinking.model.answers(calls([ask("Which tea?")], { usage: [90, 20] }));
    const task = await agent.sendForTask("tea, please");
    assert.deepEqual([task.status.state, textOf(task.status.message)], ["TASK_STATE_INPUT_REQUIRED", "Which tea?"]);
    await until(() => sumsOf("curious"), ([sum]) => sum?.tokens === 110);
    await assertRefused(agent, followUp(task, "green"));
    assert.equal((await agent.getTask(task.id)).status.state, "TASK_STATE_INPUT_REQUIRED", "the question stays");
    // Deleting the sum simulates another day.
    await (await database()).prepare("DELETE FROM usage WHERE agent = 'curious'").run();
    thinking.model.answers(say("Green it is."));
    const ended = await agent.sendForTask(followUp(task, "green"));
    assert.equal(textOf(ended.artifacts?.at(-1)), "Green it is.");
    assert.deepEqual(resultsIn(thinking.model.last), { q: "green" });
  });

  test("gets the answer that has used up the rest", async () => {
    thinking.model.answers(say("Here it is.", { usage: [90, 20] }));
    const task = await thinking.agent("cheap").sendForTask("tea, please");
    assert.deepEqual([task.status.state, textOf(task.artifacts?.at(-1))], ["TASK_STATE_COMPLETED", "Here it is."]);
  });
});

describe("the last round of a turn", () => {
  test("may ask the user, and the answer begins a turn with rounds of its own", async () => {
    thinking.model.answers(calls([ask("Which seat?")]), say("4A is yours."));
    const asked = await thinking.agent("terse").sendForTask("a seat");
    assert.deepEqual([asked.status.state, textOf(asked.status.message)], ["TASK_STATE_INPUT_REQUIRED", "Which seat?"]);
    const ended = await thinking.agent("terse").sendForTask(followUp(asked, "4A"));
    assert.deepEqual([ended.status.state, textOf(ended.artifacts?.at(-1))], ["TASK_STATE_COMPLETED", "4A is yours."]);
    assert.deepEqual(resultsIn(thinking.model.last), { q: "4A" });
  });

  test("makes the calls that stand beside its question once, and the next turn is told what they said", async () => {
    thinking.sink.plan("/orders/blanket", { body: "a blanket" });
    thinking.model.answers(calls([order("blanket"), ask("Which seat?")]), say("4A is yours."));
    const asked = await thinking.agent("terse").sendForTask("a seat and a blanket");
    assert.equal(textOf(asked.status.message), "Which seat?");
    await thinking.agent("terse").sendForTask(followUp(asked, "4A"));
    const told = resultsIn(thinking.model.last);
    assert.equal(told["q"], "4A");
    assert.match(told["o"] ?? "", /a blanket/);
    assert.equal(thinking.sink.count("/orders/blanket"), 1);
  });

  test("fails the task if it calls tools and asks nothing, and makes none of the calls", async () => {
    thinking.model.answers(calls([order("pillow")]));
    const task = await thinking.agent("terse").sendForTask("a pillow");
    assert.equal(task.status.state, "TASK_STATE_FAILED");
    assert.match(textOf(task.status.message), /^the model has come to no answer: it was asked 1 times, which is the limit \(limits\.rounds\)/);
    assert.equal(thinking.sink.count("/orders/pillow"), 0);
  });
});
