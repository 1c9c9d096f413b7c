// Waits outside of memory, and callbacks: js/api/waits.js.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { Task, executor, settled } from "./engine.mjs";

const taskOf = (execute) => new Task({ executors: { orders: executor({ execute }) } });
const waited = (task) => task.asked.filter(([name]) => name === "wait").map(([, json]) => JSON.parse(json));

describe("a wait", () => {
  test("passes its end to the engine", async () => {
    const at = new Date(1_767_607_201_250);
    for (const [wait, expected] of [
      [5, { forMs: 5 }],
      ["3 days", { forMs: 259_200_000 }],
      ["1.5 hours", { forMs: 5_400_000 }],
      [at, { untilMs: 1_767_607_201_250 }],
      [{ for: "1 week", orMessage: true }, { forMs: 604_800_000, orMessage: true }],
      [{ until: at, orMessage: true }, { untilMs: 1_767_607_201_250, orMessage: true }],
      [{ until: at }, { untilMs: 1_767_607_201_250 }],
    ]) {
      const task = taskOf((turn) => turn.wait(wait));
      task.woken.push("time");
      assert.equal(await task.execute(), undefined);
      assert.deepEqual(waited(task), [expected]);
      assert.equal(task.artifact("result"), "time");
    }
  });

  test("tells what it takes", async () => {
    for (const [wait, told] of [
      [{ orMessage: true }, /a wait needs one of `for` and `until`/],
      [{ for: 1, until: new Date(), orMessage: true }, /a wait needs one of/],
      [new Date("never"), /Invalid Date is no instant/],
      [{ until: 5 }, /5 is no instant: give a valid Date/],
      ["soon", /"soon" is no duration/],
    ]) {
      assert.match((await taskOf((turn) => turn.wait(wait)).execute()).failed, told);
    }
  });

  test("that parks the run leaves it where it is: nothing behind it goes on, and no finally runs", async () => {
    const seen = [];
    const task = taskOf(async (turn) => {
      try {
        await turn.wait("1 day");
        seen.push("went on");
      } finally {
        seen.push("finally");
      }
    });
    const run = task.begin();
    await settled();
    run.over("parked");
    await settled();
    assert.deepEqual(seen, []);
  });
});

describe("a callback", () => {
  test("has a URL, and waits for what is posted", async () => {
    const task = taskOf(async (turn) => {
      const paid = turn.callback("paid", { uses: 2, within: "7 days" });
      const answer = await paid.wait("1 day");
      return [paid.url, answer];
    });
    task.woken.push("callback");
    task.posted.push({ data: { euros: 49 }, mediaType: "application/json" });
    await task.execute();
    assert.deepEqual(task.asked.find(([name]) => name === "callback"), ["callback", "paid", 2, 604_800_000]);
    assert.deepEqual(waited(task), [{ forMs: 86_400_000, callback: { name: "paid", nth: 1 } }]);
    assert.deepEqual(task.said[0].parts, [{ data: ["https://agents.example/paid", { by: "call", body: { data: { euros: 49 }, mediaType: "application/json" } }] }]);
  });

  test("ends by time or by a message, too, and lasts 30 days unless it says otherwise", async () => {
    for (const [by, wait] of [["time", "1 day"], ["message", { for: "1 day", orMessage: true }]]) {
      const task = taskOf(({ callback }) => callback("paid").wait(wait));
      task.woken.push(by);
      await task.execute();
      assert.deepEqual(task.said[0].parts, [{ data: { by } }]);
      assert.deepEqual(task.asked.find(([name]) => name === "callback"), ["callback", "paid", 1, 0]);
    }
  });
});
