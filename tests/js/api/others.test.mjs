// What runs ask of others: agents, MCP servers, and anything by HTTP: js/api/remotes.js, mcp.js, fetch.js.
import assert from "node:assert/strict";
import { afterEach, describe, mock, test } from "node:test";
import { Task, executor, settled, tool } from "./engine.mjs";

const taskOf = (execute, answers = {}) => {
  const task = new Task({ executors: { trip: executor({ execute }) } });
  Object.assign(task.answers, answers);
  return task;
};
const askedOf = (task, name) => task.asked.filter(([asked]) => asked === name).map(([, ...args]) => args);

describe("another agent", () => {
  const answer = { outcome: "completed", text: "no rain", task: { id: "t" } };

  test("is asked once, in a step that names the message", async () => {
    const task = taskOf(async (turn) => turn.remote("weather").send("Rain?", { taskId: "t0", timeout: "1 minute" }), { remoteSend: async () => JSON.stringify(answer) });
    await task.execute();
    await task.execute();
    const [[name, request], ...more] = askedOf(task, "remoteSend");
    assert.deepEqual([name, more.length], ["weather", 0]);
    assert.deepEqual(JSON.parse(request), { parts: [{ text: "Rain?" }], key: "key/ask weather/1", taskId: "t0", timeoutMs: 60_000 });
    assert.deepEqual(task.said.at(-2).parts, [{ data: answer }]);
  });

  test("may be asked beside others, each under a key of its own", async () => {
    const task = taskOf(({ remote }) => Promise.all([remote("a").send("1"), remote("b").send([{ data: 2 }]), remote("a").send("3")]), { remoteSend: async () => JSON.stringify(answer) });
    await task.execute();
    assert.deepEqual(askedOf(task, "remoteSend").map(([, request]) => JSON.parse(request).key), ["key/ask a/1", "key/ask b/1", "key/ask a/2"]);
  });

  test("that is not there fails the step", async () => {
    const task = taskOf((turn) => turn.remote("nope").send("a"), { remoteSend: () => Promise.reject("there is no remote agent \"nope\"") });
    assert.equal((await task.execute()).failed, 'there is no remote agent "nope"');
    assert.deepEqual(task.steps.get("ask nope#1"), { failed: 'error: there is no remote agent "nope"' });
  });

  test("gets texts and parts only", async () => {
    const task = taskOf((turn) => turn.remote("weather").send({ city: "Lisbon" }));
    assert.match((await task.execute()).failed, /a message to another agent must be a text, a part/);
    assert.deepEqual([...task.steps.keys()], []);
  });

  test("gives its events one by one, by the same id in each attempt", async () => {
    const events = [{ statusUpdate: { taskId: "t", status: { state: "TASK_STATE_WORKING" } } }, { message: { parts: [{ text: "a" }] } }];
    const open = [];
    const task = taskOf(async (turn) => {
      const seen = [];
      for await (const event of turn.remote("weather").stream("Rain?")) seen.push(event);
      return seen;
    }, {
      remoteStream: () => open.push([...events]),
      remoteNext: async (number) => (open[number - 1].length === 0 ? "" : JSON.stringify(open[number - 1].shift())),
      remoteClose: () => {},
    });
    await task.execute();
    await task.execute();
    assert.deepEqual(askedOf(task, "remoteStream").map(([name, request]) => [name, JSON.parse(request).key]), Array(2).fill(["weather", "key/stream weather/1"]));
    assert.deepEqual(askedOf(task, "remoteClose"), [[1], [2]]);
    assert.deepEqual(task.said[0].parts, [{ data: events }]);
  });

  test("is left where the loop is", async () => {
    const task = taskOf(async (turn) => {
      for await (const _ of turn.remote("weather").stream("Rain?")) break;
    }, { remoteStream: 7, remoteNext: async () => '{"message":{}}', remoteClose: () => {} });
    await task.execute();
    assert.deepEqual(askedOf(task, "remoteClose"), [[7]]);
  });

  test("cancels its tasks and shows its card", async () => {
    const task = taskOf(async (turn) => [(await turn.remote("weather").cancel("t")) ?? null, await turn.remote("weather").card()], {
      remoteCancel: async () => "", remoteCard: async () => '{"name":"Weather"}',
    });
    await task.execute();
    assert.deepEqual(askedOf(task, "remoteCancel"), [["weather", "t"]]);
    assert.deepEqual(task.said[0].parts, [{ data: [null, { name: "Weather" }] }]);
  });
});

