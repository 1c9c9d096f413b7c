// What an executor sees of its turn, and what becomes of what it says and returns: js/api/turn.js, run.js.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { z } from "zod";
import { Task, env, executor, message } from "./engine.mjs";

/** A task that this function executes. */
const taskOf = (execute, turn) => new Task({ executors: { orders: executor({ execute }) } }, turn);

describe("the result of an executor", () => {
  for (const [what, result, parts] of [
    ["a text", "done", [{ text: "done" }]],
    ["an empty text", "", [{ text: "" }]],
    ["a number", 5, [{ data: 5 }]],
    ["null", null, [{ data: null }]],
    ["an object", { seat: 3 }, [{ data: { seat: 3 } }]],
    ["a list", ["a", "b"], [{ data: ["a", "b"] }]],
    ["an empty list", [], [{ data: [] }]],
    ["a part", { data: { a: 1 }, mediaType: "application/json" }, [{ data: { a: 1 }, mediaType: "application/json" }]],
    ["parts", [{ text: "a" }, { url: "https://a.example" }], [{ text: "a" }, { url: "https://a.example" }]],
    ["bytes in a part", { raw: new Uint8Array([104, 105]), filename: "hi" }, [{ raw: "aGk=", filename: "hi" }]],
    ["an object that only looks like a part", { text: "a", price: 5 }, [{ data: { text: "a", price: 5 } }]],
    ["an object with a number as its text", { text: 5 }, [{ data: { text: 5 } }]],
  ]) {
    test(`becomes the artifact "result": ${what}`, async () => {
      const task = taskOf(() => result);
      assert.equal(await task.execute(), undefined);
      assert.deepEqual(task.said, [{ do: "artifact", id: "result", parts }, { do: "complete" }]);
    });
  }

  test("is no artifact if it is undefined", async () => {
    const task = taskOf(async () => {});
    await task.execute();
    assert.deepEqual(task.said, [{ do: "complete" }]);
  });

  test("streams into the artifact if it is a stream", async () => {
    const task = taskOf(async function* () {
      yield "a";
      yield "b";
    });
    await task.execute();
    assert.deepEqual(task.said, [{ do: "artifact", id: "result", parts: [{ text: "ab" }] }, { do: "complete" }]);
  });

  test("ends the run at once if the function does not wait", () => {
    const run = taskOf((turn) => turn.text).begin();
    assert.equal(run.end, "");
  });
});

describe("the ends of a turn", () => {
  for (const [method, content, verb] of [
    ["ask", "For how many?", "input_required"],
    ["askAuth", "a token", "auth_required"],
    ["reject", "no", "reject"],
    ["reply", "hi", "reply"],
  ]) {
    test(`${method} says ${verb}, and nothing completes the task`, async () => {
      const task = taskOf((turn) => turn[method](content));
      assert.equal(await task.execute(), undefined);
      assert.deepEqual(task.said, [{ do: verb, parts: [{ text: content }] }]);
    });
  }

  test("count also where they are not returned", async () => {
    const task = taskOf((turn) => void turn.ask("?"));
    assert.equal(await task.execute(), undefined);
    assert.deepEqual(task.said.map(({ do: verb }) => verb), ["input_required"]);
  });

  test("are the last word: another result, artifact, step or end is an error that says what to write", async () => {
    for (const second of [() => "a text", (turn) => turn.artifact("a"), (turn) => turn.step("a", () => 1), (turn) => turn.reject("no")]) {
      const task = taskOf((turn) => {
        turn.ask("?");
        return second(turn);
      });
      const { failed, isFailure } = await task.execute();
      assert.match(failed, /turn\.ask\(…\) has ended the run.*return turn\.ask\(…\)/);
      assert.equal(isFailure, false);
      assert.equal(task.said.length, 1);
    }
  });

  test("of another run are no result", async () => {
    let kept;
    await taskOf((turn) => (kept = turn.ask("?"))).execute();
    const { failed } = await taskOf(() => kept).execute();
    assert.match(failed, /has ended another run/);
  });
});

