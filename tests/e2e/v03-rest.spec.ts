// The format of A2A 0.3 over HTTP+JSON below /v1.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, before, describe, test } from "node:test";
import { Agent } from "./client.ts";
import { startWorker, type Worker } from "./harness.ts";
import { call as callToday } from "./rest.ts";
import { speaking } from "./v03.ts";

let worker: Worker;
let base: string;
before(async () => {
  worker = await startWorker({ vars: speaking() });
  base = `${worker.url}/demo/v1`;
});
after(() => worker.stop());

/** A request without a version. */
const request = (verb: string, path: string, body?: unknown, headers: Record<string, string> = {}): Promise<Response> =>
  callToday(verb, path.startsWith("http") ? path : base + path, body, { "a2a-version": "", ...headers });

async function json<Value>(verb: string, path: string, body?: unknown): Promise<Value> {
  const response = await request(verb, path, body);
  const text = await response.text();
  assert.equal(response.status, 200, text);
  assert.equal(response.headers.get("content-type"), "application/json");
  return JSON.parse(text) as Value;
}

const message = (text: string, changes: object = {}) => ({
  messageId: randomUUID(), role: "ROLE_USER", content: [{ text }], ...changes,
});

interface Task {
  id: string;
  contextId: string;
  status: { state: string; message?: { content: unknown[] } };
  artifacts?: { parts: unknown[] }[];
  history?: { role: string; content: unknown[] }[];
}

async function send(text: string, configuration?: object): Promise<Task> {
  return (await json<{ task: Task }>("POST", "/message:send", { message: message(text), configuration })).task;
}

/** The events of a stream. */
async function events(response: Response): Promise<Record<string, { final?: boolean; status?: Task["status"] }>[]> {
  assert.equal(response.status, 200);
  assert.equal(response.headers.get("content-type"), "text/event-stream");
  const data = (await response.text()).split("\n").filter((line) => line.startsWith("data: "));
  return data.map((line) => JSON.parse(line.slice(6)) as Record<string, object>);
}

describe("ProtoJSON of 0.3", () => {
  test("is sent and got (A2A 0.3 §7)", async () => {
    const task = await send("hello");
    assert.equal(task.status.state, "TASK_STATE_COMPLETED");
    assert.deepEqual(task.artifacts?.[0]?.parts, [{ text: "hello" }]);
    assert.deepEqual(task.history?.map(({ role, content }) => [role, content]), [["ROLE_USER", [{ text: "hello" }]]]);
    assert.deepEqual(await json("GET", `/tasks/${task.id}`), task);
    const { status } = await send("ask");
    assert.deepEqual(status.message?.content, [{ text: "Which colour?" }]);
    const direct = await json<{ message: { role: string } }>("POST", "/message:send", { message: message("message") });
    assert.equal(direct.message.role, "ROLE_AGENT");
  });

  test("is read with names in snake case, and with the name of its field (A2A 0.3 §7)", async () => {
    const { messageId: message_id, role, content } = message("hello");
    const { task } = await json<{ task: Task }>("POST", "/message:send", { request: { message_id, role, content }, configuration: { blocking: true, history_length: 1 } });
    assert.equal(task.history?.length, 1);
    for (const query of ["history_length=0", "historyLength=0"]) {
      assert.equal((await json<Task>("GET", `/tasks/${task.id}?${query}`)).history, undefined);
    }
    const kinds = { message: { kind: "message", messageId: randomUUID(), role: "user", parts: [{ kind: "text", text: "hello" }] } };
    assert.equal((await json<{ task: Task }>("POST", "/message:send", kinds)).task.status.state, "TASK_STATE_COMPLETED");
  });

  test("leaves out what is false: a configuration that does not say that it blocks does not (A2A 0.3 §7.1)", async () => {
    for (const bodyOf of [() => undefined, () => ({}), (id: string) => ({ name: `tasks/${id}` })]) {
      const begun = await send("hold 60000", { acceptedOutputModes: ["text/plain"] });
      assert.ok(["TASK_STATE_SUBMITTED", "TASK_STATE_WORKING"].includes(begun.status.state), begun.status.state);
      const canceled = await json<Task>("POST", `/tasks/${begun.id}:cancel`, bodyOf(begun.id));
      assert.equal(canceled.status.state, "TASK_STATE_CANCELLED");
    }
    assert.equal((await send("hold 50", { blocking: true })).status.state, "TASK_STATE_COMPLETED");
  });

  test("writes bytes as base64 of base64, or once where the agent says so; it reads both (A2A 0.3 §6.6)", async (t) => {
    const [once, twice] = ["AAEC/f7/", "QUFFQy9mNy8="];
    const single = await startWorker({ vars: speaking({ file_bytes: "single" }) });
    t.after(() => single.stop());
    for (const [url, expected] of [[base, twice], [`${single.url}/demo/v1`, once]] as const) {
      for (const fileWithBytes of [once, twice]) {
        const content = [{ text: "hello" }, { file: { fileWithBytes, mimeType: "image/png", name: "six" } }];
        const { task } = await json<{ task: Task }>("POST", `${url}/message:send`, { message: message("", { content }) });
        assert.deepEqual(task.history?.[0]?.content[1], { file: { fileWithBytes: expected, mimeType: "image/png", name: "six" } });
        const seen = await new Agent(url.replace("/v1", "")).getTask(task.id);
        assert.equal(seen.history?.[0]?.parts[1]?.raw, once);
      }
    }
  });
});

