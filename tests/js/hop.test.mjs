// How a request gets from its first byte to its answer: what is decided is Rust's, what waits is tested here.
import assert from "node:assert/strict";
import { describe, mock, test } from "node:test";
import { Hop } from "../../js/hop.js";

const COMMON = "access-control-allow-origin: *\n";

/** A decider that gives one plan, and records what it is asked. A request that waits has another plan once its fact is found. */
function rustOf(plan, others = {}, found = "=200\n\nfound") {
  const calls = [];
  const noted = (name, give) => (...args) => {
    calls.push([name, ...args]);
    return give(...args);
  };
  const rust = {
    headerNames: () => "accept\na2a-version",
    commonHeaders: () => COMMON,
    observes: () => false,
    traceHead: noted("traceHead", () => ""),
    requestAnswered: noted("requestAnswered", () => {}),
    plan: noted("plan", () => plan),
    listed: noted("listed", () => "=200\n\nlisted"),
    visit: noted("visit", async () => new Response("visited")),
    wait: noted("wait", () => ({
      plan: noted("planned", () => found),
      find: noted("find", async () => {}),
      noteLimits: noted("noteLimits", () => {}),
      held: noted("held", (limits) => `=429\nx-refused: ${JSON.parse(limits).map(({ binding }) => binding)}\n\nheld`),
      failed: noted("failed", (status, reason) => `=200\n\nfailed ${status} ${reason}`),
      listed: noted("relisted", () => "~"),
      free: noted("free", () => {}),
    })),
    ...others,
  };
  return { rust, calls, hop: new Hop(rust) };
}

/** A namespace whose objects answer by `ask`. */
function namespaceOf(ask) {
  const asked = [];
  return {
    asked,
    newUniqueId: () => "new",
    idFromName: (name) => `named ${name}`,
    idFromString(id) {
      if (id === "foreign") throw new TypeError("not valid for this namespace");
      return id;
    },
    get: (id) => ({
      ask(form, command) {
        asked.push([id, form, command]);
        return ask();
      },
      askBytes(form, command) {
        asked.push([id, form, new TextDecoder().decode(command)]);
        return ask();
      },
    }),
  };
}

const post = (body, headers = {}) =>
  new Request("https://a.example/demo", { method: "POST", body, headers: { "content-length": String(body.length), ...headers } });

