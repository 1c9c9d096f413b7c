// Agents of kind "model" in a Worker whose process is killed at the important points, with a model that never repeats an answer.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { followUp, message, textOf, until, untilEnded, type Task } from "./client.ts";
import { calls, held, say, resultsIn, type Answer, type Asked } from "./model-server.ts";
import { withThinkers } from "./models.ts";
import { EventStream } from "./stream.ts";

const thinking = withThinkers({}, { KEEP_ALIVE_MS: "1000" });
const thinker = () => thinking.agent();
const answerOf = (task: Task) => textOf(task.artifacts?.findLast(({ artifactId }) => artifactId.startsWith("answer")));

/** The model's answer to the request with this number. */
const saying = ({ number }: Asked): string[] => [`answer ${number}: `, "one, ", "two, ", `three of ${number}`];
const whole = (asked: Asked): string => saying(asked).join("");
/** An answer that is held after this number of events the first time, and is complete afterwards. */
const onceHeld = (count: number): ((asked: Asked) => Answer) => {
  let isFirst = true;
  return (asked) => {
    const answer = say(saying(asked));
    if (!isFirst) return answer;
    isFirst = false;
    return held(answer, count);
  };
};
const order = (item: string, id: string): [string, object, string] => ["order", { item }, id];

describe("a Worker that is killed", () => {
  for (const [name, count, seen] of [["before the first word", 1, ""], ["behind the first word", 2, "answer"], ["behind the last word", 5, "three"]] as const) {
    test(`in the middle of an answer, ${name}, gives one answer of the model`, async () => {
      thinking.model.answerWith(onceHeld(count));
      const { id } = await thinker().sendForTask("go", { returnImmediately: true });
      const first = await until(async () => thinking.model.asked.at(-1), (asked) => asked !== undefined && thinking.model.waiting === 1);
      await until(() => thinker().getTask(id), (task) => answerOf(task).includes(seen));
      await thinking.killAndRestart();
      const task = await untilEnded(thinker(), id);
      thinking.model.release();
      assert.equal(task.status.state, "TASK_STATE_COMPLETED", textOf(task.status.message));
      assert.notEqual(thinking.model.last, first);
      assert.equal(answerOf(task), whole(thinking.model.last));
    });
  }

  test("in the middle of an answer shows those who follow what is read of the task", async () => {
    thinking.model.answerWith(onceHeld(3));
    const { id } = await thinker().sendForTask("go", { returnImmediately: true });
    await until(() => thinker().getTask(id), (task) => answerOf(task).includes("one, "));
    await thinking.killAndRestart();
    const stream = await EventStream.open(thinker().endpoint, "SubscribeToTask", { id });
    let text = "";
    const texts = [];
    for await (const { data } of stream) {
      if (data.result?.task !== undefined) text = answerOf(data.result.task);
      const update = data.result?.artifactUpdate;
      if (update !== undefined) text = (update.append === true ? text : "") + textOf(update.artifact);
      texts.push(text);
    }
    thinking.model.release();
    assert.equal(text, answerOf(await thinker().getTask(id)));
    assert.equal(text, whole(thinking.model.last));
    const wholes = thinking.model.asked.map(whole);
    assert.ok(texts.every((seen) => wholes.some((known) => known.startsWith(seen))), texts.join("|"));
  });

  test("in the middle of a call makes it again with its key, and no other one", async () => {
    thinking.sink.plan("/orders/first", { body: "first is done" });
    thinking.sink.plan("/orders/second", "hold", { body: "second is done" });
    thinking.model.answerWith((asked) => {
      const isBegin = asked.body.messages.every(({ role }) => role !== "tool");
      return isBegin ? calls([order("first", "a"), order("second", "b")]) : say(saying(asked));
    });
    const before = thinking.model.asked.length;
    const { id } = await thinker().sendForTask("both", { returnImmediately: true });
    await thinking.sink.arrival("/orders/second");
    // The result of the first call is stored when the second call is made.
    await until(async () => thinking.sink.count("/orders/first"), (count) => count === 1);
    await thinking.killAndRestart();
    const task = await untilEnded(thinker(), id);
    assert.equal(answerOf(task), whole(thinking.model.last));
    assert.equal(thinking.model.asked.length - before, 2);
    const keys = thinking.sink.arrivals("/orders/second").map(({ headers }) => headers["idempotency-key"]);
    assert.equal(keys.length, 2);
    assert.equal(keys[0], keys[1]);
    const firstKeys = new Set(thinking.sink.arrivals("/orders/first").map(({ headers }) => headers["idempotency-key"]));
    assert.equal(firstKeys.size, 1);
    assert.match(resultsIn(thinking.model.last)["a"] ?? "", /first is done|ok/);
  });

  test("between two rounds does not make the calls again", async () => {
    thinking.sink.plan("/orders/once", { body: "done" });
    let isHeld = false;
    thinking.model.answerWith((asked) => {
      if (asked.body.messages.every(({ role }) => role !== "tool")) return calls([order("once", "a")]);
      const answer = say(saying(asked));
      if (isHeld) return answer;
      isHeld = true;
      return held(answer, 0);
    });
    const { id } = await thinker().sendForTask("once", { returnImmediately: true });
    await until(async () => thinking.model.waiting, (waiting) => waiting === 1);
    await thinking.killAndRestart();
    const task = await untilEnded(thinker(), id);
    thinking.model.release();
    assert.equal(answerOf(task), whole(thinking.model.last));
    assert.equal(thinking.sink.count("/orders/once"), 1);
  });

  test("while the user is asked goes on with the conversation", async () => {
    thinking.model.answerWith((asked) => {
      const isBegin = asked.body.messages.every(({ role }) => role !== "tool");
      return isBegin ? calls([["ask_user", { question: `Which seat, ${asked.number}?` }, "q"]]) : say(saying(asked));
    });
    const asked = await thinker().sendForTask("book");
    const question = textOf(asked.status.message);
    assert.equal(question, `Which seat, ${thinking.model.last.number}?`);
    await thinking.killAndRestart();
    const done = await thinker().sendForTask(followUp(asked, "4A"));
    assert.equal(answerOf(done), whole(thinking.model.last));
    const told = thinking.model.last.body.messages.find(({ tool_calls: made }) => made !== undefined);
    assert.match(told?.tool_calls?.[0]?.function.arguments ?? "", new RegExp(question.replace("?", "\\?")));
    assert.deepEqual(resultsIn(thinking.model.last), { q: "4A" });
  });

  test("again and again in the middle of answers gives one of them, and counts its usage and the requests that were lost", async () => {
    // A run is started at most three times.
    let left = 2;
    thinking.model.answerWith((asked) => {
      const answer = say(saying(asked), { usage: [100 + asked.number, 1] });
      return left-- > 0 ? held(answer, 3) : answer;
    });
    const { id } = await thinker().sendForTask(message("go"), { returnImmediately: true });
    for (let nth = 1; nth <= 2; nth++) {
      await until(async () => thinking.model.waiting, (waiting) => waiting === nth);
      await thinking.killAndRestart();
    }
    const task = await untilEnded(thinker(), id);
    thinking.model.release();
    assert.equal(task.status.state, "TASK_STATE_COMPLETED", textOf(task.status.message));
    assert.equal(answerOf(task), whole(thinking.model.last));
    const repeated = { requests: 2, inputTokens: 0, outputTokens: 0 };
    const usage = { requests: 3, inputTokens: 100 + thinking.model.last.number, outputTokens: 1, repeated };
    assert.deepEqual(task.metadata?.["urn:a2a-edge:usage"], usage);
  });
});
