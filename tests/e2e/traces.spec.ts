// Spans by OTLP: what is recorded of requests, runs, calls and webhooks, and what is not.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { Agent, RpcError, followUp, message, textOf, toolCall, until, untilEnded } from "./client.ts";
import { secret, startWorker, type Worker } from "./harness.ts";
import { Receiver, assertConnected, below, clientTrace, theSpan, type Span } from "./spans.ts";
import { Sink } from "./sink.ts";
import { EventStream } from "./stream.ts";

const KEY = secret("OTLP_KEY", "otlp-key-of-the-receiver");

let receiver: Receiver;
let sink: Sink;
let worker: Worker;
before(async () => {
  [receiver, sink] = await Promise.all([Receiver.open(), Sink.open()]);
  const keys = { HEADER_KEY: "traces-header-key", SEGMENT_KEY: "traces-segment-key", QUERY_KEY: "traces-query-key", BODY_KEY: "traces-body-key" };
  const vars = { OTLP_URL: `${receiver.url}/`, OTLP_HEADERS: `X-Key=${KEY},x-other=a%20b`, TRACE_RATIO: "0", OTEL_SERVICE_NAME: "my agents", SINK: sink.url, ...keys };
  worker = await startWorker({ vars });
});
after(async () => {
  await worker.stop();
  receiver.close();
  sink.close();
});

const at = (slug: string, headers: Record<string, string>): Agent => new Agent(`${worker.url}/${slug}`, headers);
const has = (...names: string[]) => (spans: Span[]): boolean => names.every((name) => spans.some((span) => span.name === name));