describe("what Rust is told", () => {
  test("the method, the URL, the headers that count, and the body", async () => {
    const { hop, calls } = rustOf("=204\n\n");
    await hop.serve(post("{}", { "a2a-version": "1.0", "x-other": "1" }), {});
    const [[, , head, body, isBroken]] = calls;
    assert.match(head, /^POST\nhttps:\/\/a\.example\/demo\na2a-version\n1\.0\n:request\n[0-9a-z-]+$/);
    assert.deepEqual([new TextDecoder().decode(body), isBroken], ["{}", false]);
  });

  test("the headers that count for the method", async () => {
    const { hop, calls } = rustOf("=204\n\n", { headerNames: (env, method) => (method === "POST" ? "accept" : "accept\nif-none-match") });
    const headers = { accept: "a", "if-none-match": "b" };
    for (const _ of [1, 2]) {
      await hop.serve(post("{}", headers), {});
      await hop.serve(new Request("https://a.example/demo", { headers }), {});
    }
    const heads = calls.map(([, , head]) => head.slice(head.indexOf("accept"), head.indexOf("\n:request")));
    assert.deepEqual(heads, ["accept\na", "accept\na\nif-none-match\nb", "accept\na", "accept\na\nif-none-match\nb"]);
  });

  test("the headers that count for the agent of the path, asked once for each method and agent", async () => {
    const asked = [];
    const headerNames = (env, method, path) => {
      asked.push(`${method} ${path}`);
      return path === "/club" ? "x-club-key" : "accept";
    };
    const { hop, calls } = rustOf("=204\n\n", { headerNames });
    const paths = ["/club", "/club/tasks/1?x=/demo", "/demo?x", "/", "", "/club/", "/demo/tasks"];
    for (const path of paths) await hop.serve(new Request(`https://a.example${path}`, { headers: { accept: "a", "x-club-key": "k" } }), {});
    assert.deepEqual(asked, ["GET /club", "GET /demo", "GET /"]);
    const told = calls.map(([, , head]) => head.split("\n")[2]);
    assert.deepEqual(told, ["x-club-key", "x-club-key", "accept", "accept", "accept", "x-club-key", "accept"]);
    await hop.serve(new Request("https://a.example/club", { method: "DELETE" }), {});
    assert.equal(asked.at(-1), "DELETE /club");
  });

  test("the certificate that the platform has verified, where it counts, and nothing that a client says of one", async () => {
    const { hop, calls } = rustOf("=204\n\n", { headerNames: () => "accept\n:certificate" });
    const certified = Object.assign(new Request("https://a.example/demo"), { cf: { tlsClientAuth: { certPresented: "1", line: "a\nb" } } });
    await hop.serve(certified, {});
    await hop.serve(new Request("https://a.example/demo", { headers: { certificate: "x", accept: "y" } }), {});
    const heads = calls.map(([, , head]) => head.slice(0, head.indexOf("\n:request")));
    assert.equal(heads[0], `GET\nhttps://a.example/demo\n:certificate\n{"certPresented":"1","line":"a\\nb"}`);
    assert.equal(heads[1], "GET\nhttps://a.example/demo\naccept\ny");
    const { hop: other, calls: told } = rustOf("=204\n\n");
    await other.serve(certified, {});
    assert.match(told[0][2], /^GET\nhttps:\/\/a\.example\/demo\n:request\n/);
  });

  test("the name that the platform gave the request, and its trace", async () => {
    const { hop, calls } = rustOf("=204\n\n");
    const [traceparent, tracestate] = [`00-${"a".repeat(32)}-${"b".repeat(16)}-01`, "vendor=x"];
    await hop.serve(post("{}", { "cf-ray": "8f2d-FRA", traceparent, tracestate }), {});
    await hop.serve(post("{}", { "cf-ray": "8f2d-FRA", tracestate }), {});
    const heads = calls.map(([, , head]) => head.slice("POST\nhttps://a.example/demo\n".length));
    assert.deepEqual(heads, [`traceparent\n${traceparent}\ntracestate\n${tracestate}\n:request\n8f2d-FRA`, ":request\n8f2d-FRA"]);
  });

  test("a name of its own for each request that the platform does not name", async () => {
    const { hop, calls } = rustOf("=204\n\n");
    for (let request = 0; request < 3; request += 1) await hop.serve(post("{}", {}), {});
    const names = calls.map(([, , head]) => head.slice(head.indexOf(":request\n") + ":request\n".length));
    assert.equal(new Set(names).size, 3);
    for (const name of names) assert.match(name, /^[0-9a-f]{8}-[0-9a-z]+$/);
  });

  test("a request without a body has an empty one", async () => {
    const { hop, calls } = rustOf("=204\n\n");
    for (const method of ["GET", "POST", "DELETE"]) await hop.serve(new Request("https://a.example/", { method }), {});
    assert.deepEqual(calls.map(([, , , body, isBroken]) => [body.length, isBroken]), [[0, false], [0, false], [0, false]]);
  });

  test("a body that ends early, or breaks off, is broken", async () => {
    for (const request of [
      post("{}", { "content-length": "5" }),
      Object.assign(post("{}"), { arrayBuffer: () => Promise.reject(new Error("gone")) }),
    ]) {
      const { hop, calls } = rustOf("=400\n\n");
      assert.equal((await hop.serve(request, {})).status, 400);
      assert.equal(calls[0][4], true);
    }
  });

  test("a body that is large, or does not tell its length, is not received here", async () => {
    for (const length of ["65537", "", "x"]) {
      const { hop, calls } = rustOf("~");
      const request = post("{}", { "content-length": length });
      if (length === "") request.headers.delete("content-length");
      assert.equal(await (await hop.serve(request, {})).text(), "found");
      assert.deepEqual(calls.map(([name]) => name), ["plan", "wait", "find", "planned", "free"]);
      assert.deepEqual([calls[0][3], calls[1][3], calls[2][1]], [undefined, undefined, request]);
      assert.equal(request.bodyUsed, false);
    }
  });
});