describe("an MCP server", () => {
  const tools = [{ name: "find", inputSchema: { type: "object" }, isReadOnly: true }, { name: "book", description: "Books.", inputSchema: { type: "object" }, isReadOnly: false }];
  const answers = { mcpTools: async () => JSON.stringify(tools), mcpCall: async (_server, tool) => JSON.stringify({ parts: [{ text: tool }] }) };

  test("lists its tools", async () => {
    const task = taskOf((turn) => turn.mcp("hotels").tools(), answers);
    await task.execute();
    assert.deepEqual(task.said[0].parts[0].data, tools.map(({ isReadOnly: _, ...shown }) => shown));
  });

  test("is called in a step, unless the tool only reads", async () => {
    const task = taskOf(async (turn) => {
      const { call } = turn.mcp("hotels");
      return [await call("book", { rooms: 1 }), await call("find"), await turn.mcp("hotels").call("find")];
    }, answers);
    await task.execute();
    assert.deepEqual([...task.steps.keys()], ["call hotels book#1"]);
    assert.deepEqual(askedOf(task, "mcpCall"), [
      ["hotels", "book", '{"rooms":1}', "call hotels book/1"], ["hotels", "find", "{}", "call hotels find/read 1"], ["hotels", "find", "{}", "call hotels find/read 2"],
    ]);
    assert.equal(askedOf(task, "mcpTools").length, 1);
    await task.execute();
    assert.equal(askedOf(task, "mcpCall").filter(([, name]) => name === "book").length, 1);
  });

  test("is called in a step if it does not list its tools", async () => {
    const task = taskOf((turn) => turn.mcp("hotels").call("find"), { ...answers, mcpTools: () => Promise.reject("hotels did not answer") });
    await task.execute();
    assert.deepEqual([...task.steps.keys()], ["call hotels find#1"]);
  });

  test("in a tool is called under the key of the call", async () => {
    const task = new Task({ tools: { book: tool({ description: "Books.", inputSchema: { type: "object" }, execute: (_, call) => call.mcp("hotels").call("book") }) } });
    Object.assign(task.answers, answers);
    assert.deepEqual(await task.call("book"), { parts: [{ data: { parts: [{ text: "book" }] } }] });
    assert.deepEqual(askedOf(task, "mcpCall")[0][3], "2.1/call hotels book/1");
  });

  test("that refuses fails the call", async () => {
    const task = taskOf((turn) => turn.mcp("hotels").call("book"), { ...answers, mcpCall: () => Promise.reject("the tool book of hotels failed: sold out") });
    const { failed, isFailure } = await task.execute();
    assert.deepEqual([failed, isFailure], ["the tool book of hotels failed: sold out", false]);
  });
});

describe("a request", () => {
  afterEach(() => mock.restoreAll());
  const platform = (answer = async () => new Response("ok")) => mock.method(globalThis, "fetch", answer);

  test("carries the trace and the signal of the run", async () => {
    const fetched = platform();
    await taskOf(async ({ fetch }) => (await fetch("https://a.example/b", { method: "POST", headers: { "x-key": "1" }, body: "c" })).text()).execute();
    const [input, init] = fetched.mock.calls[0].arguments;
    assert.equal(input, "https://a.example/b");
    assert.deepEqual([init.method, init.body, Object.fromEntries(init.headers)], ["POST", "c", { "x-key": "1", traceparent: "00-1-2-01" }]);
    assert.equal(init.signal.aborted, true, "the run is over by now");
  });

  test("may be a Request or a URL, whose own headers stay", async () => {
    const fetched = platform();
    await taskOf(async ({ fetch }) => {
      await fetch(new Request("https://a.example/", { headers: { traceparent: "own", "x-key": "1" } }));
      await fetch(new URL("https://a.example/c"));
    }).execute();
    assert.deepEqual(Object.fromEntries(fetched.mock.calls[0].arguments[1].headers), { traceparent: "own", "x-key": "1" });
    assert.equal(String(fetched.mock.calls[1].arguments[0]), "https://a.example/c");
  });

  test("ends with the run, and with its own signal", async () => {
    const hang = (_, { signal }) => new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
    platform(hang);
    const run = taskOf((turn) => turn.fetch("https://a.example")).begin();
    await settled();
    run.over("canceled");
    assert.equal(await run.end, "");
    const own = new AbortController();
    const task = taskOf((turn) => turn.fetch("https://a.example", { signal: own.signal }));
    const { end } = task.begin();
    await settled();
    own.abort(new Error("not needed any more"));
    assert.equal(JSON.parse(await end).failed, "not needed any more");
  });

  test("that is not answered in time says by whom, without the path", async () => {
    platform((_, { signal }) => new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(signal.reason))));
    const { failed } = await taskOf((turn) => turn.fetch("https://a.example/secret", { timeout: "5 ms" })).execute();
    assert.equal(failed, "a.example has not answered within 5 ms");
  });

  test("that is guarded follows no redirects, and is refused where it must not go", async () => {
    const fetched = platform();
    await taskOf((turn) => turn.fetch("https://a.example", { guarded: true, redirect: "follow" }).then(() => {})).execute();
    assert.equal(fetched.mock.calls[0].arguments[1].redirect, "manual");
    assert.equal("guarded" in fetched.mock.calls[0].arguments[1], false);
    const refuse = (_url, isGuarded) => {
      if (isGuarded) throw "the URL is at a private address";
      return "{}";
    };
    const { failed } = await taskOf((turn) => turn.fetch("http://10.0.0.1", { guarded: true }), { fetchHeaders: refuse }).execute();
    assert.equal(failed, "the URL is at a private address");
    assert.equal(fetched.mock.callCount(), 1);
  });
});
