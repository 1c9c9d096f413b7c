// A model that asks the user a question together with other calls: the shown states, and that the user's answer
// continues all of them.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { followUp, textOf, until, type Task } from "./client.ts";
import { calls, contentOf, resultsIn, say } from "./model-server.ts";
import { withThinkers } from "./models.ts";

const thinking = withThinkers({}, { KEEP_ALIVE_MS: "1000" });
const thinker = () => thinking.agent();

const ask = (question: string, id = "q"): [string, object, string] => ["ask_user", { question }, id];
const order = (item: string, id = "o"): [string, object, string] => ["order", { item }, id];
const asked = (id: string): Promise<Task> => until(() => thinker().getTask(id), ({ status }) => status.state !== "TASK_STATE_WORKING");
/** The messages to the model, without its instructions. */
const said = (): string[] => thinking.model.last.body.messages.slice(1).map((one) => {
  const made = one.tool_calls?.map(({ function: { name } }) => name).join(" and ");
  return `${one.role}: ${made ?? contentOf(one)}`;
});

describe("a question beside a call that is under way", () => {
  test("waits for its end, and the answer goes on in the same conversation (§3.4.3)", async () => {
    thinking.sink.plan("/orders/coffee", "hold");
    thinking.model.answers(calls([ask("With milk?"), order("coffee")]), say("Coffee with milk."));
    const before = thinking.model.asked.length;
    const { id } = await thinker().sendForTask("coffee, please", { returnImmediately: true });
    const coffee = await thinking.sink.arrival("/orders/coffee");
    const working = await thinker().getTask(id);
    assert.deepEqual([working.status.state, textOf(working.status.message)], ["TASK_STATE_WORKING", ""]);
    await coffee.answer({ body: "brewed" });
    const waiting = await asked(id);
    assert.deepEqual([waiting.status.state, textOf(waiting.status.message)], ["TASK_STATE_INPUT_REQUIRED", "With milk?"]);
    assert.equal(thinking.model.asked.length, before + 1, "the model is asked nothing before the user has answered");
    const done = await thinker().sendForTask(followUp(waiting, "yes"));
    assert.deepEqual([done.status.state, textOf(done.artifacts?.at(-1))], ["TASK_STATE_COMPLETED", "Coffee with milk."]);
    assert.deepEqual(said().slice(0, 2), ["user: coffee, please", "assistant: ask_user and order"]);
    assert.equal(said().length, 4, "and a result for each call");
    assert.equal(resultsIn(thinking.model.last)["q"], "yes");
    assert.match(resultsIn(thinking.model.last)["o"] ?? "", /brewed/);
    assert.equal(thinking.sink.count("/orders/coffee"), 1);
  });

  test("is asked though the call fails, and the model is told of both", async () => {
    thinking.sink.plan("/orders/soup", { status: 500, body: "burnt" });
    thinking.model.answers(calls([order("soup"), ask("With bread?")]), say("No soup, but bread."));
    const waiting = await thinker().sendForTask("soup, please");
    assert.deepEqual([waiting.status.state, textOf(waiting.status.message)], ["TASK_STATE_INPUT_REQUIRED", "With bread?"]);
    const done = await thinker().sendForTask(followUp(waiting, "yes"));
    assert.equal(textOf(done.artifacts?.at(-1)), "No soup, but bread.");
    assert.equal(resultsIn(thinking.model.last)["q"], "yes");
    assert.match(resultsIn(thinking.model.last)["o"] ?? "", /^error: .*500/);
  });

  test("is asked when the process was killed meanwhile, and the call is made again with its key", async () => {
    thinking.sink.plan("/orders/rice", "hold", { body: "boiled" });
    thinking.model.answers(calls([ask("With peas?"), order("rice")]), say("Rice with peas."));
    const before = thinking.model.asked.length;
    const { id } = await thinker().sendForTask("rice, please", { returnImmediately: true });
    await thinking.sink.arrival("/orders/rice");
    await thinking.killAndRestart();
    const waiting = await asked(id);
    assert.deepEqual([waiting.status.state, textOf(waiting.status.message)], ["TASK_STATE_INPUT_REQUIRED", "With peas?"]);
    const done = await thinker().sendForTask(followUp(waiting, "yes"));
    assert.equal(textOf(done.artifacts?.at(-1)), "Rice with peas.");
    assert.equal(thinking.model.asked.length, before + 2);
    assert.equal(resultsIn(thinking.model.last)["q"], "yes");
    assert.match(resultsIn(thinking.model.last)["o"] ?? "", /boiled/);
    const keys = thinking.sink.arrivals("/orders/rice").map(({ headers }) => headers["idempotency-key"]);
    assert.deepEqual([keys.length, new Set(keys).size], [2, 1]);
  });

  test("is not asked when the task is canceled meanwhile (§3.1.5)", async () => {
    thinking.sink.plan("/orders/cake", "hold");
    thinking.model.answers(calls([ask("With cream?"), order("cake")]), say("never said"));
    const { id } = await thinker().sendForTask("cake, please", { returnImmediately: true });
    const cake = await thinking.sink.arrival("/orders/cake");
    assert.equal((await thinker().cancelTask(id)).status.state, "TASK_STATE_CANCELED");
    await cake.answer({ body: "baked" });
    thinking.model.answers(say("hello"));
    await thinker().sendForTask("hi");
    const { status, history } = await thinker().getTask(id);
    assert.equal(status.state, "TASK_STATE_CANCELED");
    assert.deepEqual(history?.map(textOf), ["cake, please"]);
  });
});

describe("what the client says while the call is under way", () => {
  test("is the answer to the question that comes then, and nothing of it is lost", async () => {
    thinking.sink.plan("/orders/pasta", "hold");
    thinking.model.answers(calls([ask("With cheese?"), order("pasta")]), say("Pasta with cheese."));
    const begun = await thinker().sendForTask("pasta, please", { returnImmediately: true });
    const pasta = await thinking.sink.arrival("/orders/pasta");
    await thinker().sendForTask(followUp(begun, "and cheese"), { returnImmediately: true });
    await pasta.answer({ body: "boiled" });
    const done = await until(() => thinker().getTask(begun.id), ({ status }) => status.state === "TASK_STATE_COMPLETED");
    assert.equal(textOf(done.artifacts?.at(-1)), "Pasta with cheese.");
    assert.equal(resultsIn(thinking.model.last)["q"], "and cheese");
  });
});

test("several questions of one answer are asked together, and the answer is told as that of each", async () => {
  thinking.model.answers(calls([ask("Which seat?", "a"), ask("Which meal?", "b")]), say("Booked."));
  const waiting = await thinker().sendForTask("a flight");
  assert.deepEqual(waiting.status.message?.parts.map(({ text }) => text), ["Which seat?", "Which meal?"]);
  const done = await thinker().sendForTask(followUp(waiting, "4A, and soup"));
  assert.equal(done.status.state, "TASK_STATE_COMPLETED");
  assert.deepEqual(resultsIn(thinking.model.last), { a: "4A, and soup", b: "4A, and soup" });
});