describe("answers", () => {
  test("have a status, headers of their own and those of all, and a body", async () => {
    const { hop } = rustOf("=404\ncontent-type: text/plain\nx-odd: a: b\n\nline\n\nline");
    const response = await hop.serve(post("{}"), {});
    assert.equal(response.status, 404);
    assert.equal(response.headers.get("content-type"), "text/plain");
    assert.equal(response.headers.get("x-odd"), "a: b");
    assert.equal(response.headers.get("access-control-allow-origin"), "*");
    assert.equal(await response.text(), "line\n\nline");
  });

  test("without a body have none", async () => {
    for (const status of [204, 304]) assert.equal((await rustOf(`=${status}\n\n`).hop.serve(post("{}"), {})).body, null);
  });

  test("of the same head do not share what a caller changes", async () => {
    const { hop } = rustOf("=200\ncontent-type: text/plain\n\nx");
    (await hop.serve(post("{}"), {})).headers.set("content-type", "text/html");
    assert.equal((await hop.serve(post("{}"), {})).headers.get("content-type"), "text/plain");
  });

  test("of any number of heads are right", async () => {
    let nth = 0;
    const { hop } = rustOf("", { plan: () => `=200\ngeneration: ${nth}\n\n` });
    for (nth = 0; nth < 450; nth++) assert.equal((await hop.serve(post("{}"), {})).headers.get("generation"), String(nth));
  });
});

describe("an object", () => {
  for (const [plan, expected] of [
    ["n\ncommand\n2", ["new", "begin", "command\n2"]],
    ["i0a\ncommand", ["0a", "call", "command"]],
    ['k"a\\nb"\ncommand', ["named a\nb", "call", "command"]],
  ]) {
    test(`is asked by ${JSON.stringify(plan)}`, async () => {
      for (const answer of ["201\n\nhere", Promise.resolve("201\n\nhere")]) {
        const TASKS = namespaceOf(() => answer);
        const response = await rustOf(plan).hop.serve(post("{}"), { TASKS });
        assert.deepEqual([response.status, await response.text()], [201, "here"]);
        assert.deepEqual(TASKS.asked, [expected]);
      }
    });
  }

  test("that the namespace does not know is not asked", async () => {
    for (const plan of ["iforeign\ncommand", "siforeign\n{}"]) {
      const TASKS = namespaceOf(() => "200\n\n");
      const response = await rustOf(plan).hop.serve(post("{}"), { TASKS });
      assert.match(await response.text(), /^failed 404/);
      assert.deepEqual(TASKS.asked, []);
    }
  });

  test("that has no answer is told of by its status, one that fails by its reason", async () => {
    for (const [ask, text] of [
      [() => "501\n\n", "failed 501 "],
      [() => Promise.reject(new Error("it broke")), "failed 0 Error: it broke"],
      [() => Promise.reject(Object.assign(new TypeError("RPC"), { remote: true })), "failed 0 TypeError: RPC"],
    ]) {
      const { hop, calls } = rustOf("i0a\ncommand");
      assert.equal(await (await hop.serve(post("{}"), { TASKS: namespaceOf(ask) })).text(), text);
      assert.deepEqual(calls.map(([name]) => name), ["plan", "wait", "failed", "free"], "what may have been done is not done again");
      assert.equal(calls[1].at(-1), true, "the lines of its audit are written");
    }
  });

  test("gets a command that is long as bytes", async () => {
    const TASKS = namespaceOf(() => "200\n\n");
    const command = "ä".repeat(1024 * 1024 + 1);
    await rustOf(`n\n${command}`).hop.serve(post("{}"), { TASKS });
    assert.deepEqual(TASKS.asked, [["new", "begin", command]]);
  });

  test("takes posts to callbacks; that it has none is told to Rust", async () => {
    for (const [answer, text] of [["202\n\n", ""], ["404\n\n", "failed 404 "], ["501\n\n", "failed 501 "]]) {
      const TASKS = namespaceOf(() => answer);
      assert.equal(await (await rustOf("c0a\npost").hop.serve(post("{}"), { TASKS })).text(), text);
      assert.deepEqual(TASKS.asked, [["0a", "callback", "post"]]);
    }
  });
});

