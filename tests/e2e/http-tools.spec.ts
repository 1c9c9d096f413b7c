// Tools that are HTTP requests, described in tests/agents/http.toml and tests/tools/, and the answers of servers to
// them.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, describe, test } from "node:test";
import { Agent, textOf, toolCall, untilEnded, type Task } from "./client.ts";
import { startWorker, type Worker } from "./harness.ts";
import { Sink, type Arrival } from "./sink.ts";

interface Injection {
  place: string;
  value: unknown;
  sent?: unknown;
  refused?: string;
  why: string;
}

const injections = JSON.parse(readFileSync(new URL("tool-injections.json", import.meta.url), "utf8")) as Injection[];

let sink: Sink;
let worker: Worker;
let agent: Agent;
const vars = () => ({ SINK: sink.url, SINK_PORT: new URL(sink.url).port });
before(async () => {
  sink = await Sink.open();
  worker = await startWorker({ vars: vars() });
  agent = new Agent(`${worker.url}/http`);
});
after(async () => {
  await worker.stop();
  sink.close();
});

const result = (task: Task) => task.artifacts?.[0]?.parts;
const get = (tool: string, first: string, second = "x") => agent.sendForTask(toolCall(tool, { first, second }));

function assertFailed(task: Task, reason: RegExp): void {
  assert.equal(task.status.state, "TASK_STATE_FAILED", JSON.stringify(task.artifacts));
  assert.match(textOf(task.status.message), reason);
}

test("HTTP tools are skills of the card as other tools are, shared ones among them (§4.4.5)", async () => {
  const response = await fetch(`${worker.url}/http/.well-known/agent-card.json`);
  const { skills } = (await response.json()) as { skills: { id: string; name: string; description: string }[] };
  assert.deepEqual(skills.slice(0, 2).map(({ id, name, description }) => [id, name, description]), [
    ["shared_lookup", "Shared Lookup", "Looks something up."],
    ["into_path", "Into Path", "Puts the value into a segment of the path."],
  ]);
  assert.doesNotMatch(JSON.stringify(skills), /SINK/);
});

test("a tool of a file in tools/ is called by the agent that names it", async () => {
  const task = await agent.sendForTask(toolCall("shared_lookup", { key: "a b" }));
  assert.deepEqual(result(task), [{ text: "ok" }]);
  assert.equal(sink.count("/shared/a%20b"), 1);
});

describe("an answer", () => {
  for (const [what, answer, parts] of [
    ["json", { headers: { "content-type": "application/json" }, body: '{"a":[1]}' }, [{ data: { a: [1] } }]],
    ["text", { headers: { "content-type": "text/html" }, body: "<p>ü</p>" }, [{ text: "<p>ü</p>" }]],
    ["image", { headers: { "content-type": "image/png" }, body: "PNG" }, [{ raw: "UE5H", mediaType: "image/png" }]],
    ["nothing", { status: 204, body: "" }, [{ data: { status: 204 } }]],
  ] as const) {
    test(`of ${what} is a part of its kind (§4.1.6)`, async () => {
      sink.plan(`/kinds/${what}`, answer);
      assert.deepEqual(result(await get("get", "kinds", what)), parts);
    });
  }

  test("of JSON is cut down to the part that the tool picks, and optional arguments are left out", async () => {
    sink.plan("/pick/a?page=1", { body: '{"found":[{"name":"first"}]}' });
    assert.deepEqual(result(await agent.sendForTask(toolCall("pick", { name: "a" }))), [{ text: "first" }]);
    sink.plan("/pick/a?page=2&lang=pt", { body: '{"found":[{"name":{"de":1}}]}' });
    const task = await agent.sendForTask(toolCall("pick", { name: "a", page: 2, lang: "pt" }));
    assert.deepEqual(result(task), [{ data: { de: 1 } }]);
    assert.equal((await sink.arrival("/pick/a?page=2&lang=pt")).headers["x-lang"], "pt");
    assert.equal((await sink.arrival("/pick/a?page=1")).headers["x-lang"], undefined);
  });

  test("without that part, or without JSON, fails the task with what came instead (§4.1.3)", async () => {
    sink.plan("/pick/b?page=1", { body: '{"found":[]}' }, { headers: { "content-type": "text/html" }, body: "<p>Sorry</p>" });
    const pick = () => agent.sendForTask(toolCall("pick", { name: "b" }));
    assertFailed(await pick(), /GET \$\{SINK\}\/pick\/\{name\}\S* answered 200, but has nothing at \/found\/0\/name in its body/);
    assertFailed(await pick(), /its body is not JSON \(text\/html\): <p>Sorry<\/p>/);
  });
});

