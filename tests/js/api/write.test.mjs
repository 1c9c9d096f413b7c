// Texts that stream into an artifact: js/api/write.js.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { Task, executor, settled } from "./engine.mjs";

const taskOf = (execute) => new Task({ executors: { poet: executor({ execute }) } });
const later = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** Yields pieces with pauses in which the gathered ones are passed on. */
async function* slowly(pieces, ms = 80) {
  for (const piece of pieces) {
    yield piece;
    await later(ms);
  }
}

describe("a text that is written", () => {
  test("comes in chunks, and is given whole", async () => {
    let whole;
    const task = taskOf(async (turn) => {
      whole = await turn.write(slowly(["Roses ", "are red"]), { id: "poem", name: "Poem" });
    });
    await task.execute();
    assert.equal(whole, "Roses are red");
    assert.deepEqual(task.said, [
      { do: "artifact", id: "poem", name: "Poem", parts: [{ text: "Roses " }], more: true },
      { do: "append", id: "poem", text: "are red", last: false },
      { do: "append", id: "poem", text: "", last: true },
      { do: "complete" },
    ]);
  });

  test("is one artifact where its pieces follow each other closely", async () => {
    const task = taskOf((turn) => turn.write((out) => ["a", "b", "c"].forEach(out.write)).then(() => {}));
    await task.execute();
    assert.deepEqual(task.said[0], { do: "artifact", id: "result", parts: [{ text: "abc" }] });
  });

  test("comes from bytes, also where a letter is cut", async () => {
    const bytes = new TextEncoder().encode("Grüße 🌹");
    for (const size of [1, 2, 3, 5]) {
      const pieces = Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) => bytes.slice(index * size, (index + 1) * size));
      const task = taskOf((turn) => turn.write(ReadableStream.from(pieces)).then(() => {}));
      await task.execute();
      assert.equal(task.artifact("result"), "Grüße 🌹");
    }
  });

  test("never holds half of a surrogate pair", async () => {
    const task = taskOf((turn) => turn.write(slowly(["a\ud83c", "\udf39b", "\ud83c"])).then(() => {}));
    await task.execute();
    assert.deepEqual(task.said.filter(({ do: verb }) => verb !== "complete").map((verb) => verb.text ?? verb.parts[0].text), ["a", "🌹b", "\ufffd"]);
  });

  test("has parts among its texts", async () => {
    const task = taskOf((turn) => turn.write(slowly(["a", { url: "https://a.example" }, { text: "b" }], 0)));
    await task.execute();
    assert.deepEqual(task.said.slice(0, 4), [
      { do: "artifact", id: "result", parts: [{ text: "a" }], more: true },
      { do: "append", id: "result", parts: [{ url: "https://a.example" }] },
      { do: "append", id: "result", parts: [{ text: "b" }] },
      { do: "append", id: "result", text: "", last: true },
    ]);
    assert.equal(task.artifact("result-2"), "ab");
  });

  test("is empty where nothing comes", async () => {
    const task = taskOf((turn) => turn.write(slowly([])).then(() => {}));
    await task.execute();
    assert.deepEqual(task.said[0], { do: "artifact", id: "result", parts: [{ text: "" }] });
  });

  test("is not written again, and is read from its artifact", async () => {
    const given = [];
    let written = 0;
    const task = taskOf(async (turn) => {
      given.push(await turn.write(() => void (written += 1), { id: "log" }), await turn.write((out) => out.write("poem"), { id: "poem" }));
    });
    await task.execute();
    const said = task.said.length;
    await task.execute();
    assert.deepEqual(given, ["", "poem", "", "poem"]);
    assert.equal(written, 1);
    assert.deepEqual(task.said.slice(said), [{ do: "complete" }]);
  });

  test("fails as its source does", async () => {
    const task = taskOf((turn) => turn.write((async function* () {
      yield "a";
      throw new Error("the model is gone");
    })()));
    assert.equal((await task.execute()).failed, "the model is gone");
    assert.deepEqual(task.steps.get("write result#1"), { failed: "error: the model is gone" });
  });

  test("ends with the run, and tells its source", async () => {
    let isClosed = false;
    const source = {
      [Symbol.asyncIterator]: () => ({
        next: () => new Promise(() => {}),
        return: async () => ((isClosed = true), { done: true, value: undefined }),
      }),
    };
    const run = taskOf((turn) => turn.write(source)).begin();
    await settled();
    run.over("canceled");
    assert.equal(await run.end, "");
    await settled();
    assert.equal(isClosed, true);
  });

  test("takes streams and functions, and says so", async () => {
    for (const source of ["a text", ["a"], { a: 1 }, undefined]) {
      const { failed } = await taskOf((turn) => turn.write(source)).execute();
      assert.match(failed, /turn\.write\(\) takes an async iterable, a ReadableStream, or a function/);
    }
    assert.match((await taskOf((turn) => turn.write(slowly([5]))).execute()).failed, /a piece of artifact "result"/);
  });
});