describe("a request that waits", () => {
  test("is planned again until nothing is missing, and freed", async () => {
    const [plans, calls] = [["~", "~", "=201\n\nwhole"], []];
    const noted = (name, give) => () => (calls.push(name), give());
    const waiting = { plan: () => plans.shift(), find: noted("find", async () => {}), free: noted("free", () => {}) };
    assert.equal(await (await rustOf("").hop.answer({}, waiting)).text(), "whole");
    assert.deepEqual(calls, ["find", "find", "free"]);
  });

  test("is freed when finding its fact fails", async (t) => {
    t.mock.method(console, "error", () => {});
    const freed = [];
    const wait = () => ({ find: () => Promise.reject(new Error("broken")), free: () => freed.push(1) });
    assert.equal((await rustOf("~", { wait }).hop.serve(post("{}"), {})).status, 500);
    assert.deepEqual(freed, [1]);
  });

  test("asks each rate limit once, and notes those that it was asked before", async () => {
    const keys = [];
    const env = { CALLS: { limit: async ({ key }) => (keys.push(key), { success: true }) } };
    const limits = (key) => JSON.stringify([{ binding: "CALLS", key }]);
    const { hop, calls } = rustOf(`r${limits("a")}\n~`, {}, `r${limits("b")}\n=200\n\nfound`);
    assert.equal(await (await hop.serve(post("{}"), env)).text(), "found");
    assert.deepEqual(keys, ["a", "b"]);
    assert.equal(calls.find(([name]) => name === "wait")[5], limits("a"));
    assert.deepEqual(calls.find(([name]) => name === "noteLimits"), ["noteLimits", limits("b")]);
  });

  test("or is a guest's is answered by that", async () => {
    assert.equal(await (await rustOf("g").hop.serve(post("{}"), {})).text(), "visited");
  });
});

describe("a listing", () => {
  const databaseOf = (all) => ({ prepare: (sql) => ({ bind: (...values) => ({ all: () => all(sql, values) }) }) });

  test("is one statement, whose lines go to Rust", async () => {
    const { hop, calls } = rustOf('l\n["SELECT ?1", "a", 5]');
    const DB = databaseOf(async (sql, values) => {
      assert.deepEqual([sql, values], ["SELECT ?1", ["a", 5]]);
      return { results: [{ line: "x", total: 7 }, { line: "y", total: 7 }] };
    });
    assert.equal(await (await hop.serve(post("{}"), { DB })).text(), "listed");
    assert.deepEqual(calls.at(-1).slice(4), ["x\u001ey", 7]);
  });

  test("that finds nothing has no total", async () => {
    const { hop, calls } = rustOf('l\n["SELECT"]');
    await hop.serve(post("{}"), { DB: databaseOf(async () => ({ results: [] })) });
    assert.deepEqual(calls.at(-1).slice(4), ["", undefined]);
  });

  test("in objects is asked of that of the owner, unless several have it", async () => {
    for (const [shards, expected] of [[1, "listed"], [2, "found"]]) {
      const { hop, calls } = rustOf('l"ann"\n["SELECT ?1", "a"]');
      const index = async (request) => {
        assert.deepEqual(request, ["SELECT ?1", ["a"]]);
        return { rows: [{ line: "x", total: 7 }], shards };
      };
      const TASKS = { idFromName: (name) => name, get: (name) => (name === '{"index":["ann",0]}' ? { index } : undefined) };
      assert.equal(await (await hop.serve(post("{}"), { TASKS })).text(), expected);
      if (shards === 1) assert.deepEqual(calls.at(-1).slice(4), ["x", 7]);
    }
  });

  test("that fails, or does not tell the total, is found by Rust", async () => {
    for (const [all, others] of [
      [() => Promise.reject(new Error("D1 is down")), {}],
      [async () => ({ results: [] }), { listed: () => "~" }],
    ]) {
      const { hop, calls } = rustOf('l\n["SELECT"]', others);
      assert.equal(await (await hop.serve(post("{}"), { DB: databaseOf(all) })).text(), "found");
      assert.deepEqual(calls.find(([name]) => name === "relisted"), ["relisted", undefined, undefined]);
    }
  });
});

