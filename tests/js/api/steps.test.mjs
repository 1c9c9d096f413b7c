// Steps: done once, with their outcomes stored: js/api/steps.js.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { Failure, Task, executor, settled, tool } from "./engine.mjs";

const taskOf = (execute) => new Task({ executors: { orders: executor({ execute }) } });

describe("a step", () => {
  test("is done once, and gives its stored result in the next attempt", async () => {
    let done = 0;
    const task = taskOf((turn) => turn.step("draw", async () => ({ lot: (done += 1) })));
    await task.execute();
    await task.execute();
    assert.equal(done, 1);
    assert.deepEqual(task.said.filter(({ do: verb }) => verb === "artifact").map(({ parts }) => parts[0].data), [{ lot: 1 }, { lot: 1 }]);
  });

  test("gives what is stored also the first time", async () => {
    const given = { at: undefined, list: [1] };
    let first;
    await taskOf(async (turn) => {
      first = await turn.step("a", () => given);
    }).execute();
    assert.deepEqual(Object.keys(first), ["list"]);
    assert.notEqual(first.list, given.list);
  });

  test("without a result gives none", async () => {
    let results = [];
    const task = taskOf(async (turn) => void results.push(await turn.step("mail", () => {})));
    await task.execute();
    await task.execute();
    assert.deepEqual(results, [null, null]);
    assert.deepEqual(task.steps.get("mail#1"), { done: null });
  });

  test("of the same name is another one", async () => {
    const task = taskOf(async (turn) => [await turn.step("a", () => 1), await turn.step("a", () => 2), await turn.step("b", () => 3)]);
    await task.execute();
    await task.execute();
    assert.deepEqual([...task.steps.keys()], ["a#1", "a#2", "b#1"]);
    assert.deepEqual(task.said.at(-2).parts, [{ data: [1, 2, 3] }]);
  });

  test("begins when it is called, so that steps at the same time keep their numbers", async () => {
    const later = (ms, value) => new Promise((resolve) => setTimeout(resolve, ms, value));
    const task = taskOf((turn) => Promise.all([turn.step("a", () => later(20, "first")), turn.step("a", () => later(1, "second"))]));
    await task.execute();
    assert.deepEqual([task.steps.get("a#1"), task.steps.get("a#2")], [{ done: "first" }, { done: "second" }]);
  });

  test("gets a key of its own, and the number of the attempt", async () => {
    const seen = [];
    const task = taskOf((turn) => turn.step("mail Ä", (attempt) => {
      seen.push(attempt);
      if (attempt.attempt === 1) throw new Error("again");
    }, { retry: { attempts: 2, delay: 1 } }));
    await task.execute();
    assert.deepEqual(seen.map(({ attempt, idempotencyKey }) => [attempt, idempotencyKey]), [[1, "key/mail%20%C3%84/1"], [2, "key/mail%20%C3%84/1"]]);
    assert.ok(seen[0].signal instanceof AbortSignal);
  });

  test("needs a name and a function", async () => {
    for (const args of [["a"], [() => 1], [5, () => 1]]) {
      assert.match((await taskOf((turn) => turn.step(...args)).execute()).failed, /a step needs a name and a function/);
    }
    assert.match((await taskOf((turn) => turn.step("a", () => 1, { retry: 0 })).execute()).failed, /attempts of a step must be a whole number from 1 on, got 0/);
  });

  test("that is still under way when the function returns, ends or waits is named", async () => {
    const never = () => new Promise(() => {});
    for (const end of [() => undefined, () => "done", (turn) => turn.ask("?"), (turn) => turn.wait("1 day")]) {
      const task = taskOf((turn) => {
        void turn.step("mail", never);
        return end(turn);
      });
      assert.match((await task.execute()).failed, /the step "mail" is still under way: await it before/);
      assert.deepEqual(task.said, []);
    }
  });

  test("in a tool is one of the call", async () => {
    const task = new Task({ tools: { reserve: tool({ description: "Reserves.", inputSchema: { type: "object" }, execute: (_, call) => call.step("a", () => "A1") }) } });
    assert.deepEqual(await task.call("reserve"), { parts: [{ text: "A1" }] });
    assert.deepEqual(await task.call("reserve"), { parts: [{ text: "A1" }] });
    assert.deepEqual([...task.steps.keys()], ["a#1"]);
  });
});

