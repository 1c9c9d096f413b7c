// Requests of tools in Rust to other servers: servers with errors, guarded addresses, the trace headers, and secrets.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { Agent, textOf, toolCall, until, untilEnded, type Task } from "../e2e/client.ts";
import { startWorker, type Worker } from "../e2e/harness.ts";
import { assertHidden, databasesIn } from "../e2e/markers.ts";
import { Sink, type Arrival } from "../e2e/sink.ts";

const MARKERS = { RUST_KEY: "marker-rust-1" };

let sink: Sink;
let storage: string;
let worker: Worker;
let agent: Agent;
before(async () => {
  sink = await Sink.open();
  storage = mkdtempSync(join(tmpdir(), "a2a-edge-fetch-"));
  worker = await startWorker({ persist: storage, vars: MARKERS, hasDev: true });
  agent = new Agent(`${worker.url}/probes`);
});
after(async () => {
  await worker.stop();
  sink.close();
  rmSync(storage, { recursive: true, force: true });
});

const fetched = (path: string, more: object = {}): Promise<Task> => agent.sendForTask(toolCall("probe_fetch", { url: sink.url + path, ...more }));
const result = (task: Task) => task.artifacts?.[0]?.parts;

function assertFailed(task: Task, reason: RegExp): void {
  assert.equal(task.status.state, "TASK_STATE_FAILED", JSON.stringify(task.artifacts));
  assert.match(textOf(task.status.message), reason);
}

test("a server that hangs is left, a long answer is not read to its end, and a redirect is not followed", async () => {
  sink.plan("/hang", "hold");
  assertFailed(await fetched("/hang"), /\/hang did not answer: not within 700 ms/);
  sink.plan("/big", { body: "x".repeat(10_000_000) });
  assertFailed(await fetched("/big"), /its answer has more than 1048576 bytes/);
  sink.plan("/moved", { status: 307, headers: { location: "/target" }, body: "there" });
  assert.deepEqual(result(await fetched("/moved")), [{ text: "307 there" }], "a redirect is an answer");
  assert.equal(sink.count("/target"), 0);
});

test("a guarded request reaches no private address (§13.2)", async () => {
  assert.deepEqual(result(await fetched("/guarded", { guarded: true })), [{ text: "200 ok" }], "loopback is open in development");
  const metadata = await agent.sendForTask(toolCall("probe_fetch", { url: "http://169.254.169.254/latest", guarded: true }));
  assertFailed(metadata, /http:\/\/169\.254\.169\.254\/latest was not called: a URL must name a host on the public internet/);
});

test("a request belongs to the trace of the message, as a span of its own, and to none where there is none", async () => {
  const trace = crypto.randomUUID().replaceAll("-", "");
  const span = "00f067aa0ba902b7";
  const traced = new Agent(agent.endpoint, { traceparent: `00-${trace}-${span}-01`, tracestate: "vendor=x, other=y" });
  for (const [asked, path] of [[traced, "/traced"], [agent, "/untraced"]] as const) {
    await asked.sendForTask(toolCall("probe_fetch", { url: sink.url + path }));
  }
  const [{ headers }, untraced] = [await sink.arrival("/traced"), await sink.arrival("/untraced")];
  assert.match(String(headers["traceparent"]), new RegExp(`^00-${trace}-(?!${span})[0-9a-f]{16}-01$`));
  assert.equal(headers["tracestate"], "vendor=x,other=y");
  assert.deepEqual([untraced.headers["traceparent"], untraced.headers["tracestate"]], [undefined, undefined]);
});

/** The raw text of the response to a request with this method. */
async function raw(method: string, params: unknown): Promise<string> {
  const headers = { "content-type": "application/json", "a2a-version": "1.0" };
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
  return (await fetch(agent.endpoint, { method: "POST", headers, body })).text();
}

const shown = ({ path, headers, body }: Arrival): string => [path, JSON.stringify(headers), body].join("\n");

test("a secret goes to the server that the tool calls, and is seen nowhere else", async () => {
  sink.otherwise = (arrival) => (arrival.path === "/fail" ? { status: 500, body: shown(arrival) } : arrival.path === "/echo" ? { body: shown(arrival) } : {});
  sink.plan("/hangs", "hold");
  const clean = (text: string, where: string): void => assertHidden(MARKERS, text, where);
  for (const [path, secret, failure] of [
    ["/echo", "RUST_KEY", undefined],
    ["/fail", "RUST_KEY", /500: /],
    ["/hangs", "RUST_KEY", /did not answer/],
    ["/ok", "NO_SUCH_KEY", /the secret NO_SUCH_KEY is not set/],
  ] as const) {
    const said = toolCall("probe_fetch", { url: sink.url + path, secret });
    const configuration = { taskPushNotificationConfig: { url: `${sink.url}/notified${path}` } };
    const stream = await raw("SendStreamingMessage", { message: said, configuration });
    const [, id = ""] = /"task":\{"id":"([^"]+)"/.exec(stream) ?? [];
    const task = await untilEnded(agent, id);
    assert.equal(task.status.state, failure === undefined ? "TASK_STATE_COMPLETED" : "TASK_STATE_FAILED", textOf(task.status.message));
    if (failure !== undefined) assert.match(textOf(task.status.message), failure);
    clean(stream, `the stream of ${path}`);
    clean(await raw("GetTask", { id }), "GetTask");
    clean(await raw("SubscribeToTask", { id }), "SubscribeToTask");
    const ended = ({ body }: Arrival): boolean => /TASK_STATE_(?:COMPLETED|FAILED)/.test(body);
    await until(async () => sink.arrivals(`/notified${path}`), (arrivals) => arrivals.some(ended));
  }
  // The request contains the secret; otherwise this test would prove nothing.
  assert.equal((await sink.arrival("/echo")).headers.authorization, MARKERS.RUST_KEY);
  clean(sink.arrivals("/notified").map(shown).join("\n"), "notifications");
  clean(await raw("ListTasks", { includeArtifacts: true, historyLength: 100, pageSize: 100 }), "ListTasks");
  clean(await (await fetch(`${worker.url}/_dev/received`)).text(), "what was received");
  clean(worker.logs.map((line) => line.message).join("\n"), "the log");
  await worker.stop();
  const databases = databasesIn(storage);
  assert.ok(databases.length > 4, "an object for each task");
  for (const [path, text] of databases) clean(text, path);
});
