// A request whose body is small and tells its length is decided about without waiting, and its object is asked by RPC. Any other body is
// received in Rust, and the object is asked by fetch. Both ways give the same answer, byte for byte.
import assert from "node:assert/strict";
import { once } from "node:events";
import { request, type IncomingMessage } from "node:http";
import { after, before, describe, test } from "node:test";
import { Agent, followUp, message, toolCall, type Task } from "./client.ts";
import { startWorker, type Worker } from "./harness.ts";

let worker: Worker;
let demo: Agent;
let finished: Task;
let asking: Task[];

before(async () => {
  worker = await startWorker();
  demo = new Agent(`${worker.url}/demo`);
  finished = await demo.sendForTask("hello");
  asking = [];
  for (let index = 0; index < 8; index++) asking.push(await demo.sendForTask("ask"));
});
after(() => worker.stop());

interface Answer {
  status: number;
  headers: Record<string, unknown>;
  body: string;
}

/** Posts a body, with its length or in pieces that tell none. */
async function post(path: string, body: string | Buffer, isPieces: boolean, headers: Record<string, string> = {}): Promise<Answer> {
  const framing: Record<string, string | number> = isPieces ? { "transfer-encoding": "chunked" } : { "content-length": Buffer.byteLength(body) };
  const sent = request(`${worker.url}${path}`, { method: "POST", headers: { "a2a-version": "1.0", "content-type": "application/json", ...headers, ...framing } });
  sent.end(body);
  const [response] = (await once(sent, "response")) as [IncomingMessage];
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk as Buffer);
  const { date, connection, "x-request-id": id, "keep-alive": keepAlive, "transfer-encoding": encoding, "content-length": length, ...rest } = response.headers;
  return { status: response.statusCode ?? 0, headers: rest, body: Buffer.concat(chunks).toString() };
}

/** What differs from one task to the next is put out of sight. */
function masked({ status, headers, body }: Answer): Answer {
  const shown = body
    .replaceAll(/[0-9a-f]{64}/g, "TASK")
    .replaceAll(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, "UUID")
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "TIME");
  return { status, headers, body: shown };
}

async function same(path: string, body: (way: number) => string | Buffer, headers: Record<string, string> = {}): Promise<Answer> {
  const whole = masked(await post(path, body(0), false, headers));
  const pieces = masked(await post(path, body(1), true, headers));
  assert.deepEqual(pieces, whole);
  return whole;
}

/** A request of A2A 0.3, and a message of it. */
const OLDER = { "a2a-version": "0.3" };
const older = (text: string) => ({ kind: "message", messageId: crypto.randomUUID(), role: "user", parts: [{ kind: "text", text }] });

const rpc = (method: string, params: unknown, id: unknown = 7) => JSON.stringify({ jsonrpc: "2.0", id, method, params });

