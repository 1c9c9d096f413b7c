// What goes wrong in one run stays in it, and what a run does after its end: js/api/errors.js, link.js, functions.js.
import assert from "node:assert/strict";
import { describe, mock, test } from "node:test";
import { noteRejection } from "../../../js/api/link.js";
import { Failure, RunOver, Task, executor, settled, tool } from "./engine.mjs";

const taskOf = (execute) => new Task({ executors: { orders: executor({ execute }) } });
const failedOf = async (execute) => (await taskOf(execute).execute()).failed;

const thrower = (value) => () => {
  throw value;
};

describe("what an executor throws", () => {
  test("is for callers only if it is a Failure", async () => {
    const { stack, ...failure } = await taskOf(thrower(new Failure("no seats", { fault: "upstream", cause: new Error("503") }))).execute();
    assert.deepEqual(failure, { failed: "no seats", fault: "upstream", isFailure: true });
    assert.match(stack, /isolation\.test\.mjs[^]*Caused by: Error: 503/);
    const { stack: trace, ...error } = await taskOf(thrower(new TypeError("x is not a function"))).execute();
    assert.deepEqual(error, { failed: "x is not a function", isFailure: false });
    assert.match(trace, /TypeError: x is not a function\n +at .*isolation\.test\.mjs/);
  });

  test("may be anything, and is the end of its run in any case", async () => {
    const hostile = new Proxy({}, { get: thrower(new Error("no")), getPrototypeOf: thrower(new Error("no")) });
    const unreadable = Object.defineProperty(new Error("a"), "message", { get: thrower(new Error("no")) });
    for (const [value, told] of [
      ["a text", /^"a text" was thrown, which is no Error; throw new Failure\("…"\) for a text that callers read$/],
      [undefined, /^undefined was thrown/],
      [null, /^null was thrown/],
      [5n, /^5 was thrown/],
      [Symbol("a"), /^Symbol\(a\) was thrown/],
      [{ code: 5 }, /^Object \{"code":5\} was thrown/],
      [() => 1, /was thrown/],
      [hostile, /an object was thrown that cannot be read/],
      [unreadable, /an object was thrown that cannot be read/],
      [new AggregateError([]), /^AggregateError$/],
    ]) {
      for (const execute of [thrower(value), async () => Promise.reject(value), (turn) => turn.step("a", thrower(value))]) {
        const { failed, isFailure } = await taskOf(execute).execute();
        assert.match(failed, told);
        assert.equal(isFailure, false);
      }
    }
  });

  test("tells what to do about objects of other tasks", async () => {
    const failed = await failedOf(thrower(new Error("Cannot perform I/O on behalf of a different Durable Object. I/O objects (such as streams…)")));
    assert.match(failed, /^Cannot perform I\/O on behalf of a different Durable Object[^]*keep values in them .*open bodies, sockets, streams and stubs in the run/);
  });

  test("is told where the engine refuses", async () => {
    const task = taskOf((turn) => turn.step("a", () => 1));
    task.answers.beginStep = () => {
      throw "a run has at most 1000 steps and waits";
    };
    assert.equal((await task.execute()).failed, "a run has at most 1000 steps and waits");
  });
});

