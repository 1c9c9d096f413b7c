// Secrets of the deployment in tools: they are sent where the tool defines, and never shown elsewhere.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { Agent, logged, textOf, toolCall, until, untilEnded, type Message, type Task } from "./client.ts";
import { startWorker, type Worker } from "./harness.ts";
import { assertHidden, databasesIn } from "./markers.ts";
import { Sink, type Arrival, type Deed } from "./sink.ts";

const MARKERS = {
  SEGMENT_KEY: "marker/segment 1",
  QUERY_KEY: "marker&query=2",
  HEADER_KEY: "marker-header-3",
  BODY_KEY: 'marker"body\\4',
  BROKEN_KEY: "marker-broken\n5",
  EMPTY_KEY: "  ",
};

let sink: Sink;
let storage: string;
let worker: Worker;
let agent: Agent;
before(async () => {
  sink = await Sink.open();
  sink.otherwise = answer;
  storage = mkdtempSync(join(tmpdir(), "a2a-edge-secrets-"));
  worker = await startWorker({ persist: storage, vars: { ...MARKERS, SINK: sink.url }, hasDev: true });
  agent = new Agent(`${worker.url}/secrets`);
});
after(async () => {
  await worker.stop();
  sink.close();
  rmSync(storage, { recursive: true, force: true });
});

/** The server's answer to a request, by the beginning of its path. */
function answer(arrival: Arrival): Deed {
  const echo = [arrival.path, decodeURIComponent(arrival.path), JSON.stringify(arrival.headers), arrival.body].join("\n");
  const deeds: Record<string, Deed> = {
    echo: { body: echo },
    json: { headers: { "content-type": "application/json" }, body: JSON.stringify({ path: arrival.path, headers: arrival.headers, body: arrival.body }) },
    bytes: { headers: { "content-type": "application/octet-stream" }, body: echo },
    fail: { status: 500, body: echo },
    refuse: { status: 401, headers: { "www-authenticate": echo.replaceAll("\n", " ") }, body: echo },
    moved: { status: 302, headers: { location: `http://elsewhere.example${arrival.path}` } },
    hang: "hold",
    drop: "drop",
  };
  return deeds[arrival.path.split("/")[1] ?? ""] ?? {};
}

/** All calls of the tools, each with the final state of its task. */
const calls: [Message, RegExp | undefined][] = [
  ...["ok", "echo", "json", "bytes"].map((path): [Message, undefined] => [send(path), undefined]),
  [send("fail"), /answered 500: /],
  [send("refuse"), /answered 401: /],
  [send("moved"), /a redirect to elsewhere\.example; /],
  [send("hang"), /did not answer within 1000 ms/],
  [send("drop"), /did not answer: /],
  [toolCall("send_in_header"), /the secret or variable BROKEN_KEY may hold only visible ASCII letters/],
  [toolCall("send_missing"), /the secret or variable MISSING_KEY is not set/],
  [toolCall("send_empty"), /the secret or variable EMPTY_KEY is not set in this deployment, or is empty/],
  [toolCall("plain"), undefined],
];

function send(path: string): Message {
  return toolCall("send", { path, value: "v" });
}

const assertClean = (text: string, where: string): void => assertHidden(MARKERS, text, where);

/** The raw text of a method's answer. */
async function raw(method: string, params: unknown): Promise<string> {
  const headers = { "content-type": "application/json", "a2a-version": "1.0" };
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
  return (await fetch(agent.endpoint, { method: "POST", headers, body })).text();
}

