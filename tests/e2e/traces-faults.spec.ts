// Traces over crashes: a coordinator that is killed, functions and models; and receivers of spans that fail.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { Agent, message, textOf, until, untilEnded, type Task } from "./client.ts";
import { freePort } from "../../scripts/lib/port.mjs";
import { startWorker, type Worker, type WorkerOptions } from "./harness.ts";
import { Receiver, assertConnected, below, clientTrace, theSpan, type Span } from "./spans.ts";
import { EventStream } from "./stream.ts";
import { team } from "./teams-traced.ts";

let receiver: Receiver;
before(async () => {
  receiver = await Receiver.open();
});
after(() => receiver.close());

const runs = (spans: Span[], agent: string): Span[] => spans.filter(({ name, kind }) => name === `invoke_agent ${agent}` && kind === 1).sort((a, b) => a.begun - b.begun);

describe("a coordinator that asks two agents and is killed once", () => {
  let worker: Worker;
  before(async () => {
    worker = await startWorker({ vars: { AGENTS: team(), OTLP_URL: receiver.url, KEEP_ALIVE_MS: "1000" }, hasDev: true });
  });
  after(() => worker.stop());

  test("is one connected trace", async () => {
    const { trace, span, headers } = clientTrace();
    const planner = new Agent(`${worker.url}/planner`, headers);
    const { id } = await planner.sendForTask("Will it rain in Rome, and book a train to Rome", { returnImmediately: true });
    // The answer of the fast agent is reported before the process dies, that of the slow one is not.
    await receiver.until(trace, (all) => runs(all, "weather").length === 1 && all.filter(({ name }) => name === "POST").length >= 3);
    await worker.kill9();
    await worker.restart();
    const task = await untilEnded(planner, id);
    assert.equal(task.status.state, "TASK_STATE_COMPLETED", textOf(task.status.message));
    const spans = await receiver.until(trace, (all) => runs(all, "planner").length === 2 && runs(all, "trains").length === 2);
    assertConnected(spans, span);
    for (const agent of ["planner", "trains"]) {
      const [lost, resumed] = runs(spans, agent) as [Span, Span];
      assert.deepEqual([lost.attributes["a2a_edge.run.ending"], lost.hasFailed, resumed.attributes["a2a_edge.run.ending"]], ["interrupted", true, "returned"]);
      assert.deepEqual(resumed.links, [lost.spanId], "the run links to the one that it continues");
    }
    const [lost, resumed] = runs(spans, "planner") as [Span, Span];
    const of = (run: Span): string[] => [...new Set(below(spans, run))];
    assert.ok(of(lost).includes("chat scripted"), "what the lost process has reported is below the run that it could not report");
    assert.ok(of(resumed).includes("chat scripted") && of(resumed).includes("invoke_agent trains"), String(of(resumed)));
    const chat = spans.find(({ name }) => name === "chat scripted") as Span;
    assert.deepEqual([chat.kind, chat.attributes["gen_ai.provider.name"], chat.attributes["gen_ai.operation.name"]], [3, "openai", "chat"]);
    assert.ok(Number(chat.attributes["gen_ai.usage.input_tokens"]) > 0);
    // A task of another agent is below the request that began it, which is below the call.
    const [begun] = runs(spans, "weather") as [Span];
    const request = spans.find(({ spanId }) => spanId === begun.parentSpanId) as Span;
    assert.equal(spans.find(({ spanId }) => spanId === request.parentSpanId)?.name, "invoke_agent weather");
  });
});