describe("a result that is not JSON", () => {
  const cycle = { name: "a" };
  cycle.self = { cycle };
  class Seat {
    row = 1;
  }
  for (const [what, result, told] of [
    ["a function", { seats: [() => 1] }, ".seats[0] is a function"],
    ["a symbol", Symbol("a"), "it is a symbol"],
    ["a BigInt", { count: 5n }, ".count is a bigint; write String(number)"],
    ["a cycle", cycle, ".self.cycle is the object that it is a part of, a cycle"],
    ["a Map", { seats: new Map() }, ".seats is a Map; write Object.fromEntries(map)"],
    ["a Set", new Set(), "it is a Set; write [...set]"],
    ["a Date", [{ at: new Date() }], "[0].at is a Date; write date.toISOString()"],
    ["an instance of a class", { seat: new Seat() }, ".seat is a Seat"],
    ["a Response", Response.json({}), "it is a Response; write await response.json()"],
    ["a promise", { seat: Promise.resolve(1) }, ".seat is a Promise; write await"],
    ["NaN", { price: Number.NaN }, ".price is NaN"],
    ["an infinite number", [1, Infinity], "[1] is Infinity"],
    ["an error", { error: new Error("a") }, ".error is a Error"],
  ]) {
    test(`is told with its path: ${what}`, async () => {
      const failed = await failedOf(() => result);
      assert.ok(failed.startsWith(`the result is not JSON: ${told}`), failed);
      const made = tool({ description: "Gives it.", inputSchema: { type: "object" }, execute: () => result });
      const answer = await new Task({ tools: { give: made } }).call("give");
      assert.ok(answer.failed.startsWith(`the result of the tool is not JSON: ${told}`), answer.failed);
    });
  }

  test("is told where it is bytes, or nested too deep", async () => {
    assert.match(await failedOf(() => new Uint8Array(3)), /the result is bytes; give a part: \{ raw: bytes/);
    let deep = {};
    for (let depth = 0; depth < 200; depth += 1) deep = { deep };
    assert.match(await failedOf(() => deep), /nested more than 100 levels deep/);
  });

  test("is none: objects of another realm, without a prototype, and the same object twice", async () => {
    const seat = { row: 1 };
    const task = taskOf(() => [Object.assign(Object.create(null), { a: 1 }), seat, seat, structuredClone(seat)]);
    assert.equal(await task.execute(), undefined);
    assert.deepEqual(task.said[0].parts[0].data, [{ a: 1 }, seat, seat, seat]);
  });

  test("is none: text with half of a surrogate pair, which is replaced", async () => {
    const task = taskOf(() => ({ text: "a\ud83c", escaped: "\\ud83c" }));
    await task.execute();
    assert.deepEqual(task.said[0].parts[0].data, { text: "a\ufffd", escaped: "\\ud83c" });
  });
});

describe("a run that is over", () => {
  test("by a cancel rejects what is pending and aborts its signal; catch and finally run, and nothing else counts", async () => {
    const seen = [];
    const task = taskOf(async (turn) => {
      turn.signal.addEventListener("abort", () => seen.push(["signal", turn.signal.reason.why]));
      try {
        await turn.sleep("20 seconds");
      } catch (error) {
        seen.push(["catch", error instanceof RunOver, error.why, error.message]);
        assert.throws(() => turn.working("too late"), RunOver);
        await assert.rejects(turn.step("release", () => 1), { why: "canceled" });
        throw error;
      } finally {
        seen.push(["finally"]);
      }
    });
    const run = task.begin();
    await settled();
    run.over("canceled");
    assert.equal(await run.end, "");
    run.over("over");
    assert.deepEqual(seen, [["signal", "canceled"], ["catch", true, "canceled", "the run is over: its task was canceled"], ["finally"]]);
    assert.deepEqual(task.said, []);
  });

  test("by its time is alike", async () => {
    let why;
    const run = taskOf((turn) => turn.sleep("20 seconds").catch((error) => void ({ why } = error))).begin();
    await settled();
    run.over("timeout");
    await run.end;
    assert.equal(why, "timeout");
  });

  test("by a wait leaves its promises pending, whatever comes, and aborts its signal", async () => {
    const seen = [];
    let signal, found;
    const task = taskOf(async (turn) => {
      ({ signal } = turn);
      void turn.nextMessage().then(() => seen.push("message"), () => seen.push("message failed"));
      const raced = new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
      await Promise.race([turn.wait("1 day"), raced.catch((error) => (found = error.why))]);
      seen.push("went on");
      void turn.step("a", () => 1).finally(() => seen.push("step"));
      assert.throws(() => turn.working(), { why: "parked" });
    });
    const { promise, resolve } = Promise.withResolvers();
    task.answers.nextMessage = () => promise;
    const run = task.begin();
    await settled();
    run.over("parked");
    resolve("{}");
    await settled();
    assert.equal(signal.reason.why, "parked");
    assert.equal(found, "parked");
    assert.deepEqual(seen, ["went on"]);
    assert.equal(await Promise.race([run.end, "pending"]), "");
  });

  test("by its own end refuses late calls and aborts what it has left behind", async () => {
    let turn;
    const task = taskOf((given) => void (turn = given));
    await task.execute();
    assert.equal(turn.signal.reason.why, "over");
    for (const call of [() => turn.working(), () => turn.artifact("a"), () => turn.ask("?"), () => turn.history(), () => turn.secret("SHOP_KEY"), () => turn.callback("a")]) {
      assert.throws(call, { name: "RunOver", why: "over" });
    }
    for (const call of [() => turn.step("a", () => 1), () => turn.wait(1), () => turn.sleep(1), () => turn.fetch("https://a.example"), () => turn.nextMessage(), () => turn.remote("a").send("b")]) {
      await assert.rejects(call(), { name: "RunOver", why: "over" });
    }
    assert.deepEqual(task.said, [{ do: "complete" }]);
  });

  test("is known by the first refusal, too", async () => {
    const task = taskOf(async (turn) => {
      try {
        turn.working();
      } catch {}
      return "a";
    });
    task.answers.say = () => {
      throw "~canceled";
    };
    assert.equal(await task.begin().end, "");
  });

  test("of another number is not touched", async () => {
    const task = taskOf(async (turn) => {
      await turn.sleep(5);
      return "done";
    });
    const [one, other] = [task.begin(), task.begin()];
    one.over("canceled");
    assert.deepEqual([await one.end, await other.end], ["", ""]);
    assert.equal(task.artifact("result"), "done");
  });
});

describe("a rejection that nobody has awaited", () => {
  const rejection = (promise, reason) => ({ promise, reason, preventDefault: mock.fn() });

  test("fails the run to which its promise or its error belongs", async () => {
    for (const derived of [(promise) => promise, (promise) => promise.then(() => 1), async (promise) => void (await promise)]) {
      const lost = {};
      const run = taskOf(async (turn) => {
        const promise = derived(turn.step("mail", thrower(new Error("no mail"))));
        lost.reason = await promise.catch((error) => error);
        lost.promise = promise;
        await turn.sleep("20 seconds");
      }).begin();
      await settled();
      const event = rejection(lost.promise, lost.reason);
      noteRejection(event);
      assert.equal(JSON.parse(await run.end).failed, "no mail");
      assert.equal(event.preventDefault.mock.callCount(), 1);
      run.over("over");
    }
  });

  test("of a run that is over is left to the platform, and the end of a run is none", async () => {
    let promise;
    const task = taskOf(async (turn) => {
      promise = turn.step("mail", thrower(new Error("no mail")));
      await promise.catch(() => {});
    });
    await task.execute();
    const late = rejection(promise, await promise.catch((error) => error));
    noteRejection(late);
    assert.equal(late.preventDefault.mock.callCount(), 0);
  });

  test("that belongs to no run is left to the platform", () => {
    const other = rejection(Promise.resolve(), new Error("a"));
    noteRejection(other);
    noteRejection(rejection(Promise.resolve(), "a text"));
    assert.equal(other.preventDefault.mock.callCount(), 0);
  });

  test("is not made by the end of a run: the process would end here", async () => {
    const run = taskOf(async (turn) => {
      void turn.sleep("20 seconds");
      void turn.nextMessage();
      await turn.sleep("20 seconds");
    });
    run.answers.nextMessage = () => new Promise(() => {});
    const begun = run.begin();
    await settled();
    begun.over("canceled");
    await begun.end;
    await settled();
  });
});