describe("a server that", () => {
  test("hangs is left after the timeout, and asked again if the tool may (§4.1.3)", async () => {
    sink.plan("/hang/x", "hold", { body: "late" });
    assert.deepEqual(result(await get("get", "hang")), [{ text: "late" }]);
    sink.plan("/hang/x", "hold");
    assertFailed(await get("get_once", "hang"), /GET \$\{SINK\}\/\{first\}\/\{second\} did not answer within 700 ms/);
  });

  test("sends its answer too slowly is left, too", async () => {
    sink.otherwise = async (arrival) => {
      if (!arrival.path.startsWith("/slow/")) return {};
      await arrival.piece("a beginning");
      return "hold";
    };
    assertFailed(await get("get_once", "slow"), /did not answer within 700 ms/);
  });

  test("answers 10 MB is not read to its end", async () => {
    sink.plan("/big/x", { body: "x".repeat(10_000_000) });
    assertFailed(await get("get", "big"), /gave an answer of more than 100000 bytes/);
    assert.equal(sink.count("/big/x"), 1, "the same would come again");
  });

  test("redirects is not followed", async () => {
    sink.plan("/moved/x", { status: 302, headers: { location: `${sink.url}/target` } });
    assertFailed(await get("get", "moved"), /answered 302, a redirect to 127\.0\.0\.1:\d+; redirects are not followed/);
    assert.equal(sink.count("/target"), 0);
  });

  test("breaks off in the middle gives no result", async () => {
    sink.otherwise = async (arrival) => {
      if (!arrival.path.startsWith("/half/")) return {};
      await arrival.piece("half", { "content-length": "100" });
      return "drop";
    };
    assertFailed(await get("get_once", "half"), /did not answer: /);
  });

  test("wants to be left alone is asked again later (RFC 9110 §10.2.3)", async () => {
    sink.plan("/busy/x", { status: 429, headers: { "retry-after": "1" } }, { body: "now" });
    assert.deepEqual(result(await get("get", "busy")), [{ text: "now" }]);
    sink.plan("/busier/x", { status: 429, headers: { "retry-after": "3600" }, body: "in an hour" });
    assertFailed(await get("get", "busier"), /answered 429: in an hour/);
    assert.equal(sink.count("/busier/x"), 1);
  });

  test("goes on failing is given up, with what it says", async () => {
    sink.plan("/down/x", { status: 500 }, { status: 502 }, { status: 503, body: "still\n\tdown" });
    assertFailed(await get("get", "down"), /answered 503: still down$/);
    assert.equal(sink.count("/down/x"), 3);
    sink.plan("/absent/x", { status: 404, body: "no such thing" });
    assertFailed(await get("get", "absent"), /answered 404: no such thing$/);
    assert.equal(sink.count("/absent/x"), 1);
  });
});

test("a call that is interrupted is made again under the same key, and no other call has it", async (t) => {
  const own = await startWorker({ vars: vars() });
  t.after(() => own.stop());
  const orders = new Agent(`${own.url}/http`);
  sink.plan("/orders/book", "hold", { status: 503 }, { headers: { "content-type": "application/json" }, body: '{"order":7}' });
  const order = toolCall("order", { item: "book" });
  const { task } = await orders.send(order, { returnImmediately: true });
  await sink.arrival("/orders/book");
  await own.kill9();
  await own.restart();
  const done = await untilEnded(orders, task?.id ?? "");
  assert.deepEqual(result(done), [{ data: { order: 7 } }]);
  const keyOf = (arrival: Arrival | undefined) => arrival?.headers["idempotency-key"];
  const keys = sink.arrivals("/orders/book").map(keyOf);
  assert.equal(keys.length, 3);
  assert.equal(new Set(keys).size, 1);
  assert.match(String(keys[0]), /^[0-9a-f]{64}$/);

  const both = { parts: [...order.parts, ...order.parts] };
  sink.plan("/orders/book", {}, {});
  await orders.sendForTask(both);
  assert.equal(new Set(sink.arrivals("/orders/book").map(keyOf)).size, 3, "neither in another task nor twice in a message");
});

describe("arguments", () => {
  for (const place of new Set(injections.map((row) => row.place))) {
    test(`for the ${place} of a request stay in their place`, async () => {
      for (const { value, sent, refused, why } of injections.filter((row) => row.place === place)) {
        for (const path of ["/items", "/search", "/header", "/json", "/form", "/text", "/host"]) sink.forget(path);
        const arrivals: Arrival[] = [];
        sink.otherwise = (arrival) => (arrivals.push(arrival), {});
        const task = await agent.sendForTask(toolCall(`into_${place}`, { value }));
        if (refused !== undefined) {
          assert.equal(task.status.state, "TASK_STATE_FAILED", why);
          assert.ok(textOf(task.status.message).includes(refused), `${why}: ${textOf(task.status.message)}`);
          assert.equal(arrivals.length, 0, why);
          continue;
        }
        assert.equal(task.status.state, "TASK_STATE_COMPLETED", `${why}: ${textOf(task.status.message)}`);
        const [arrival, ...others] = arrivals;
        assert.equal(others.length, 0, why);
        const found = place === "header" ? arrival?.headers["x-value"] : place === "json" ? arrival?.json() : arrival?.body || arrival?.path;
        assert.deepEqual(found, sent, why);
        if (place === "header") assert.equal(arrival?.headers["x-fixed"], "1", why);
      }
    });
  }
});

test("a caller who chooses the host gets no further than a webhook (§13.2)", async (t) => {
  const host = (of: Worker, value: string) => new Agent(`${of.url}/http`).sendForTask(toolCall("into_host", { value }));
  assert.deepEqual(result(await host(worker, "127.0.0.1")), [{ text: "ok" }], "loopback is open in development");
  const deployed = await startWorker({ vars: { ...vars(), DEVELOPMENT: "false" } });
  const open = await startWorker({ vars: { ...vars(), DEVELOPMENT: "false", WEBHOOK_ALLOW_PRIVATE: "true" } });
  t.after(() => Promise.all([deployed.stop(), open.stop()]));
  for (const value of ["127.0.0.1", "localhost", "2130706433"]) {
    assertFailed(await host(deployed, value), /was not called: with these arguments, it must name a host on the public internet/);
  }
  assertFailed(await host(deployed, "hooks.example.com"), /it must begin with https:/);
  assert.deepEqual(result(await host(open, "127.0.0.1")), [{ text: "ok" }]);
  const fixed = await new Agent(`${deployed.url}/http`).sendForTask(toolCall("shared_lookup", { key: "a" }));
  assert.deepEqual(result(fixed), [{ text: "ok" }], "what the author chose may be private");
});