describe("a trace of a client", () => {
  test("has the request, its object, its run and the index, by the names of OpenTelemetry", async () => {
    const { trace, span, headers } = clientTrace();
    const sent = { ...message("hello, my word"), contextId: "conversation-1" };
    const { task } = await at("demo", headers).call<{ task: { id: string } }>("SendMessage", { message: sent });
    await at("demo", headers).getTask(task.id);
    const spans = await receiver.until(trace, has("SendMessage", "GetTask", "index"));
    assertConnected(spans, span);
    const request = theSpan(spans, "SendMessage");
    assert.deepEqual([request.parentSpanId, request.kind, request.hasFailed], [span, 2, false]);
    assert.deepEqual(request.attributes, {
      "http.request.method": "POST",
      "http.route": "/{agent}",
      "http.response.status_code": "200",
      "a2a.method.name": "SendMessage",
      "a2a.protocol.version": "1.0",
      "gen_ai.agent.name": "demo",
      "gen_ai.conversation.id": "conversation-1",
      "a2a.message.id": sent.messageId,
    });
    assert.equal(theSpan(spans, "GetTask").attributes["a2a.task.id"], task.id);
    assert.deepEqual(below(spans, request), ["index", "invoke_agent demo", "object"]);
    const run = theSpan(spans, "invoke_agent demo");
    assert.deepEqual([run.kind, run.links, run.attributes["a2a.task.id"], run.attributes["a2a.task.state"], run.attributes["a2a_edge.run.ending"]],
      [1, [], task.id, "TASK_STATE_COMPLETED", "returned"]);
    assert.ok(run.begun >= request.begun);
  });

  test("names what has failed, and marks it", async () => {
    const { trace, span, headers } = clientTrace();
    await assert.rejects(at("demo", headers).getTask("no-such-task"), RpcError);
    const path = (suffix: string): Promise<Response> => fetch(`${worker.url}${suffix}`, { headers });
    const paths = ["/demo/tasks/none?secret=x", "/not-an-agent", "/demo/callbacks/secret-of-a-callback", "/.well-known/agent-card.json"];
    const answers = await Promise.all(paths.map(path));
    for (const answer of answers) await answer.text();
    const spans = await receiver.until(trace, ({ length }) => length >= 5);
    assertConnected(spans, span);
    const told = spans.map(({ name, hasFailed, attributes }) => [name, hasFailed, attributes["error.type"], attributes["gen_ai.agent.name"]]);
    assert.deepEqual(told.sort(), [
      ["GET /{agent}", true, "404", undefined],
      ["GET /{agent}/*", true, "404", "demo"],
      ["GET /{agent}/.well-known/{card}", false, undefined, "assistant"],
      ["GET /{agent}/callbacks/{callback}", true, String(answers[2]?.status), "demo"],
      ["POST /{agent}", true, "-32001", "demo"],
    ].sort());
  });

  test("goes on in calls of tools, in requests to other servers, and in webhooks", async () => {
    const { trace, span, headers } = clientTrace();
    const configuration = { taskPushNotificationConfig: { url: `${sink.url}/hook/x?token=of-the-hook` } };
    await at("secrets", headers).call("SendMessage", { message: message(toolCall("send", { path: "traced", value: "1" })), configuration });
    const spans = await receiver.until(trace, has("webhook", "POST", "invoke_agent secrets"));
    assertConnected(spans, span);
    const called = theSpan(spans, "POST");
    assert.equal(spans.find(({ spanId }) => spanId === called.parentSpanId)?.name, "execute_tool send");
    assert.deepEqual([called.kind, called.attributes["server.address"], called.attributes["server.port"]], [3, "127.0.0.1", new URL(sink.url).port]);
    const [arrival] = sink.arrivals("/traced");
    assert.equal(arrival?.headers["traceparent"], `00-${trace}-${called.spanId}-01`, "the server continues the trace in the span of the request");
    const hooks = spans.filter(({ name }) => name === "webhook");
    const arrived = sink.arrivals("/hook").map((hook) => String(hook.headers["traceparent"]).split("-")[2]);
    for (const hook of hooks) assert.ok(arrived.includes(hook.spanId), "each attempt is the span that its receiver continues");
  });

  test("has a stream until its end", async () => {
    const { trace, span, headers } = clientTrace();
    const stream = await EventStream.open(`${worker.url}/demo`, "SendStreamingMessage", { message: message("hold 300") }, headers);
    await stream.rest();
    const spans = await receiver.until(trace, has("SendStreamingMessage", "invoke_agent demo"));
    assertConnected(spans, span);
    const [request, run] = [theSpan(spans, "SendStreamingMessage"), theSpan(spans, "invoke_agent demo")];
    assert.ok(request.ended >= run.ended - 50, "the request lasts as long as its stream");
  });

  test("has a span for each time that a parked run was in memory, linked", async () => {
    const { trace, span, headers } = clientTrace();
    const patient = at("patient", headers);
    const { id } = await patient.sendForTask("park 1500", { returnImmediately: true });
    await until(() => patient.getTask(id), ({ status }) => textOf(status.message) === "waiting");
    await worker.evict(id);
    await untilEnded(patient, id);
    const spans = await receiver.until(trace, (all) => all.filter(({ name }) => name === "invoke_agent patient").length === 2);
    assertConnected(spans, span);
    const [first, second] = spans.filter(({ name }) => name === "invoke_agent patient").sort((a, b) => a.begun - b.begun) as [Span, Span];
    assert.deepEqual([first.attributes["a2a_edge.run.ending"], second.attributes["a2a_edge.run.ending"]], ["parked", "returned"]);
    assert.deepEqual([first.links, second.links], [[], [first.spanId]]);
    assert.ok(second.begun - first.ended >= 1_000, "no span covers the wait");
  });

  test("gets no run of another message", async () => {
    const [one, two] = [clientTrace(), clientTrace()];
    const asked = await at("demo", one.headers).sendForTask("ask");
    await at("demo", two.headers).sendForTask(followUp(asked, "red"));
    const spans = await receiver.until(two.trace, has("SendMessage", "invoke_agent demo"));
    assertConnected(spans, two.span);
    assert.deepEqual(theSpan(spans, "invoke_agent demo").links, []);
  });
});

describe("nothing is recorded", () => {
  test("of a client that does not record its trace, and of one without a trace at a ratio of 0", async () => {
    const quiet = clientTrace(false);
    const count = receiver.spans().length;
    const { id } = await at("demo", quiet.headers).sendForTask("hello");
    await at("demo", {}).sendForTask("hello");
    const last = clientTrace();
    await at("demo", last.headers).getTask(id);
    await receiver.until(last.trace, has("GetTask"));
    assert.deepEqual(receiver.spans(quiet.trace), []);
    const others = receiver.spans().slice(count).filter(({ traceId }) => traceId !== last.trace);
    assert.deepEqual(others.filter(({ attributes }) => attributes["a2a.task.id"] === id), []);
  });

  test("of what clients and agents say, of URLs and of secrets", async () => {
    for (const word of ["hello, my word", "secret-of-a-callback", "secret=x", "of-the-hook", "no-such-task-text", "traces-header-key", "traces-query-key", KEY]) {
      assert.ok(!receiver.text.includes(word), word);
    }
  });
});

test("the receiver gets its headers, and the name of the service", async () => {
  const [first] = receiver.sink.arrivals("/v1");
  assert.deepEqual([first?.path, first?.headers["x-key"], first?.headers["x-other"], first?.headers["content-type"]], ["/v1/traces", KEY, "a b", "application/json"]);
  const [resource] = receiver.resources();
  assert.equal(resource?.["service.name"], "my agents");
  assert.match(String(resource?.["service.version"]), /^\d+\.\d+\.\d+/);
});