test("streams have the members of the proto, and are followed by GET and by POST (A2A 0.3 §7.2)", async () => {
  const told = await events(await request("POST", "/message:stream", { message: message("chunks") }));
  const middle = ["statusUpdate", "artifactUpdate", "artifactUpdate", "artifactUpdate"];
  assert.deepEqual(told.flatMap(Object.keys), ["task", ...middle, "statusUpdate"]);
  assert.deepEqual([told[1]?.["statusUpdate"]?.final, told.at(-1)?.["statusUpdate"]?.final], [false, true]);
  const finished = await send("hello");
  for (const verb of ["GET", "POST"]) {
    const begun = await send("hold 60000", { blocking: false });
    const following = await request(verb, `/tasks/${begun.id}:subscribe`);
    await json("POST", `/tasks/${begun.id}:cancel`);
    const followed = await events(following);
    assert.deepEqual(Object.keys(followed[0] ?? {}), ["task"]);
    assert.equal(followed.at(-1)?.["statusUpdate"]?.status?.state, "TASK_STATE_CANCELLED");
    const [only, ...more] = await events(await request(verb, `/tasks/${finished.id}:subscribe`));
    assert.deepEqual([only, more], [{ task: finished }, []], "of a finished task there is nothing to follow");
  }
});

test("webhooks are registered by either body, got, listed and deleted (A2A 0.3 §7.5)", async () => {
  const { id } = await send("ask");
  const url = "https://hooks.example.com/a";
  const path = `/tasks/${id}/pushNotificationConfigs`;
  const shown = (config: string) => ({ name: `tasks/${id}/pushNotificationConfigs/${config}`, pushNotificationConfig: { id: config, url } });
  const nested = { parent: `tasks/${id}`, configId: "c-1", config: { name: `tasks/${id}/pushNotificationConfigs/c-1`, pushNotificationConfig: { url } } };
  assert.deepEqual(await json("POST", path, nested), shown("c-1"));
  assert.deepEqual(await json("POST", path, { name: "", pushNotificationConfig: { id: "c-2", url } }), shown("c-2"));
  assert.deepEqual(await json("POST", path, { pushNotificationConfig: { url } }), shown(id), "without an id it has that of its task");
  assert.deepEqual(await json("GET", `${path}/c-1`), shown("c-1"));
  assert.deepEqual(await json("GET", path), { configs: [shown("c-1"), shown("c-2"), shown(id)] });
  assert.deepEqual(await json("DELETE", `${path}/c-1`), {});
  assert.deepEqual(await json("GET", path), { configs: [shown("c-2"), shown(id)] });
  const inline = await send("ask", { blocking: true, pushNotification: { id: "c-3", url } });
  const [first] = (await json<{ configs: { name: string }[] }>("GET", `/tasks/${inline.id}/pushNotificationConfigs`)).configs;
  assert.equal(first?.name, `tasks/${inline.id}/pushNotificationConfigs/c-3`);
});