test("a failure of our own is an internal error, and is logged", async () => {
  const logged = mock.method(console, "error", () => {});
  const { hop } = rustOf("", { plan: () => { throw new Error("broken"); } });
  assert.equal((await hop.serve(post("{}"), {})).status, 500);
  assert.equal(logged.mock.callCount(), 1);
  logged.mock.restore();
});

describe("rate limits", () => {
  const limits = [
    { binding: "CALLS", key: "demo/caller/key:a", period_s: 10, guessed_at: "" },
    { binding: "GUESSES", key: "demo/failures/192.0.2.1", period_s: 60, guessed_at: "demo" },
  ];
  const plan = `r${JSON.stringify(limits)}\n=200\n\nanswer`;

  /** Bindings that refuse what is named. */
  const bindings = (...refusing) => {
    const keys = [];
    const limit = (name) => ({ limit: async ({ key }) => (keys.push([name, key]), { success: !refusing.includes(name) }) });
    return { keys, CALLS: limit("CALLS"), GUESSES: limit("GUESSES") };
  };

  test("are asked before a plan is carried out, each for what it counts together", async () => {
    const env = bindings();
    assert.equal(await (await rustOf(plan).hop.serve(post("{}"), env)).text(), "answer");
    assert.deepEqual(env.keys, limits.map(({ binding, key }) => [binding, key]));
  });

  test("that refuse are told to what answers, as they came, and nothing is carried out", async () => {
    for (const refusing of [["CALLS"], ["GUESSES"], ["CALLS", "GUESSES"]]) {
      const { hop, calls } = rustOf(plan.replace("=200\n\nanswer", "~"));
      const response = await hop.serve(post("{}"), bindings(...refusing));
      assert.deepEqual([response.status, response.headers.get("x-refused")], [429, refusing.join()]);
      assert.deepEqual(calls.map(([name]) => name), ["plan", "wait", "held", "free"]);
      assert.deepEqual(JSON.parse(calls[2][1]), limits.filter(({ binding }) => refusing.includes(binding)));
    }
  });

  test("that cannot be asked let the request through, and are logged", async (t) => {
    const logged = t.mock.method(console, "error", () => {});
    const env = { CALLS: { limit: () => Promise.reject(new Error("down")) } };
    assert.equal((await rustOf(plan).hop.serve(post("{}"), env)).status, 200);
    assert.equal(logged.mock.callCount(), 2);
    const lines = logged.mock.calls.map((call) => String(call.arguments[0]));
    assert.ok(lines.includes("the rate limit CALLS cannot be asked: down"), lines.join());
  });
});

