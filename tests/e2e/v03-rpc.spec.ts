// The format of A2A 0.3 over JSON-RPC: the requirements of its conformance kit, and refusals.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, before, describe, test } from "node:test";
import { rpc, type Answer } from "./answers.ts";
import { Agent } from "./client.ts";
import { startWorker, type Worker } from "./harness.ts";
import { EventStream } from "./stream.ts";
import { speaking } from "./v03.ts";

let worker: Worker;
before(async () => {
  worker = await startWorker({ vars: speaking() });
});
after(() => worker.stop());

/** A call of a client without a version header. */
const call = (method: string, params: unknown, agent = "demo"): Promise<Answer> =>
  rpc(`${worker.url}/${agent}`, method, params, { "a2a-version": "" });

const message = (text: string, changes: object = {}) => ({
  kind: "message", messageId: randomUUID(), role: "user", parts: [{ kind: "text", text }], ...changes,
});

interface Task {
  kind: string;
  id: string;
  contextId: string;
  status: { state: string };
  artifacts?: { parts: unknown[] }[];
  history?: { kind: string }[];
}

async function send(text: string, configuration?: object): Promise<Task> {
  const { result, error } = await call("message/send", { message: message(text), configuration });
  assert.equal(error, undefined);
  return result as Task;
}

test("a result is bare and says by its kind what it is (A2A 0.3 §7)", async () => {
  const task = await send("hello");
  assert.deepEqual([task.kind, task.status.state, task.history?.[0]?.kind], ["task", "completed", "message"]);
  assert.deepEqual(task.artifacts?.[0]?.parts, [{ kind: "text", text: "hello" }]);
  assert.deepEqual((await call("tasks/get", { id: task.id })).result, task);
  const { result } = await call("message/send", { message: message("message") });
  assert.equal((result as { kind: string }).kind, "message");
});

test("a task is got with as much history as is asked for (A2A 0.3 §7.3)", async () => {
  const { id } = await send("hello");
  for (const [historyLength, count] of [[1, 1], [0, 0], [undefined, 1]] as const) {
    const { result } = await call("tasks/get", { id, historyLength });
    assert.equal(((result as Task).history ?? []).length, count, String(historyLength));
  }
});

test("a send blocks unless it says that it does not (A2A 0.3 §7.1)", async () => {
  assert.equal((await send("hold 50")).status.state, "completed");
  assert.equal((await send("hold 50", { acceptedOutputModes: ["text/plain"] })).status.state, "completed");
  const begun = await send("hold 60000", { blocking: false });
  assert.ok(["submitted", "working"].includes(begun.status.state), begun.status.state);
  const { result } = await call("tasks/cancel", { id: begun.id });
  assert.equal((result as Task).status.state, "canceled");
});

test("a second cancel is refused, and in 1.0 it is answered with the task (A2A 0.3 §8.2)", async () => {
  const begun = await send("hold 60000", { blocking: false });
  await call("tasks/cancel", { id: begun.id });
  assert.equal((await call("tasks/cancel", { id: begun.id })).status, -32002);
  assert.equal((await new Agent(`${worker.url}/demo`).cancelTask(begun.id)).status.state, "TASK_STATE_CANCELED");
});

test("an event says whether it is the last one, and a stream goes on behind a known one (A2A 0.3 §7.2)", async () => {
  const open = (method: string, params: object, headers: Record<string, string> = {}) =>
    EventStream.open(`${worker.url}/demo`, method, params, { "a2a-version": "", ...headers });
  const events = await (await open("message/stream", { message: message("chunks") })).rest();
  const results = events.map(({ data }) => data.result as unknown as { kind: string; id?: string; final?: boolean });
  const middle = ["status-update", "artifact-update", "artifact-update", "artifact-update"];
  assert.deepEqual(results.map(({ kind }) => kind), ["task", ...middle, "status-update"]);
  assert.deepEqual(results.flatMap(({ final }) => final ?? []), [false, true]);
  const id = results[0]?.id;
  const third = { "last-event-id": String(events[2]?.id) };
  const left = await (await open("tasks/resubscribe", { id }, third)).rest();
  assert.deepEqual(left.map(({ data }) => data.result), events.slice(3).map(({ data }) => data.result));
});

