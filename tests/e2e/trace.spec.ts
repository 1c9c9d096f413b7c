// W3C Trace Context: read from a request, and passed on in all calls of the agent and to its webhooks.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Agent, followUp, message, toolCall, until, type Task } from "./client.ts";
import { startWorker, type Worker } from "./harness.ts";
import { Sink, type Arrival } from "./sink.ts";

let sink: Sink;
let worker: Worker;
before(async () => {
  sink = await Sink.open();
  worker = await startWorker({ vars: { SINK: sink.url, HEADER_KEY: "trace-header-key", SEGMENT_KEY: "trace-segment-key", QUERY_KEY: "trace-query-key", BODY_KEY: "trace-body-key" } });
});
after(async () => {
  await worker.stop();
  sink.close();
});

const SPAN = "00f067aa0ba902b7";

/** The headers of a client in a new trace. */
function traced(): { id: string; headers: Record<string, string> } {
  const id = crypto.randomUUID().replaceAll("-", "");
  return { id, headers: { traceparent: `00-${id}-${SPAN}-01`, tracestate: "vendor=x, other=y" } };
}

/** Fails unless the request is a new span in the trace. Returns the id of the span. */
function spanOf({ headers }: Arrival, trace: string): string {
  const [, id, span] = /^00-([0-9a-f]{32})-([0-9a-f]{16})-01$/.exec(String(headers["traceparent"])) ?? [];
  assert.equal(id, trace, JSON.stringify(headers));
  assert.equal(headers["tracestate"], "vendor=x,other=y");
  assert.ok(span !== undefined && span !== SPAN, "a span of its own");
  return span;
}

const hooked = (agent: Agent, said: Parameters<typeof message>[0], path: string): Promise<{ task?: Task }> =>
  agent.call("SendMessage", { message: message(said), configuration: { taskPushNotificationConfig: { url: sink.url + path } } });

test("requests of tools and notifications belong to the trace of the message, each as a span of its own", async () => {
  const { id, headers } = traced();
  const agent = new Agent(`${worker.url}/secrets`, headers);
  for (const value of ["1", "2"]) await hooked(agent, toolCall("send", { path: "http-tool", value }), "/hook");
  await until(async () => sink.arrivals("/hook"), (arrivals) => arrivals.filter(({ body }) => body.includes("TASK_STATE_COMPLETED")).length >= 2);
  const all = ["/http-tool", "/hook"].flatMap((path) => sink.arrivals(path));
  assert.ok(all.length >= 4, "the tool was called twice, and both tasks had notifications");
  const spans = all.map((arrival) => spanOf(arrival, id));
  assert.equal(new Set(spans).size, spans.length, "no span is used twice");
});

test("a trace outlives the memory of its task, and the next message begins its own", async () => {
  const first = traced();
  const { task } = await hooked(new Agent(`${worker.url}/demo`, first.headers), "ask", "/turns");
  assert.ok(task !== undefined);
  const seen = (state: string) => (arrivals: Arrival[]) => arrivals.some(({ body }) => body.includes(state));
  const asked = await until(async () => sink.arrivals("/turns"), seen("TASK_STATE_INPUT_REQUIRED"));
  for (const arrival of asked) spanOf(arrival, first.id);

  await worker.evict(task.id);
  sink.forget("/turns");
  const second = traced();
  await new Agent(`${worker.url}/demo`, second.headers).sendForTask(followUp(task, "red"));
  const ended = await until(async () => sink.arrivals("/turns"), seen("TASK_STATE_COMPLETED"));
  spanOf(ended.find(({ body }) => body.includes("TASK_STATE_COMPLETED")) as Arrival, second.id);
});

test("without a valid traceparent no trace is begun", async () => {
  for (const [index, headers] of [
    {},
    { tracestate: "vendor=x" },
    { traceparent: `00-${"0".repeat(32)}-${SPAN}-01` },
    { traceparent: `00-${"a".repeat(32)}-${SPAN}-01-extra` },
    { traceparent: `ff-${"a".repeat(32)}-${SPAN}-01` },
    { traceparent: `00-${"A".repeat(32)}-${SPAN}-01` },
  ].entries()) {
    const path = `/untraced-${index}`;
    await hooked(new Agent(`${worker.url}/secrets`, headers), toolCall("plain"), `${path}-hook`);
    for (const arrival of [await sink.arrival("/plain", index + 1), await sink.arrival(`${path}-hook`)]) {
      assert.deepEqual([arrival.headers["traceparent"], arrival.headers["tracestate"]], [undefined, undefined], JSON.stringify(headers));
    }
  }
});
