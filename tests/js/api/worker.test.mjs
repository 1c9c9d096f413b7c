// What `worker` checks, and which events it passes on: js/index.js, js/api/worker.js, definitions.js, names.js, queues.js, env.js.
import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { describe, mock, test } from "node:test";
import { OWN_NAMES } from "../../../js/api/own-names.js";
import { AGENTS, TaskObject, env, executor, handled, started, tool, worker } from "./engine.mjs";

const echo = tool({ description: "Echoes.", inputSchema: { type: "object" }, execute: () => "a" });
const idle = executor({ execute() {} });

describe("a Worker", () => {
  test("registers nothing if it has agents alone", async () => {
    const handlers = worker({ agents: AGENTS });
    assert.deepEqual(started, { agents: AGENTS, functions: undefined });
    assert.deepEqual(Object.keys(handlers), ["fetch", "queue", "scheduled"]);
    assert.equal(await (await handlers.scheduled({}, env, {})).text(), "scheduled of the engine");
    assert.equal(typeof TaskObject, "function");
  });

  test("describes its tools and executors to the engine", () => {
    worker({ agents: AGENTS, tools: { echo, add_numbers: tool({ ...echo, needs: ["KEY"] }) }, executors: { orders: executor({ ...idle, recovery: "fail" }) } });
    assert.deepEqual(JSON.parse(started.functions.describe()), {
      tools: [
        { name: "echo", description: "Echoes.", inputSchema: { type: "object" }, needs: [] },
        { name: "add_numbers", description: "Echoes.", inputSchema: { type: "object" }, needs: ["KEY"] },
      ],
      executors: [{ kind: "orders", recovery: "fail", cancels: "never" }],
    });
  });

  test("does not start with parts that cannot be registered, and says what to do", () => {
    const tools = (name, given = echo) => ({ tools: { [name]: given } });
    const executors = (kind, given = idle) => ({ executors: { [kind]: given } });
    for (const [parts, told] of [
      [{ tool: { echo } }, /worker\(\) takes agents, tools, executors, fetch, queue; it was given "tool"/],
      [{ fetch: "a" }, /fetch of worker\(\) must be a function/],
      [{ queue: {} }, /queue of worker\(\) must be a function/],
      [tools("getWeather"), /^tools\.getWeather: the name of a tool is lower-case words joined by _, such as find_place/],
      [tools("get-weather"), /tools\.get-weather/],
      [tools("1st"), /tools\.1st/],
      [tools("a".repeat(65)), /up to 64 characters/],
      [tools("echo", null), /^tools\.echo: it must be a tool: tool\(\{/],
      [tools("echo", () => 1), /^tools\.echo: it must be a tool/],
      [tools("echo", { ...echo, needs: "KEY" }), /needs must be a list of names/],
      [executors("script"), /^executors\["script"\]: this kind belongs to a2a-edge; choose another name, also in the agent file/],
      [executors("tools"), /belongs to a2a-edge/],
      [executors("remote"), /belongs to a2a-edge/],
      [executors("http"), /belongs to a2a-edge/],
      [executors("model"), /belongs to a2a-edge/],
      [executors("rust"), /belongs to a2a-edge/],
      [executors("modle"), /did you mean the built-in kind model\?/],
      [executors("tool"), /did you mean the built-in kind tools\?/],
      [executors("Orders"), /1 to 64 lower-case letters, digits, - and _/],
      [executors("orders", {}), /^executors\["orders"\]: it must be an executor/],
      [executors("orders", () => 1), /it must be an executor/],
      [executors("orders", { ...idle, settings: { type: "object" } }), /settings must be a Standard Schema/],
      [executors("orders", { ...idle, recovery: "again" }), /recovery must be one of resume, restart, fail/],
      [executors("orders", { ...idle, onCancel: { sure: true } }), /onCancel must be a function, or \{ sure: true, run\(turn\)/],
    ]) {
      assert.throws(() => worker({ agents: AGENTS, ...parts }), (error) => error instanceof TypeError && told.test(error.message), String(told));
    }
  });

  test("takes names that agent files can use", () => {
    const kinds = ["orders", "my-kind_2", "scripts-2", "a"];
    worker({ agents: AGENTS, tools: { echo, find_place_2: echo, a: echo }, executors: Object.fromEntries(kinds.map((kind) => [kind, idle])) });
    assert.deepEqual(JSON.parse(started.functions.describe()).executors.map(({ kind }) => kind), kinds);
  });
});

describe("a request", () => {
  const request = () => new Request("https://agents.example/page", { method: "POST", body: "a" });

  test("is shown to the project first, with its own bindings", async () => {
    const fetch = mock.fn(async () => new Response("own"));
    const { fetch: handle } = worker({ agents: AGENTS, fetch });
    assert.equal(await (await handle(request(), env, "context")).text(), "own");
    const [, bindings, context] = fetch.mock.calls[0].arguments;
    assert.deepEqual([bindings, context], [{ FILES: env.FILES, SHOP_URL: env.SHOP_URL }, "context"]);
  });

  test("passes on to the agents if the project does not answer, with the environment of the engine", async () => {
    const { fetch } = worker({ agents: AGENTS, fetch: () => undefined });
    assert.equal(await (await fetch(request(), env, {})).text(), "fetch of the engine");
    assert.equal(handled.at(-1)[2], env);
  });

  test("whose body the project has read cannot pass on", async () => {
    const { fetch } = worker({ agents: AGENTS, fetch: async (given) => void (await given.text()) });
    await assert.rejects(fetch(request(), env, {}), /has read the body of a request and passed the request on; read request\.clone\(\) instead/);
  });
});

describe("a batch of a queue", () => {
  const own = [
    '{"agent":"demo","task":"ab8a","configId":"677d"}',
    '{"agent":"demo","task":"ab8a","configId":"677d","generation":4,"error":"the receiver answered 404","isSuspended":false}',
    '{"delete":[{"task":"ab8a"}],"until":1767607201250}',
    '{"delete":[],"until":1,"format":9}',
  ];
  const others = ["a text", "{", "null", "[]", '{"task":"ab8a"}', '{"delete":[5],"until":1}', { agent: "demo", task: "a", configId: "b" }, new ArrayBuffer(3)];
  const batch = (bodies) => {
    const messages = bodies.map((body) => ({ body, ack: mock.fn(), retry: mock.fn() }));
    return { queue: "any-name", messages, ackAll() {}, retryAll() {} };
  };
  const queueOf = () => {
    const queue = mock.fn();
    handled.length = 0;
    return { queue, handle: worker({ agents: AGENTS, queue }).queue };
  };

  test("is the engine's if its messages are, whatever the queue is named", async () => {
    for (const body of own) {
      const { queue, handle } = queueOf();
      const given = batch([body]);
      await handle(given, env, {});
      assert.equal(queue.mock.callCount(), 0);
      assert.equal(handled[0][1], given);
    }
  });

  test("is the project's otherwise", async () => {
    for (const body of others) {
      const { queue, handle } = queueOf();
      const given = batch([body]);
      await handle(given, env, "context");
      assert.deepEqual(queue.mock.calls[0].arguments, [given, { FILES: env.FILES, SHOP_URL: env.SHOP_URL }, "context"]);
      assert.equal(handled.length, 0);
    }
  });

  test("with messages of both is divided, and each settles its own", async () => {
    const { queue, handle } = queueOf();
    const given = batch([others[0], own[0], others[1]]);
    queue.mock.mockImplementation((part) => part.ackAll());
    await handle(given, env, {});
    handled[0][1].retryAll({ delaySeconds: 5 });
    assert.deepEqual(given.messages.map(({ ack, retry }) => [ack.mock.callCount(), retry.mock.callCount()]), [[1, 0], [0, 1], [1, 0]]);
    assert.equal(handled[0][1].queue, "any-name");
  });

  test("fails if the project fails, after the engine is done", async () => {
    const { queue, handle } = queueOf();
    queue.mock.mockImplementation(() => {
      throw new Error("no");
    });
    await assert.rejects(handle(batch([others[0], own[0]]), env, {}), /no/);
    assert.equal(handled.length, 1);
  });

  test("is the engine's alone if the project has no queues", async () => {
    handled.length = 0;
    const given = batch(["a text"]);
    await worker({ agents: AGENTS }).queue(given, env, {});
    assert.equal(handled[0][1], given);
  });
});

describe("the names of the engine", () => {
  const read = (path) => readFileSync(new URL(`../../../${path}`, import.meta.url), "utf8");
  const names = new Set(OWN_NAMES);

  test("are those of the page of settings", () => {
    const documented = [...read("docs/settings.md").matchAll(/^\| `([A-Z][A-Z0-9_]*)`/gm)].map(([, name]) => name);
    assert.ok(documented.length > 40);
    assert.deepEqual(documented.filter((name) => !names.has(name)), []);
  });

  test("are those that src/config reads", () => {
    const files = readdirSync(new URL("../../../src/config", import.meta.url)).map((name) => read(`src/config/${name}`).split("#[cfg(test)]")[0]);
    const found = files.flatMap((text) => [...text.matchAll(/\.(?:text|number|switch|switch_or)\(\s*"([A-Z][A-Z0-9_]*)"/g)].map(([, name]) => name));
    assert.ok(found.length > 40);
    assert.deepEqual(found.filter((name) => !names.has(name)), []);
  });

  test("are the bindings of the template, and its assets", () => {
    const config = read("create/templates/basic/wrangler.toml");
    const bindings = [...config.matchAll(/^(?:binding|name) = "([A-Z][A-Z0-9_]*)"/gm)].map(([, name]) => name);
    assert.deepEqual(bindings.filter((name) => !names.has(name)), []);
    assert.ok(bindings.includes("TASKS") && bindings.includes("ASSETS"));
  });

  test("are the secrets that src/edge reads", () => {
    const found = [...read("src/edge/bindings.rs").matchAll(/secret\("([A-Z][A-Z0-9_]*)"\)/g)].map(([, name]) => name);
    assert.ok(found.includes("STATE_KEY"));
    assert.deepEqual(found.filter((name) => !names.has(name)), []);
  });

  test("are the same in the types", () => {
    const [, union] = /export type OwnName =([^;]*);/.exec(read("js/index.d.ts"));
    assert.deepEqual([...union.matchAll(/"(\w+)"/g)].map(([, name]) => name), [...OWN_NAMES]);
  });
});