describe("over JSON-RPC", () => {
  for (const [what, method, params, headers] of [
    ["a task", "GetTask", () => ({ id: finished.id }), {}],
    ["a task without history", "GetTask", () => ({ id: finished.id, historyLength: 0 }), {}],
    ["a task with a parameter that is unknown", "GetTask", () => ({ id: finished.id, other: [1] }), {}],
    ["a task with its generation", "GetTask", () => ({ id: finished.id }), { "a2a-extensions": "urn:a2a-edge:generation:v1" }],
    ["a task after a generation", "GetTask", () => ({ id: finished.id }), { "after-generation": "1" }],
    ["a history length that is none", "GetTask", () => ({ id: finished.id, historyLength: -1 }), {}],
    ["an id that is none", "GetTask", () => ({ id: "x" }), {}],
    ["an id that was never given out", "GetTask", () => ({ id: "0".repeat(64) }), {}],
    ["no id", "GetTask", () => ({}), {}],
    ["a version that is unknown", "GetTask", () => ({ id: finished.id }), { "a2a-version": "9.0" }],
    ["a content type that is none", "GetTask", () => ({ id: finished.id }), { "content-type": "text/plain" }],
    ["a task that cannot be canceled", "CancelTask", () => ({ id: finished.id }), {}],
    ["a list", "ListTasks", () => ({ contextId: finished.contextId, pageSize: 1 }), {}],
    ["a list with artifacts", "ListTasks", () => ({ contextId: finished.contextId, includeArtifacts: true }), {}],
    ["a list with a token that is none", "ListTasks", () => ({ pageToken: "x" }), {}],
    ["a message", "SendMessage", () => ({ message: message("message") }), {}],
    ["a new task", "SendMessage", () => ({ message: message("hello") }), {}],
    ["a task that asks", "SendMessage", () => ({ message: message("ask"), configuration: { historyLength: 0 } }), {}],
    ["a message without parts", "SendMessage", () => ({ message: { ...message("hello"), parts: [] } }), {}],
    ["a tool's refusal", "SendMessage", () => ({ message: toolCall("nothing") }), {}],
    ["a stream", "SendStreamingMessage", () => ({ message: message("hello") }), {}],
    ["a stream of a message", "SendStreamingMessage", () => ({ message: message("message") }), {}],
    ["a stream from a position", "SubscribeToTask", () => ({ id: finished.id }), { "last-event-id": "1" }],
    ["a stream without anything new", "SubscribeToTask", () => ({ id: finished.id }), { "last-event-id": "4" }],
    ["webhooks", "ListTaskPushNotificationConfigs", () => ({ taskId: finished.id }), {}],
    ["a card", "GetExtendedAgentCard", () => ({}), {}],
    ["a method that is none", "Sing", () => ({}), {}],
    ["a task in 0.3", "tasks/get", () => ({ id: finished.id, historyLength: 1 }), OLDER],
    ["a new task in 0.3", "message/send", () => ({ message: older("hello") }), OLDER],
    ["a message without parts in 0.3", "message/send", () => ({ message: { role: "user" } }), OLDER],
    ["a stream in 0.3", "message/stream", () => ({ message: older("hello") }), OLDER],
    ["a finished task that is followed in 0.3", "tasks/resubscribe", () => ({ id: finished.id }), OLDER],
    ["a task that is unknown, which is followed in 0.3", "tasks/resubscribe", () => ({ id: "x" }), OLDER],
    ["an id that was never given out, which is followed in 0.3", "tasks/resubscribe", () => ({ id: "0".repeat(64) }), OLDER],
    ["webhooks in 0.3", "tasks/pushNotificationConfig/list", () => ({ id: finished.id }), OLDER],
  ] as const) {
    test(`${method}: ${what}`, () => same("/demo", () => rpc(method, params()), headers).then(() => {}));
  }

  test("a message to a task, and its cancel", async () => {
    const answer = await same("/demo", (way) => rpc("SendMessage", { message: followUp(asking[way] as Task, "red") }));
    assert.match(answer.body, /TASK_STATE_COMPLETED/);
    const canceled = await same("/demo", (way) => rpc("CancelTask", { id: asking[2 + way]?.id }));
    assert.match(canceled.body, /TASK_STATE_CANCELED/);
  });

  test("ids of every kind come back as they were written", async () => {
    for (const id of ["a", "", "ä\n", 0, -1, 1.5, 123456789012, null]) await same("/demo", () => rpc("GetTask", { id: finished.id }, id));
  });

  test("what is no request", async () => {
    for (const body of ["", "{", "[]", "1", "{}", '{"jsonrpc":"1.0"}', Buffer.from([0x7b, 0xff])]) await same("/demo", () => body);
  });

  test("a message under a key, which begins one task", async () => {
    const sent = message("hello");
    const answer = await same("/demo", () => rpc("SendMessage", { message: sent }), { "idempotency-key": crypto.randomUUID() });
    assert.match(answer.body, /TASK_STATE_COMPLETED/);
    await same("/demo", () => rpc("SendMessage", { message: sent }), { "idempotency-key": "" });
  });
});

describe("over HTTP+JSON", () => {
  for (const [what, path, body, headers] of [
    ["a new task", () => "/demo/message:send", () => ({ message: message("hello") }), {}],
    ["a new task in the other media type", () => "/demo/message:send", () => ({ message: message("hello") }), { "content-type": "application/a2a+json" }],
    ["a message without parts", () => "/demo/message:send", () => ({ message: {} }), {}],
    ["a stream", () => "/demo/message:stream", () => ({ message: message("hello") }), {}],
    ["a task that cannot be canceled", () => `/demo/tasks/${finished.id}:cancel`, () => ({}), {}],
    ["a task that is unknown", () => "/demo/tasks/x:cancel", () => ({}), {}],
    ["a new task in 0.3", () => "/demo/v1/message:send", () => ({ message: older("hello") }), OLDER],
    ["a stream in 0.3", () => "/demo/v1/message:stream", () => ({ message: older("hello") }), OLDER],
    ["a task that is unknown in 0.3", () => "/demo/v1/tasks/x:cancel", () => ({}), OLDER],
    ["a path that is unknown", () => "/demo/songs/1", () => ({}), {}],
    ["a path that takes no POST", () => "/demo/tasks", () => ({}), {}],
  ] as const) {
    test(what, () => same(path(), () => JSON.stringify(body()), headers).then(() => {}));
  }
});
