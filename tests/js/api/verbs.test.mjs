// Programs of docs/http-agents.md in the Worker: js/verbs.js, js/api/saying.js.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { Task, message, settled } from "./engine.mjs";

const { fromVerbs } = await import("../../../js/verbs.js");
const taskOf = (answer, turn) => {
  const task = new Task({ executors: { poet: fromVerbs(answer) } }, turn);
  Object.assign(task.answers, { credentials: async () => "" });
  return task;
};
const later = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

describe("a program", () => {
  test("gets the turn as it is posted to agents behind HTTP", async () => {
    let seen;
    const task = taskOf((turn) => {
      seen = turn;
      return [{ do: "complete" }];
    }, { number: 2, attempt: 2, metadata: { trial: true }, acceptedOutputModes: ["text/plain"] });
    task.answers.credentials = async () => '{"token":"t"}';
    task.answers.task = '{"id":"task-1"}';
    await task.execute();
    const { timeLeftMs, ...others } = seen;
    assert.ok(timeLeftMs > 0 && timeLeftMs <= 60_000);
    assert.deepEqual(others, {
      version: "1", agent: "shop", taskId: "task-1", contextId: "context-1", turn: 2, attempt: 2, resumes: true, message: message("hello"), history: [message("hello")],
      caller: { id: "ada", permissions: ["buy"] }, acceptedOutputModes: ["text/plain"], metadata: { trial: true }, credentials: { token: "t" }, task: { id: "task-1" },
    });
  });

  test("answers with verbs, and artifacts without ids are numbered", async () => {
    const task = taskOf(async function* () {
      yield { do: "working", text: "looking for rhymes" };
      yield { do: "artifact", text: "Roses ", more: true, name: "Poem" };
      yield { do: "append", text: "are " };
      yield { do: "append", text: "red" };
      yield { do: "artifact", data: { lines: 1 }, mediaType: "application/json" };
      yield { do: "complete", text: "done" };
    }, { number: 3 });
    assert.equal(await task.execute(), undefined);
    assert.deepEqual(task.said, [
      { do: "working", text: "looking for rhymes" },
      { do: "artifact", id: "artifact-3-1", name: "Poem", more: true, parts: [{ text: "Roses " }] },
      { do: "append", id: "artifact-3-1", text: "are red", last: false },
      { do: "artifact", id: "artifact-3-2", more: false, parts: [{ data: { lines: 1 }, mediaType: "application/json" }] },
      { do: "append", id: "artifact-3-1", text: "", last: true },
      { do: "complete", text: "done" },
    ]);
  });

  test("shows its texts while it goes on", async () => {
    const task = taskOf(async function* () {
      yield { do: "artifact", text: "a", more: true };
      yield { do: "append", text: "b" };
      await later(80);
      assert.equal(task.said.length, 2);
      yield { do: "append", raw: new Uint8Array([1]), last: true };
      yield { do: "fail", parts: [{ text: "enough" }] };
    });
    assert.equal(await task.execute(), undefined);
    assert.deepEqual(task.said.slice(1), [
      { do: "append", id: "artifact-1-1", text: "b", last: false }, { do: "append", id: "artifact-1-1", last: true, parts: [{ raw: "AQ==" }] }, { do: "fail", parts: [{ text: "enough" }] },
    ]);
  });

  test("tells its usage, between texts that grow and with the end", async () => {
    const usage = { inputTokens: 12, outputTokens: 3, costMicros: 45 };
    const task = taskOf(async function* () {
      yield { do: "artifact", text: "a", more: true };
      yield { do: "append", text: "b" };
      yield { do: "usage", inputTokens: 5 };
      yield { do: "append", text: "c" };
      yield { do: "complete", usage };
    });
    assert.equal(await task.execute(), undefined);
    assert.deepEqual(task.said.slice(1), [
      { do: "usage", inputTokens: 5 }, { do: "append", id: "artifact-1-1", text: "bc", last: false }, { do: "append", id: "artifact-1-1", text: "", last: true }, { do: "complete", usage },
    ]);
    const parted = taskOf(() => [{ do: "reply", text: "hi", usage }]);
    assert.equal(await parted.execute(), undefined);
    assert.deepEqual(parted.said, [{ do: "reply", text: "hi", usage }]);
  });

  test("may go on with an artifact of an earlier answer", async () => {
    const task = taskOf(() => [{ do: "append", id: "log", text: "more" }, { do: "complete" }]);
    task.answers.task = '{"artifacts":[{"artifactId":"log"}]}';
    assert.equal(await task.execute(), undefined);
    assert.deepEqual(task.said.map(({ do: verb, text }) => [verb, text]), [["append", "more"], ["append", ""], ["complete", undefined]]);
  });

  test("that is wrong is told where, and what would be right", async () => {
    const end = { do: "complete" };
    for (const [verbs, told] of [
      [[], /^no verb has ended the answer; its last one is one of complete, fail/],
      [[{ do: "working" }], /^no verb has ended the answer/],
      [[end, { do: "working" }], /^verb 2: it stands behind the end of the answer/],
      [[{ do: "append", text: "a" }], /^verb 1: it appends to nothing/],
      [[{ do: "append", id: "x", text: "a" }], /^verb 1: artifact x was never begun/],
      [[{ do: "artifact", text: "a" }, { do: "append", text: "b" }], /^verb 2: artifact artifact-1-1 is complete, so nothing can be appended to it: give it with `"more": true`/],
      [[{ do: "artifact", text: "a", more: true }, { do: "append", text: "b", last: true }, { do: "append", text: "c" }], /^verb 3: .*let only the last `append` have/],
      [[{ do: "artifact", parts: "a" }], /^verb 1: `parts` must be a list of parts/],
      [[{ do: "working", text: new Map() }], /^verb 1: a verb is not JSON: \.text is a Map/],
      ["text", /a program gives verbs one by one/],
      [undefined, /a program gives verbs one by one/],
    ]) {
      const { failed, isFailure } = await taskOf(() => verbs).execute();
      assert.match(failed, told);
      assert.equal(isFailure, false);
    }
  });

  test("is refused by the engine with the place of the verb", async () => {
    const task = taskOf(() => [{ do: "complete" }, { do: "complete" }].slice(0, 1).toSpliced(0, 0, { do: "dance" }));
    task.answers.say = (verb) => {
      if (verb.includes("dance")) throw 'there is no verb "dance"';
    };
    assert.equal((await task.execute()).failed, 'verb 1: there is no verb "dance"');
  });

  test("is closed when the task is canceled", async () => {
    const seen = [];
    const task = taskOf(async function* () {
      try {
        yield { do: "working" };
        yield await later(5);
      } finally {
        seen.push("closed");
      }
    });
    const run = task.begin();
    await settled();
    run.over("canceled");
    assert.equal(await run.end, "");
    await later(20);
    assert.deepEqual(seen, ["closed"]);
    assert.deepEqual(task.said, [{ do: "working" }]);
  });

  test("is answered again after a crash, unless it is to fail", () => {
    const recovery = (options) => JSON.parse(new Task({ executors: { poet: fromVerbs(() => [], options) } }).functions.describe()).executors[0].recovery;
    assert.deepEqual([recovery(), recovery({ recovery: "fail" })], ["restart", "fail"]);
  });
});