test("tasks are listed in the shape of the SDK for Go", async () => {
  const contextId = randomUUID();
  const { task } = await json<{ task: Task }>("POST", "/message:send", { message: message("ask", { contextId }) });
  await json("POST", `/tasks/${task.id}:cancel`);
  const list = async (query: string) => (await json<{ tasks: Task[]; nextPageToken: string }>("GET", `/tasks?contextId=${contextId}${query}`)).tasks;
  assert.deepEqual((await list("")).map(({ id, status }) => [id, status.state]), [[task.id, "TASK_STATE_CANCELLED"]]);
  assert.equal((await list("&status=TASK_STATE_CANCELLED&pageSize=1&lastUpdatedAfter=2026-01-05T09:00:00Z")).length, 1);
  assert.equal((await list("&status=TASK_STATE_WORKING")).length, 0);
  const { contextId: other } = await send("hello");
  const [hello] = (await json<{ tasks: Task[] }>("GET", `/tasks?contextId=${other}&includeArtifacts=true`)).tasks;
  assert.deepEqual(hello?.artifacts?.[0]?.parts, [{ text: "hello" }]);
  assert.equal((await list("&lastUpdatedAfter=2999-01-05T09:00:00Z")).length, 0);
});

describe("errors", () => {
  test("have one body for the SDKs of all languages (A2A 0.3 §8)", async () => {
    const finished = await send("hello");
    const hook = `/tasks/${finished.id}/pushNotificationConfigs`;
    for (const [verb, path, body, status, code, type] of [
      ["GET", "/tasks/unknown", undefined, 404, -32001, "TaskNotFoundError"],
      ["POST", "/tasks/unknown:subscribe", undefined, 404, -32001, "TaskNotFoundError"],
      ["POST", `/tasks/${finished.id}:cancel`, undefined, 400, -32002, "TaskNotCancelableError"],
      ["POST", "/message:send", { message: message("more", { taskId: finished.id }) }, 400, -32004, "UnsupportedOperationError"],
      ["POST", "/message:send", { message: {} }, 400, -32602, "InvalidParamsError"],
      ["POST", "/message:send", "{", 400, -32700, "JSONParseError"],
      ["POST", "/message:send", "[]", 400, -32600, "InvalidRequestError"],
      ["GET", `${hook}/unknown`, undefined, 404, -32001, "TaskNotFoundError"],
      ["GET", "/nothing", undefined, 404, -32601, "MethodNotFoundError"],
      ["GET", "/extendedAgentCard", undefined, 404, -32601, "MethodNotFoundError"],
      ["DELETE", `/tasks/${finished.id}`, undefined, 405, -32601, "MethodNotFoundError"],
    ] as const) {
      const response = await request(verb, path, body);
      const failure = (await response.json()) as { code: number; type: string; message: string; error: { code: number; message: string } };
      assert.equal(response.status, status, `${verb} ${path}: ${JSON.stringify(failure)}`);
      assert.equal(response.headers.get("content-type"), "application/json");
      assert.deepEqual([failure.code, failure.type, failure.error.code], [code, type, status]);
      assert.notEqual(failure.message, "");
      assert.equal(failure.message, failure.error.message);
    }
  });

  test("name fields as the proto does (A2A 0.3 §8)", async () => {
    const fields = async (body: object) => {
      const { message } = (await (await request("POST", "/message:send", body)).json()) as { message: string };
      return message.replace("invalid parameters: ", "").split("; ").map((violation) => violation.split(" ")[0]);
    };
    assert.deepEqual(await fields({ message: message("x", { content: [{ file: { fileWithBytes: "%" } }] }) }), ["message.content[0].file.fileWithBytes"]);
    assert.deepEqual(await fields({ message: message("x", { content: Array(101).fill({ text: "" }) }) }), ["message.content"]);
    assert.deepEqual(await fields({ message: message("x"), configuration: { pushNotification: { url: "nowhere" } } }), ["configuration.pushNotification.url"]);
  });
});

test("paths of 0.3 are served to requests of that version or none (§3.6)", async () => {
  const { id } = await send("hello");
  const asked = async (version: string) => (await request("GET", `/tasks/${id}`, undefined, { "a2a-version": version })).status;
  assert.deepEqual([await asked("0.3"), await asked("0.3.0"), await asked("1.0"), await asked("9.0")], [200, 200, 404, 400]);
  const preflight = await fetch(`${base}/card`, { method: "OPTIONS" });
  assert.deepEqual([preflight.status, preflight.headers.get("allow")], [204, "GET, OPTIONS"]);
  const root = await json<{ task: Task }>("POST", `${worker.url}/v1/message:send`, { message: message("", { content: [{ data: { data: { tool: "add_numbers", arguments: { a: 2, b: 40 } } } }] }) });
  assert.deepEqual(root.task.artifacts?.[0]?.parts, [{ data: { data: { value: 42 } }, metadata: { data_part_compat: true } }]);
});