describe("a request of 0.3 is refused", () => {
  test("by a stream of one event if it asks for one (A2A 0.3 §7.9)", async () => {
    const finished = await send("hello");
    for (const [method, params, code] of [
      ["tasks/resubscribe", { id: "unknown" }, -32001],
      ["tasks/resubscribe", { id: "0".repeat(64) }, -32001],
      ["message/stream", { message: message("x", { taskId: "unknown" }) }, -32001],
      ["message/stream", { message: message("x", { taskId: finished.id }) }, -32004],
    ] as const) {
      const stream = await EventStream.open(`${worker.url}/demo`, method, params, { "a2a-version": "", accept: "text/event-stream" });
      assert.deepEqual((await stream.rest()).map(({ data }) => data.error?.code), [code], `${method} ${JSON.stringify(params)}`);
    }
  });

  for (const [what, params, fields] of [
    ["without a role", { message: message("x", { role: undefined }) }, ["message.role"]],
    ["without parts", { message: message("x", { parts: [] }) }, ["message.parts"]],
    ["without an id of its message", { message: message("x", { messageId: undefined }) }, ["message.messageId"]],
    ["with a part of an unknown kind", { message: message("x", { parts: [{ kind: "video" }] }) }, ["message.parts[0].kind"]],
    ["with a part of an unknown type", { message: message("x", { parts: [{ type: "video", text: "" }] }) }, ["message.parts[0].type"]],
    ["with bytes that are no base64", { message: message("x", { parts: [{ kind: "file", file: { bytes: "%" } }] }) }, ["message.parts[0].file.bytes"]],
    [
      "with a webhook that leads nowhere",
      { message: message("x"), configuration: { pushNotificationConfig: { url: "nowhere" } } }, ["configuration.pushNotificationConfig.url"],
    ],
    ["with too many parts", { message: message("x", { parts: Array(101).fill({ kind: "text", text: "" }) }) }, ["message.parts"]],
  ] as const) {
    test(`${what}, by the field as it is named there (A2A 0.3 §8)`, async () => {
      const answer = await call("message/send", params);
      assert.deepEqual([answer.status, answer.fields], [-32602, fields]);
    });
  }

  test("with the codes of the version (A2A 0.3 §8)", async () => {
    const finished = await send("hello");
    const webhook = { url: "https://hooks.example.com/a" };
    for (const [method, params, code] of [
      ["tasks/get", { id: "unknown" }, -32001],
      ["tasks/cancel", { id: "unknown" }, -32001],
      ["tasks/cancel", { id: finished.id }, -32002],
      ["message/send", { message: message("more", { taskId: finished.id }) }, -32004],
      ["message/send", { message: message("more", { taskId: "unknown" }) }, -32001],
      ["tasks/pushNotificationConfig/set", { taskId: "unknown", pushNotificationConfig: webhook }, -32001],
      ["tasks/pushNotificationConfig/set", { taskId: finished.id, pushNotificationConfig: { url: "nowhere" } }, -32602],
      ["tasks/pushNotificationConfig/delete", { id: "unknown", pushNotificationConfigId: "c" }, -32001],
      ["tasks/pushNotificationConfig/delete", { id: finished.id }, -32602],
      ["tasks/pushNotificationConfig/get", { id: finished.id }, -32001],
      ["tasks/list", {}, -32601],
      ["agent/getAuthenticatedExtendedCard", undefined, -32004],
    ] as const) {
      assert.equal((await call(method, params)).status, code, `${method} ${JSON.stringify(params)}`);
    }
    const refused = await call("tasks/pushNotificationConfig/set", { taskId: finished.id, pushNotificationConfig: { url: "nowhere" } });
    assert.deepEqual(refused.fields, ["pushNotificationConfig.url"]);
  });

  test("where the agent does not speak it (A2A 0.3 §8)", async (t) => {
    const without = await startWorker({ vars: speaking({ enabled: false }) });
    t.after(() => without.stop());
    for (const [method, params] of [["message/send", { message: message("x") }], ["tasks/get", { id: "x" }]] as const) {
      const answer = await rpc(`${without.url}/demo`, method, params, { "a2a-version": "0.3" });
      assert.equal(answer.reason, "VERSION_NOT_SUPPORTED");
    }
  });
});

test("a webhook without an id is that of the task, and got without one (A2A 0.3 §7.6)", async () => {
  const { id } = await send("ask");
  const set = (config: object) => call("tasks/pushNotificationConfig/set", { taskId: id, pushNotificationConfig: config });
  const url = "https://hooks.example.com/a";
  const shown = { taskId: id, pushNotificationConfig: { id, url } };
  assert.deepEqual((await set({ url })).result, shown);
  assert.deepEqual((await set({ url })).result, shown, "setting it again replaces it");
  const get = (more: object = {}) => call("tasks/pushNotificationConfig/get", { id, ...more });
  assert.deepEqual((await get()).result, shown);
  const other = { taskId: id, pushNotificationConfig: { id: "other", url } };
  await set({ id: "other", url });
  assert.deepEqual((await get({ pushNotificationConfigId: "other" })).result, other);
  assert.deepEqual((await call("tasks/pushNotificationConfig/list", { id })).result, [shown, other]);
  const gone = await call("tasks/pushNotificationConfig/delete", { id, pushNotificationConfigId: "other" });
  assert.deepEqual([gone.status, gone.result], [200, null]);
  assert.deepEqual((await call("tasks/pushNotificationConfig/list", { id })).result, [shown]);
});