describe("artifacts", () => {
  test("without ids are numbered alike in each attempt, and leave out ids that are used", async () => {
    const task = taskOf((turn) => {
      turn.artifact("a");
      turn.artifact({ url: "https://a.example" }, { id: "map", name: "Map", description: "A map.", metadata: { zoom: 3 } });
      turn.artifact("b", { id: "result-2" });
      turn.artifact("c");
      return "d";
    });
    await task.execute();
    assert.deepEqual(task.said.slice(0, -1).map(({ id }) => id), ["result", "map", "result-2", "result-3", "result-4"]);
    assert.deepEqual(task.said[1], { do: "artifact", id: "map", name: "Map", description: "A map.", metadata: { zoom: 3 }, parts: [{ url: "https://a.example" }] });
  });

  test("are texts or parts; other JSON is told to be wrapped", async () => {
    for (const content of [{ price: 5 }, 5, null, undefined, [], ["a"], { text: "a", url: "b" }]) {
      const { failed } = await taskOf((turn) => turn.artifact(content)).execute();
      assert.match(failed, /an artifact must be a text, a part .* wrap other JSON as \{ data: … \}/);
    }
  });
});

describe("a turn", () => {
  test("has what the engine says of it", async () => {
    let seen;
    const task = taskOf((turn) => {
      seen = { ...turn, history: turn.history(), task: turn.task(), may: ["buy", "sell"].map(turn.caller.may), secret: turn.secret("SHOP_KEY") };
    }, { message: message("a ", { data: { price: 5 } }, "chair"), metadata: { trial: true }, number: 2, attempt: 3, resumes: true });
    await task.execute();
    const { agent, taskId, contextId, text, data, metadata, number, attempt, resumes, idempotencyKey, settings } = seen;
    assert.deepEqual({ agent, taskId, contextId, text, data, metadata, number, attempt, resumes, idempotencyKey, settings }, {
      agent: "shop", taskId: "task-1", contextId: "context-1", text: "a chair", data: { price: 5 }, metadata: { trial: true }, number: 2, attempt: 3, resumes: true,
      idempotencyKey: "key", settings: {},
    });
    assert.deepEqual(seen.may, [true, false]);
    assert.equal(seen.secret, "a secret");
    assert.equal(seen.task, undefined);
    assert.deepEqual(seen.history, [task.turn.message]);
    assert.equal(seen.caller.owner, "team");
  });

  test("has methods that need no object before them", async () => {
    const task = taskOf(async ({ step, working, artifact, write, ask }) => {
      working("at work");
      artifact(String(await step("a", () => 1)));
      await write((out) => out.write("text"));
      return ask("?");
    });
    assert.equal(await task.execute(), undefined);
    assert.deepEqual(task.said.map(({ do: verb }) => verb), ["working", "artifact", "artifact", "input_required"]);
  });

  test("has the bindings of the project, and not those of the engine", async () => {
    let seen;
    await taskOf((turn) => void (seen = turn.env)).execute();
    assert.deepEqual(seen, { FILES: env.FILES, SHOP_URL: env.SHOP_URL });
    assert.throws(() => (seen.FILES = "another"), TypeError);
  });

  test("gives no secret of the engine, and says which one is not set", async () => {
    assert.match((await taskOf((turn) => turn.secret("SIGNING_JWK")).execute()).failed, /SIGNING_JWK belongs to a2a-edge/);
    assert.match((await taskOf((turn) => turn.secret("NOPE")).execute()).failed, /the secret NOPE is not set/);
  });

  test("sleeps in memory for seconds only", async () => {
    const task = taskOf((turn) => turn.sleep("1 ms"));
    assert.equal(await task.execute(), undefined);
    assert.match((await taskOf((turn) => turn.sleep("31 seconds")).execute()).failed, /at most 30 seconds.*turn\.wait\(\)/);
  });

  test("tells durations that are none", async () => {
    for (const time of ["5 fortnights", "soon", -1, Number.NaN, "", undefined, {}]) {
      assert.match((await taskOf((turn) => turn.sleep(time)).execute()).failed, /is no duration: give milliseconds, or a text such as "30 seconds"/);
    }
  });

  test("records the use of models in whole numbers", async () => {
    const task = taskOf((turn) => turn.recordUsage({ inputTokens: 5, costMicros: 1.6 }));
    await task.execute();
    assert.deepEqual(task.asked.find(([name]) => name === "recordUsage"), ["recordUsage", '{"model":"","requests":1,"inputTokens":5,"outputTokens":0,"costMicros":2}']);
    const named = taskOf((turn) => turn.recordUsage({ model: "m-1", inputTokens: 5 }));
    await named.execute();
    assert.deepEqual(named.asked.find(([name]) => name === "recordUsage"), ["recordUsage", '{"model":"m-1","requests":1,"inputTokens":5,"outputTokens":0,"costMicros":0}']);
    for (const model of [4, "x".repeat(101)]) assert.match((await taskOf((turn) => turn.recordUsage({ model })).execute()).failed, /model must be a text of up to 100 characters/);
    assert.match((await taskOf((turn) => turn.recordUsage({ outputTokens: -1 })).execute()).failed, /outputTokens must be a number from 0 on, got -1/);
  });

  test("gives messages and credentials that come later", async () => {
    const task = taskOf(async (turn) => `${(await turn.nextMessage()).parts[0].text} ${(await turn.credentials()).token} ${turn.accepts("text/plain")}`);
    task.messages.push(message("more"));
    Object.assign(task.answers, { credentials: () => Promise.resolve('{"token":"t"}'), accepts: true });
    await task.execute();
    assert.equal(task.artifact("result"), "more t true");
  });
});