test("a secret goes to the server that the tool calls, and is seen nowhere else", async () => {
  for (const [index, [said, failure]] of calls.entries()) {
    const configuration = { taskPushNotificationConfig: { url: `${sink.url}/notified/${index}` } };
    const stream = await raw("SendStreamingMessage", { message: said, configuration });
    const ids = [...stream.matchAll(/"task":\{"id":"([^"]+)"/g)].map(([, id]) => id ?? "");
    const task = await untilEnded(agent, ids[0] ?? "");
    assert.equal(task.status.state, failure === undefined ? "TASK_STATE_COMPLETED" : "TASK_STATE_FAILED", textOf(task.status.message));
    if (failure !== undefined) assert.match(textOf(task.status.message), failure);
    assertClean(stream, `the stream of ${JSON.stringify(said.parts)}`);
    assertClean(await raw("GetTask", { id: task.id }), "GetTask");
    assertClean(await raw("SubscribeToTask", { id: task.id }), "SubscribeToTask");
    const ended = (arrival: Arrival) => /TASK_STATE_(?:COMPLETED|FAILED)/.test(arrival.body);
    await until(async () => sink.arrivals(`/notified/${index}`), (arrivals) => arrivals.some(ended));
  }

  // The requests do contain the secrets: otherwise this test would prove nothing.
  const sent = sink.arrivals("/echo").map(({ path, headers, body }) => [path, headers.authorization ?? "", body].join(" ")).join("\n");
  for (const marker of [MARKERS.HEADER_KEY, JSON.stringify(MARKERS.BODY_KEY), encodeURIComponent(MARKERS.QUERY_KEY), encodeURIComponent(MARKERS.SEGMENT_KEY)]) {
    assert.ok(sent.includes(marker), marker);
  }
  const echoed = await agent.sendForTask(send("echo"));
  assert.match(textOf(echoed.artifacts?.[0]), /\[SEGMENT_KEY\][^]*\[QUERY_KEY\][^]*Bearer \[HEADER_KEY\][^]*\[BODY_KEY\]/);

  assertClean(sink.arrivals("/notified").map(({ body, headers }) => body + JSON.stringify(headers)).join("\n"), "notifications");
  assertClean(await raw("ListTasks", { includeArtifacts: true, historyLength: 100, pageSize: 100 }), "ListTasks");
  for (const path of ["/secrets", "/secrets/.well-known/agent-card.json", "/_dev/received"]) {
    assertClean(await (await fetch(worker.url + path, { headers: { accept: "text/html, */*" } })).text(), path);
  }
  assertClean(worker.logs.map(({ message }) => message).join("\n"), "the log");
});

test("what is stored holds no secret", async () => {
  await worker.stop();
  const databases = databasesIn(storage);
  assert.ok(databases.length > calls.length, "an object for each task");
  for (const [path, text] of databases) assertClean(text, path);
  await worker.restart();
});

test("what is missing fails the calls that need it, is told to operators by its name, and hinders nobody else", async () => {
  const [missing, plain, other] = await Promise.all([
    agent.sendForTask(toolCall("send_missing")),
    agent.sendForTask(toolCall("plain")),
    new Agent(`${worker.url}/demo`).sendForTask("hello"),
  ]);
  assert.equal(missing.status.state, "TASK_STATE_FAILED");
  for (const task of [plain, other]) assert.equal(task.status.state, "TASK_STATE_COMPLETED");
  await logged(worker, "the agent secrets: the secret or variable MISSING_KEY is not set in this deployment, or is empty");
});

test("a secret that was changed is sent from then on, and the one before it is not shown", async (t) => {
  const rotated = await startWorker({ vars: { ...MARKERS, SINK: sink.url, HEADER_KEY: "marker-rotated-7", MISSING_KEY: "marker-found-8" } });
  t.after(() => rotated.stop());
  const again = new Agent(`${rotated.url}/secrets`);
  sink.forget("/echo");
  const task: Task = await again.sendForTask(send("echo"));
  assert.match(textOf(task.artifacts?.[0]), /Bearer \[HEADER_KEY\]/);
  assert.deepEqual(sink.arrivals("/echo").map(({ headers }) => headers.authorization), ["Bearer marker-rotated-7"]);
  assert.equal((await again.sendForTask(toolCall("send_missing"))).status.state, "TASK_STATE_COMPLETED");
  assert.equal((await sink.arrival("/missing")).headers["x-key"], "marker-found-8");
});