describe("a receiver that", () => {
  const lost = (worker: Worker): { count: number; reason: string } | undefined => {
    const line = worker.logs.map(({ message: text }) => text).find((text) => text.includes('"spans lost"'));
    return line === undefined ? undefined : (JSON.parse(line.slice(line.indexOf("{"))) as { count: number; reason: string });
  };
  async function withWorker(options: WorkerOptions, run: (worker: Worker) => Promise<void>): Promise<void> {
    const worker = await startWorker(options);
    try {
      await run(worker);
    } finally {
      await worker.stop();
    }
  }
  const hello = async (worker: Worker): Promise<Task> => new Agent(`${worker.url}/demo`).sendForTask("hello");

  test("refuses them costs spans, which are counted, and nothing else", async () => {
    const failing = await Receiver.open();
    failing.sink.otherwise = () => ({ status: 503 });
    await withWorker({ vars: { OTLP_URL: failing.url } }, async (worker) => {
      assert.equal((await hello(worker)).status.state, "TASK_STATE_COMPLETED");
      const { count, reason } = await until(async () => lost(worker), (line) => line !== undefined) as { count: number; reason: string };
      assert.ok(count >= 3, String(count));
      assert.equal(reason, "the receiver answered 503");
    });
    failing.close();
  });

  test("is gone, or does not answer, delays no answer", async () => {
    const silent = await Receiver.open();
    silent.sink.otherwise = () => "hold";
    for (const url of [`http://127.0.0.1:${await freePort()}`, silent.url]) {
      await withWorker({ vars: { OTLP_URL: url } }, async (worker) => {
        for (let n = 0; n < 20; n += 1) assert.equal((await hello(worker)).status.state, "TASK_STATE_COMPLETED");
        assert.match(String((await until(async () => lost(worker), (line) => line !== undefined))?.reason), /not reached|no answer within/);
      });
    }
    silent.close();
  });

  for (const [name, vars, expected] of [
    ["is in a network that is not public", { OTLP_URL: "http://192.168.1.7:4318" }, "the variable OTLP_URL must name a host on the public internet; 192.168.1.7 is"],
    ["has no URL", { OTLP_URL: "otlp.example" }, "the variable OTLP_URL must begin with a scheme and a host"],
    ["gets headers that are none", { OTLP_URL: "https://opentelemetry.io", OTLP_HEADERS: "the-key-alone" }, "the secret OTLP_HEADERS must be a list such as"],
    ["gets more than all", { OTLP_URL: "https://opentelemetry.io", TRACE_RATIO: "2" }, "the variable TRACE_RATIO must be a number from 0 to 1"],
  ] as const) {
    test(`${name} is refused by all requests, with the reason in the log`, async () => {
      await withWorker({ vars }, async (worker) => {
        const answer = await fetch(`${worker.url}/demo`, { method: "POST", body: "{}", headers: { "content-type": "application/json" } });
        assert.equal(answer.status, 500);
        await until(async () => worker.logs, (logs) => logs.some(({ message: text }) => text.includes(expected)));
        assert.ok(!worker.logs.some(({ message: text }) => text.includes("the-key-alone")));
      });
    });
  }

  test("is slow for many spans loses the newest ones, and the memory stays small", async () => {
    const slow = await Receiver.open();
    slow.sink.otherwise = () => "hold";
    await withWorker({ vars: { OTLP_URL: slow.url } }, async (worker) => {
      const agent = new Agent(`${worker.url}/demo`);
      const { id } = await hello(worker);
      for (let round = 0; round < 30; round += 1) await Promise.all(Array.from({ length: 100 }, () => agent.getTask(id)));
      const line = await until(async () => lost(worker), (found) => found !== undefined && found.count > 0);
      assert.ok(line !== undefined);
    });
    slow.close();
  });
});

test("a stream that its client leaves is reported when it is noticed", async () => {
  const worker = await startWorker({ vars: { OTLP_URL: receiver.url } });
  const { trace, headers } = clientTrace();
  const stream = await EventStream.open(`${worker.url}/demo`, "SendStreamingMessage", { message: message("hold 2000") }, headers);
  await stream.next();
  stream.leave();
  const spans = await receiver.until(trace, (all) => all.some(({ name }) => name === "SendStreamingMessage") && all.some(({ name }) => name === "invoke_agent demo"));
  assert.equal(theSpan(spans, "SendStreamingMessage").attributes["http.response.status_code"], "200");
  await worker.stop();
});