describe("a step that fails", () => {
  test("fails alike in the next attempt, also in what callers read", async () => {
    for (const [error, stored, told] of [
      [new Failure("sold out"), "tool: sold out", { failed: "sold out", fault: "tool", isFailure: true }],
      [new Failure("no such hall", { fault: "arguments" }), "arguments: no such hall", { failed: "no such hall", fault: "arguments", isFailure: true }],
      [new Failure("upstream: odd\ntext", { fault: "upstream" }), "upstream: upstream: odd\ntext", { failed: "upstream: odd\ntext", fault: "upstream", isFailure: true }],
      [new Error("tool: the key is 5"), "error: tool: the key is 5", { failed: "tool: the key is 5", isFailure: false }],
    ]) {
      let done = 0;
      const task = taskOf((turn) => turn.step("reserve", () => {
        done += 1;
        throw error;
      }));
      const { stack: _, ...first } = await task.execute();
      const { stack: __, ...second } = await task.execute();
      assert.deepEqual(task.steps.get("reserve#1"), { failed: stored });
      assert.deepEqual([first, second, done], [told, told, 1]);
    }
  });

  test("can be caught, and the run goes on", async () => {
    const task = taskOf(async (turn) => {
      const seat = await turn.step("reserve", () => Promise.reject(new Error("no"))).catch(() => "a standing place");
      return seat;
    });
    assert.equal(await task.execute(), undefined);
    assert.equal(task.artifact("result"), "a standing place");
  });

  test("is tried again as often as it says, but not if the arguments are at fault", async () => {
    for (const [error, retry, expected] of [
      [new Error("no"), { attempts: 3, delay: 1 }, 3],
      [new Failure("no", { fault: "upstream", retryAfter: 1 }), { attempts: 2, delay: "1 ms", maxDelay: "2 ms" }, 2],
      [new Failure("no", { fault: "arguments" }), 3, 1],
      [new Error("no"), undefined, 1],
    ]) {
      let done = 0;
      await taskOf((turn) => turn.step("a", () => {
        done += 1;
        throw error;
      }, { retry })).execute();
      assert.equal(done, expected);
    }
  });

  test("because it took too long aborts its signal", async () => {
    let signal;
    const task = taskOf((turn) => turn.step("slow", (attempt) => {
      ({ signal } = attempt);
      return new Promise(() => {});
    }, { timeout: "5 ms" }));
    assert.match((await task.execute()).failed, /step "slow" was not done within 5 ms/);
    assert.equal(signal.aborted, true);
  });

  test("because its result is no JSON says where", async () => {
    const task = taskOf((turn) => turn.step("reserve", () => ({ seats: [{ at: new Date() }] })));
    const { failed } = await task.execute();
    assert.equal(failed, 'the result of step "reserve" is not JSON: .seats[0].at is a Date; write date.toISOString()');
    assert.match(task.steps.get("reserve#1").failed, /^error: the result/);
  });

  test("because its result is too large is stored by the engine", async () => {
    const task = taskOf((turn) => turn.step("reserve", () => "x".repeat(2_000)));
    assert.match((await task.execute()).failed, /gave a result of 2002 bytes/);
    assert.deepEqual(task.steps.get("reserve#1"), { failed: "too large" });
    assert.deepEqual(task.asked.filter(([name]) => name === "endStep").length, 1);
  });

  test("because the run was canceled is not stored, so that nothing counts as done", async () => {
    const task = taskOf((turn) => turn.step("slow", ({ signal }) => new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)))));
    const run = task.begin();
    run.over("canceled");
    assert.equal(await run.end, "");
    await settled();
    assert.equal(task.steps.size, 0);
  });
});