describe("an answer that is not for pages of all origins", () => {
  const answer = async (origin, plan) => (await rustOf(`o${origin}\n${plan}`).hop.serve(post("{}"), {})).headers;

  test("names the one origin, and allows credentials", async () => {
    const headers = await answer("https://app.example", "=200\nvary: accept\n\nx");
    assert.equal(headers.get("access-control-allow-origin"), "https://app.example");
    assert.equal(headers.get("access-control-allow-credentials"), "true");
    assert.equal(headers.get("vary"), "accept, Origin");
  });

  test("or names none", async () => {
    const headers = await answer("", "=200\n\nx");
    assert.deepEqual([...headers.keys()].filter((name) => name.startsWith("access-control-")), []);
    assert.equal(headers.get("vary"), "Origin");
  });

  test("does not change what later answers of the same head are like", async () => {
    let plan = "o\n=200\n\nx";
    const { hop } = rustOf("", { plan: () => plan });
    await hop.serve(post("{}"), {});
    plan = "=200\n\nx";
    assert.equal((await hop.serve(post("{}"), {})).headers.get("access-control-allow-origin"), "*");
  });
});

test("a refusal names its request", async () => {
  for (const [status, expected] of [[200, null], [404, "8f2d-FRA"], [429, "8f2d-FRA"]]) {
    const response = await rustOf(`=${status}\n\nx`).hop.serve(post("{}", { "cf-ray": "8f2d-FRA" }), {});
    assert.equal(response.headers.get("x-request-id"), expected);
  }
});

describe("an observed request", () => {
  const observing = (plan, others = {}) => rustOf(plan, { observes: () => true, traceHead: () => "\ntraceparent\nt\n:observed\nclient", ...others });
  /** What was reported of the only request: its subject, status, code, and which instants are known. */
  const reported = (calls) => {
    const all = calls.filter(([name]) => name === "requestAnswered");
    assert.equal(all.length, 1);
    const [[, , head, subject, status, code, begun, ended, found, asked, answered]] = all;
    assert.match(head, /\ntraceparent\nt\n:observed\nclient\n:request\n/);
    assert.ok(begun > 1e12 && ended >= begun);
    return { subject, status, code, found: found > 0, asked: asked > 0, answered: answered > 0 };
  };
  const ok = { subject: "s", status: 200, code: undefined, found: false, asked: false, answered: true };

  test("is reported with the subject of its plan, once it is answered", async () => {
    const { hop, calls } = observing("ts\n=200\n\nx");
    assert.equal(await (await hop.serve(post("{}"), {})).text(), "x");
    assert.deepEqual(reported(calls), ok);
  });

  test("says when its object was asked, and the code of an error over JSON-RPC", async () => {
    for (const [body, code] of [
      ['{"jsonrpc":"2.0","id":"a\\"b","error":{"code":-32001,"message":"no"}}', -32001],
      ['{"jsonrpc":"2.0","id":7,"error":{"code":-32603}}', -32603],
      ['{"jsonrpc":"2.0","id":null,"result":{"error":{"code":1}}}', undefined],
      ['{"jsonrpc":"2.0","id":"\\",\\"error\\":{\\"code\\":1","result":{}}', undefined],
    ]) {
      const { hop, calls } = observing("ts\ni1\n{}");
      await hop.serve(post("{}"), { TASKS: namespaceOf(async () => `200\n\n${body}`) });
      assert.deepEqual(reported(calls), { ...ok, code, asked: true });
    }
  });

  test("says when its facts were found, and that its object did not answer", async () => {
    const { hop, calls } = observing("~", {}, "");
    const { hop: asking, calls: asked } = observing("ts\ni1\n{}");
    await hop.serve(post("{}"), {});
    assert.equal(reported(calls).found, true);
    await asking.serve(post("{}"), { TASKS: namespaceOf(async () => { throw new Error("gone"); }) });
    assert.deepEqual(reported(asked), { ...ok, asked: true });
  });

  test("is not one whose head says nothing about it", async () => {
    const { hop, calls } = observing("=200\n\nx", { traceHead: () => "" });
    await hop.serve(post("{}"), {});
    assert.deepEqual(calls.filter(([name]) => name === "requestAnswered"), []);
  });
});