describe("settings", () => {
  const settings = z.object({ hall: z.object({ name: z.string(), rows: z.number().default(10) }) });
  const task = () => new Task({ executors: { seats: executor({ settings, execute: (turn) => ({ data: turn.settings }) }) } });

  test("have the defaults of their schema", async () => {
    const made = task();
    await made.execute({ hall: { name: "big" } });
    assert.deepEqual(made.said[0].parts, [{ data: { hall: { name: "big", rows: 10 } } }]);
  });

  test("are told with their paths where they do not fit", () => {
    const { functions } = task();
    assert.equal(functions.checkSettings("seats", '{"hall":{"name":"big"}}'), undefined);
    const problems = JSON.parse(functions.checkSettings("seats", '{"hall":{"name":5,"rows":"many"}}'));
    assert.deepEqual(problems.map(({ path }) => path), ["hall.name", "hall.rows"]);
    assert.match(problems[0].problem, /expected string/);
  });

  test("are an error where the kind has none", () => {
    const { functions } = taskOf(() => {});
    assert.equal(functions.checkSettings("orders", "{}"), undefined);
    assert.deepEqual(JSON.parse(functions.checkSettings("orders", '{"hall":1}')), [{ path: "hall", problem: "is no key: the kind has no settings" }]);
  });
});

describe("onCancel", () => {
  test("is called with the turn, and says nothing", async () => {
    const seen = [];
    const made = new Task({ executors: { orders: executor({ execute() {}, onCancel: async (turn) => void seen.push(turn.taskId) }) } });
    assert.equal(await made.cancel(), undefined);
    assert.deepEqual(seen, ["task-1"]);
    assert.deepEqual(made.said, []);
  });

  test("is described by how surely it is called", () => {
    const described = (onCancel) => JSON.parse(new Task({ executors: { orders: executor({ execute() {}, onCancel }) } }).functions.describe()).executors[0].cancels;
    assert.equal(described(undefined), "never");
    assert.equal(described(() => {}), "once");
    assert.equal(described({ sure: true, run() {} }), "sure");
  });
});
