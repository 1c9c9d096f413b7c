// The HTTP+JSON binding (spec §11): paths, verbs, queries, tenants, content types and error bodies.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, before, describe, test } from "node:test";
import { message, received, textOf, type ErrorDetail, type Message, type Task } from "./client.ts";
import { startWorker, type Worker } from "./harness.ts";

/** The body of an error answer. */
interface Failure {
  error: { code: number; status: string; message: string; details: ErrorDetail[] };
}

let worker: Worker;
let demo: string;
before(async () => {
  worker = await startWorker();
  demo = `${worker.url}/demo`;
});
after(() => worker.stop());

const JSON_TYPE = "application/json";
const A2A_TYPE = "application/a2a+json";

/** A request as clients make it; `body` is sent as JSON unless it is a text. */
function call(verb: string, url: string, body?: unknown, headers: Record<string, string> = {}): Promise<Response> {
  const type: Record<string, string> = body === undefined ? {} : { "content-type": JSON_TYPE };
  const init: RequestInit = { method: verb, headers: { "a2a-version": "1.0", ...type, ...headers } };
  if (body !== undefined) init.body = typeof body === "string" ? body : JSON.stringify(body);
  return fetch(url, init);
}

/** Sends a text to an agent and gives the task. */
async function send(base: string, text: string, configuration?: object): Promise<Task> {
  const response = await call("POST", `${base}/message:send`, { message: message(text), configuration });
  assert.equal(response.status, 200, await response.clone().text());
  return ((await response.json()) as { task: Task }).task;
}

async function getTask(base: string, id: string): Promise<Task> {
  return (await (await call("GET", `${base}/tasks/${id}`)).json()) as Task;
}

/** The events of a stream until it ends. */
async function eventsOf(response: Response): Promise<Record<string, unknown>[]> {
  const blocks = (await response.text()).split("\n\n");
  const data = blocks.flatMap((block) => block.split("\n").filter((line) => line.startsWith("data: ")));
  return data.map((line) => JSON.parse(line.slice("data: ".length)) as Record<string, unknown>);
}

/** Asserts that an answer is an error as the binding has them, and gives it. */
async function failure(response: Response, code: number, status: string, reason: string): Promise<Failure["error"]> {
  const text = await response.text();
  assert.equal(response.status, code, text);
  assert.equal(response.headers.get("content-type"), JSON_TYPE);
  const body = JSON.parse(text) as Failure;
  assert.deepEqual(Object.keys(body), ["error"]);
  assert.equal(body.error.code, code);
  assert.equal(body.error.status, status);
  assert.notEqual(body.error.message, "");
  const [info] = body.error.details;
  assert.equal(info?.["@type"], "type.googleapis.com/google.rpc.ErrorInfo");
  assert.equal(info?.reason, reason);
  assert.equal(info?.domain, "a2a-protocol.org");
  return body.error;
}

const fieldsOf = (error: Failure["error"]) => error.details.flatMap((detail) => detail.fieldViolations ?? []).map(({ field }) => field);

describe("operations", () => {
  test("POST message:send gives the task (§11.3.1)", async () => {
    const said = message("hello");
    const response = await call("POST", `${demo}/message:send`, { message: said });
    assert.equal(response.status, 200);
    assert.equal(response.headers.get("content-type"), JSON_TYPE);
    const body = (await response.json()) as { task: Task };
    assert.deepEqual(Object.keys(body), ["task"]);
    assert.equal(body.task.status.state, "TASK_STATE_COMPLETED");
    assert.equal(textOf(body.task.artifacts?.[0]), "hello");
    assert.equal(body.task.history?.[0]?.messageId, said.messageId);
  });

  test("POST message:send gives a direct message (§11.3.1)", async () => {
    const response = await call("POST", `${demo}/message:send`, { message: message("message") });
    const body = (await response.json()) as { message: Message };
    assert.deepEqual(Object.keys(body), ["message"]);
    assert.equal(textOf(body.message), "A message instead of a task.");
  });

  test("POST message:send goes on with a task (§3.4.3)", async () => {
    const asked = await send(demo, "ask");
    const said = message({ taskId: asked.id, parts: [{ text: "red" }] });
    const response = await call("POST", `${demo}/message:send`, { message: said });
    const { task } = (await response.json()) as { task: Task };
    assert.equal(task.id, asked.id);
    assert.equal(task.status.state, "TASK_STATE_COMPLETED");
  });

  test("GET tasks/{id} gives the bare task, with as much history as the query says (§11.3.2)", async () => {
    const { id } = await send(demo, "ask");
    await call("POST", `${demo}/message:send`, { message: message({ taskId: id, parts: [{ text: "red" }] }) });
    for (const [query, count] of [["", 3], ["?historyLength=2", 2], ["?history_length=2", 2], ["?historyLength=0", undefined], ["?surprise=1&=", 3]] as const) {
      const response = await call("GET", `${demo}/tasks/${id}${query}`);
      assert.equal(response.status, 200);
      const task = (await response.json()) as Task;
      assert.equal(task.id, id);
      assert.equal(task.history?.length, count, query);
    }
  });

  for (const [what, body, headers] of [
    ["no body and no content type", undefined, {}],
    ["a content type and no body", "", {}],
    ["an empty object", "{}", {}],
    ["null", "null", {}],
    ["metadata", '{"metadata":{"k":"v"}}', {}],
    ["other ids in the body", '{"id":"x","tenant":"x"}', {}],
  ] as const) {
    test(`POST tasks/{id}:cancel with ${what} cancels the task (§11.3.2)`, async () => {
      const { id } = await send(demo, "ask");
      const response = await call("POST", `${demo}/tasks/${id}:cancel`, body, headers);
      assert.equal(response.status, 200);
      const task = (await response.json()) as Task;
      assert.equal(task.id, id);
      assert.equal(task.status.state, "TASK_STATE_CANCELED");
      assert.deepEqual(await getTask(demo, id), task);
    });
  }

  test("POST message:stream gives bare events (§11.7)", async () => {
    const response = await call("POST", `${demo}/message:stream`, { message: message("chunks") }, { accept: "text/event-stream" });
    assert.equal(response.status, 200);
    assert.match(response.headers.get("content-type") ?? "", /^text\/event-stream\b/);
    const events = await eventsOf(response);
    assert.deepEqual(Object.keys(events[0] ?? {}), ["task"]);
    assert.ok(events.some((event) => "artifactUpdate" in event));
    const last = events.at(-1)?.["statusUpdate"] as { status: { state: string } };
    assert.equal(last.status.state, "TASK_STATE_COMPLETED");
  });

  for (const [verb, body] of [["GET", undefined], ["POST", undefined], ["POST", "{}"]] as const) {
    test(`${verb} tasks/{id}:subscribe with ${body ?? "no body"} follows the task (§11.7)`, async () => {
      const { id } = await send(demo, "ask");
      const response = await call(verb, `${demo}/tasks/${id}:subscribe`, body, { accept: "text/event-stream" });
      assert.equal(response.status, 200);
      await call("POST", `${demo}/tasks/${id}:cancel`);
      const events = await eventsOf(response);
      assert.equal((events[0]?.["task"] as Task).id, id);
      const last = events.at(-1)?.["statusUpdate"] as { status: { state: string } };
      assert.equal(last.status.state, "TASK_STATE_CANCELED");
    });
  }

  test("a stream that cannot begin is refused as any other call (§11.7)", async () => {
    const { id } = await send(demo, "hello");
    await failure(await call("POST", `${demo}/tasks/${id}:subscribe`), 400, "FAILED_PRECONDITION", "UNSUPPORTED_OPERATION");
    await failure(await call("GET", `${demo}/tasks/unknown:subscribe`), 404, "NOT_FOUND", "TASK_NOT_FOUND");
    await failure(await call("POST", `${demo}/message:stream`, {}), 400, "INVALID_ARGUMENT", "INVALID_PARAMS");
  });

  for (const [verb, path] of [
    ["POST", "tasks/unknown/pushNotificationConfigs"],
    ["GET", "tasks/unknown/pushNotificationConfigs"],
    ["GET", "tasks/unknown/pushNotificationConfigs/c"],
    ["DELETE", "tasks/unknown/pushNotificationConfigs/c"],
    ["GET", "tasks/unknown/pushNotificationConfigs/c/deliveries"],
    ["POST", "tasks/unknown/pushNotificationConfigs/c:redeliver"],
  ] as const) {
    test(`${verb} ${path} is refused where the card does not declare webhooks, before the task is looked for (§3.3.4)`, async () => {
      const response = await call(verb, `${worker.url}/picky/${path}`, verb === "POST" ? { url: "https://a.example" } : undefined);
      await failure(response, 400, "FAILED_PRECONDITION", "PUSH_NOTIFICATION_NOT_SUPPORTED");
    });
  }

  test("GET extendedAgentCard is refused while the card does not declare it (§3.3.4)", async (t) => {
    if (await declares("extendedAgentCard")) return t.skip("the card declares it");
    await failure(await call("GET", `${demo}/extendedAgentCard`), 400, "FAILED_PRECONDITION", "UNSUPPORTED_OPERATION");
  });

  test("a task is the same through both bindings (§5.1)", async () => {
    const task = await send(demo, "hello");
    const body = { jsonrpc: "2.0", id: 1, method: "GetTask", params: { id: task.id } };
    const { result } = (await (await call("POST", demo, body)).json()) as { result: Task };
    assert.deepEqual(result, task);
    assert.deepEqual(await getTask(demo, task.id), task);
  });
});

async function declares(capability: string): Promise<boolean> {
  const response = await fetch(`${demo}/.well-known/agent-card.json`);
  return ((await response.json()) as { capabilities: Record<string, unknown> }).capabilities[capability] === true;
}

describe("agents and tenants", () => {
  for (const [path, artifact] of [
    ["", "probe_text-result"],
    ["/", "probe_text-result"],
    ["/assistant", "probe_text-result"],
    ["/assistant/assistant", "probe_text-result"],
    ["/demo", "echo"],
    ["/demo/", "echo"],
    ["/demo/demo", "echo"],
  ] as const) {
    test(`"${path}/message:send" and what is below reach the agent (§11.3)`, async () => {
      const base = worker.url + path;
      const task = await send(base, "hello");
      assert.equal(task.artifacts?.[0]?.artifactId, artifact);
      assert.deepEqual(await getTask(base, task.id), task);
    });
  }

  test("the tenant of a body or a query counts where the path names none (§3.2.1)", async () => {
    const response = await call("POST", `${worker.url}/message:send`, { tenant: "demo", message: message("hello") });
    const { task } = (await response.json()) as { task: Task };
    assert.equal(task.artifacts?.[0]?.artifactId, "echo");
    assert.equal((await call("GET", `${worker.url}/tasks/${task.id}?tenant=demo`)).status, 200);
    assert.equal((await call("GET", `${worker.url}/tasks/${task.id}?tenant=`)).status, 404);
    assert.equal((await call("GET", `${worker.url}/tasks/${task.id}`)).status, 404);
  });

  test("the tenant of the path goes before that of the body and the query (§11.3)", async () => {
    const response = await call("POST", `${demo}/message:send`, { tenant: "assistant", message: message("hello") });
    const { task } = (await response.json()) as { task: Task };
    assert.equal(task.artifacts?.[0]?.artifactId, "echo");
    assert.equal((await call("GET", `${demo}/tasks/${task.id}?tenant=assistant&id=x`)).status, 200);
  });

  test("another agent does not find the task (§3.3.2)", async () => {
    const { id } = await send(demo, "ask");
    for (const base of [worker.url, `${worker.url}/assistant`]) {
      await failure(await call("GET", `${base}/tasks/${id}`), 404, "NOT_FOUND", "TASK_NOT_FOUND");
      await failure(await call("POST", `${base}/tasks/${id}:cancel`), 404, "NOT_FOUND", "TASK_NOT_FOUND");
    }
    assert.equal((await getTask(demo, id)).status.state, "TASK_STATE_INPUT_REQUIRED");
  });

  test("an agent that is not there is named by a clear error (§11.6)", async () => {
    const { message: text } = await failure(await call("POST", `${worker.url}/nobody/message:send`, { message: message("x") }), 404, "NOT_FOUND", "NOT_FOUND");
    assert.match(text, /\/demo/, "says which agents there are");
    for (const [verb, path] of [["POST", "/demo/assistant/message:send"], ["GET", "/demo/nobody/tasks/x"], ["GET", "/tasks/x?tenant=nobody"]] as const) {
      const body = verb === "POST" ? { message: message("x") } : undefined;
      const error = await failure(await call(verb, worker.url + path, body), 400, "INVALID_ARGUMENT", "INVALID_PARAMS");
      assert.deepEqual(fieldsOf(error), ["tenant"], path);
    }
  });
});

describe("ids", () => {
  test("percent-encoded ones are found (§11.3)", async () => {
    const { id } = await send(demo, "ask");
    const encoded = [...id].map((letter) => `%${letter.charCodeAt(0).toString(16)}`).join("");
    assert.equal((await getTask(demo, encoded)).id, id);
    assert.equal(((await (await call("POST", `${demo}/tasks/${encoded}:cancel`)).json()) as Task).id, id);
  });

  for (const id of ["a/b", "a b", "a?b#c", "ünï ✓", "a:b", "x:cancel", "100%", "%2F", "tasks", "a/pushNotificationConfigs/b", "\u0000", "'\"<>", "a".repeat(4000)]) {
    test(`the unknown id ${JSON.stringify(id.slice(0, 40))} is not found, and comes back as it was (§11.3)`, async () => {
      for (const [verb, suffix] of [["GET", ""], ["POST", ":cancel"], ["GET", ":subscribe"]] as const) {
        const response = await call(verb, `${demo}/tasks/${encodeURIComponent(id)}${suffix}`);
        const { details } = await failure(response, 404, "NOT_FOUND", "TASK_NOT_FOUND");
        assert.equal(details[0]?.metadata?.["taskId"], id);
      }
    });
  }

  test("an empty one is refused (§11.3)", async () => {
    for (const [verb, path] of [["GET", "tasks/"], ["POST", "tasks/:cancel"]] as const) {
      const error = await failure(await call(verb, `${demo}/${path}`), 400, "INVALID_ARGUMENT", "INVALID_PARAMS");
      assert.deepEqual(fieldsOf(error), ["id"]);
    }
  });

  test("broken escapes are taken as they stand (§11.3)", async () => {
    for (const path of ["tasks/%", "tasks/%zz", "tasks/%ff%fe"]) {
      await failure(await call("GET", `${demo}/${path}`), 404, "NOT_FOUND", "TASK_NOT_FOUND");
    }
  });
});

describe("content types", () => {
  for (const [accept, type, expected] of [
    [undefined, JSON_TYPE, JSON_TYPE],
    [undefined, A2A_TYPE, A2A_TYPE],
    ["*/*", A2A_TYPE, A2A_TYPE],
    [JSON_TYPE, A2A_TYPE, JSON_TYPE],
    [A2A_TYPE, JSON_TYPE, A2A_TYPE],
    [`${A2A_TYPE}, ${JSON_TYPE}`, JSON_TYPE, A2A_TYPE],
    [`${JSON_TYPE}, ${A2A_TYPE}`, JSON_TYPE, JSON_TYPE],
    [`${A2A_TYPE};q=0.5, ${JSON_TYPE}`, JSON_TYPE, JSON_TYPE],
  ] as const) {
    test(`a body of ${type} with Accept ${accept ?? "left out"} is answered with ${expected} (§11.1)`, async () => {
      const headers: Record<string, string> = accept === undefined ? { "content-type": type } : { "content-type": type, accept };
      const response = await call("POST", `${demo}/message:send`, { message: message("hello") }, headers);
      assert.equal(response.status, 200);
      assert.equal(response.headers.get("content-type"), expected);
      await failure(await call("POST", `${demo}/message:send`, {}, headers), 400, "INVALID_ARGUMENT", "INVALID_PARAMS");
    });
  }

  for (const type of ["text/plain", "application/x-www-form-urlencoded", "application/jsonp", "multipart/form-data; boundary=x"]) {
    test(`a body of ${type} is refused with 415, before it is looked at (§11.6)`, async () => {
      const { id } = await send(demo, "ask");
      for (const [path, body] of [["message:send", JSON.stringify({ message: message("x") })], ["message:send", "not json"], [`tasks/${id}:cancel`, "{}"]] as const) {
        const response = await call("POST", `${demo}/${path}`, body, { "content-type": type });
        await failure(response, 415, "INVALID_ARGUMENT", "CONTENT_TYPE_NOT_SUPPORTED");
      }
      assert.equal((await getTask(demo, id)).status.state, "TASK_STATE_INPUT_REQUIRED");
    });
  }
});

describe("verbs and paths", () => {
  for (const [path, allowed] of [
    ["message:send", "POST"],
    ["message:stream", "POST"],
    ["tasks", "GET"],
    ["tasks/t", "GET"],
    ["tasks/t:cancel", "POST"],
    ["tasks/t:subscribe", "GET, POST"],
    ["tasks/t/pushNotificationConfigs", "GET, POST"],
    ["tasks/t/pushNotificationConfigs/c", "GET, DELETE"],
    ["tasks/t/pushNotificationConfigs/c/deliveries", "GET"],
    ["tasks/t/pushNotificationConfigs/c:redeliver", "POST"],
    ["extendedAgentCard", "GET"],
  ] as const) {
    test(`${path} takes ${allowed} and says so to others (§11.3)`, async () => {
      for (const base of [worker.url, demo, `${demo}/demo`]) {
        for (const verb of ["GET", "POST", "PUT", "PATCH", "DELETE"].filter((verb) => !allowed.split(", ").includes(verb))) {
          const response = await call(verb, `${base}/${path}`);
          assert.equal(response.headers.get("allow"), `${allowed}, OPTIONS`, verb);
          await failure(response, 405, "INVALID_ARGUMENT", "METHOD_NOT_ALLOWED");
        }
        const options = await fetch(`${base}/${path}`, { method: "OPTIONS" });
        assert.equal(options.status, 204);
        assert.equal(options.headers.get("allow"), `${allowed}, OPTIONS`);
        assert.equal(options.headers.get("access-control-allow-origin"), "*");
      }
    });
  }

  for (const path of ["/message", "/message:poke", "/message:send/", "/task/x", "/tasks/a/b", "/tasks/a/pushNotificationConfigs/b/c", "/demo/x/y/tasks", "/demo/Tasks", "/demo/card"]) {
    test(`there is nothing at ${path} (§11.6)`, async () => {
      for (const verb of ["GET", "POST"]) {
        await failure(await call(verb, worker.url + path, verb === "POST" ? {} : undefined), 404, "NOT_FOUND", "NOT_FOUND");
      }
    });
  }
});

describe("versions", () => {
  for (const [header, status] of [["1.0", 200], ["1.0.3", 200], ["", 200], [undefined, 200], ["1.1", 400], ["1.7", 400], ["0.3", 400], ["99.0", 400], ["0.5", 400], ["abc", 400]] as const) {
    test(`A2A-Version ${header === undefined ? "left out" : `"${header}"`} is answered with ${status} (§3.6.2)`, async () => {
      const headers: Record<string, string> = { "content-type": JSON_TYPE, ...(header === undefined ? {} : { "a2a-version": header }) };
      const body = JSON.stringify({ message: message("hello") });
      const response = await fetch(`${demo}/message:send`, { method: "POST", headers, body });
      if (status === 200) assert.equal(response.status, 200);
      else await failure(response, status, "FAILED_PRECONDITION", "VERSION_NOT_SUPPORTED");
    });
  }

  test("the query may say the version (§3.6.1)", async () => {
    await failure(await fetch(`${demo}/tasks/x?A2A-Version=99.0`), 400, "FAILED_PRECONDITION", "VERSION_NOT_SUPPORTED");
    await failure(await fetch(`${demo}/tasks/x?A2A-Version=1.0`), 404, "NOT_FOUND", "TASK_NOT_FOUND");
  });

  test("a version must be said where STRICT_VERSION is set, but not in a preflight (§3.6.2)", async (t) => {
    const strict = await startWorker({ vars: { STRICT_VERSION: "true" } });
    t.after(() => strict.stop());
    await failure(await fetch(`${strict.url}/tasks/x`), 400, "FAILED_PRECONDITION", "VERSION_NOT_SUPPORTED");
    await failure(await call("GET", `${strict.url}/tasks/x`), 404, "NOT_FOUND", "TASK_NOT_FOUND");
    assert.equal((await fetch(`${strict.url}/tasks/x`, { method: "OPTIONS" })).status, 204);
  });

  for (const base of ["/v1", "/demo/v1"]) {
    test(`paths below ${base} are those of 0.3, which is not spoken (§3.6.2)`, async () => {
      for (const path of ["message:send", "tasks/x", "card"]) {
        for (const headers of [{}, { "a2a-version": "0.3" }]) {
          const response = await fetch(`${worker.url}${base}/${path}`, { headers });
          await failure(response, 400, "FAILED_PRECONDITION", "VERSION_NOT_SUPPORTED");
        }
      }
      const error = await failure(await call("GET", `${worker.url}${base}/tasks/x`), 400, "INVALID_ARGUMENT", "INVALID_PARAMS");
      assert.deepEqual(fieldsOf(error), ["tenant"], "with 1.0 it is a tenant that is not there");
    });
  }
});

describe("bad input", () => {
  for (const [what, body, reason, fields] of [
    ["nothing", "", "PARSE_ERROR", []],
    ["no JSON", "nope", "PARSE_ERROR", []],
    ["half of an object", '{"message":', "PARSE_ERROR", []],
    ["null", "null", "INVALID_REQUEST", []],
    ["a list", "[]", "INVALID_REQUEST", []],
    ["a text", '"message"', "INVALID_REQUEST", []],
    ["a hundred thousand lists", "[".repeat(100_000) + "]".repeat(100_000), "INVALID_REQUEST", []],
    ["no message", "{}", "INVALID_PARAMS", ["message"]],
    ["no parts", '{"message":{"messageId":"m","role":"ROLE_USER","parts":[]}}', "INVALID_PARAMS", ["message.parts"]],
    ["wrong members", '{"message":{"messageId":5,"role":"KING","parts":[{}]},"configuration":{"historyLength":-1}}', "INVALID_PARAMS", ["message.messageId", "message.role", "message.parts[0]", "configuration.historyLength"]],
    ["a JSON-RPC request", '{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{}}', "INVALID_PARAMS", ["message"]],
    ["a tenant that is a number", '{"tenant":5,"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"x"}]}}', "INVALID_PARAMS", ["tenant"]],
  ] as const) {
    test(`message:send with ${what} is refused, and no agent receives anything (§11.6)`, async () => {
      const before = (await received(worker.url)).messages.length;
      const error = await failure(await call("POST", `${worker.url}/message:send`, body), 400, "INVALID_ARGUMENT", reason);
      assert.deepEqual(fieldsOf(error), fields);
      assert.equal((await received(worker.url)).messages.length, before);
    });
  }

  for (const value of ["x", "-1", "1.5", "", "99999999999", "true", "%00"]) {
    test(`historyLength=${value} names the parameter (§11.5)`, async () => {
      for (const name of ["historyLength", "history_length"]) {
        const error = await failure(await call("GET", `${demo}/tasks/t?${name}=${value}`), 400, "INVALID_ARGUMENT", "INVALID_PARAMS");
        assert.deepEqual(fieldsOf(error), ["historyLength"]);
      }
    });
  }

  for (const [verb, suffix, body, reason] of [
    ["POST", ":cancel", "[]", "INVALID_REQUEST"],
    ["POST", ":cancel", "{", "PARSE_ERROR"],
    ["POST", ":cancel", '{"metadata":5}', "INVALID_PARAMS"],
    ["POST", ":subscribe", "true", "INVALID_REQUEST"],
  ] as const) {
    test(`${verb} tasks/{id}${suffix} with ${body} is refused and changes nothing (§11.6)`, async () => {
      const task = await send(demo, "ask");
      await failure(await call(verb, `${demo}/tasks/${task.id}${suffix}`, body), 400, "INVALID_ARGUMENT", reason);
      assert.deepEqual(await getTask(demo, task.id), task);
    });
  }

  test("a body that is too large is refused with 413 (§11.6)", async (t) => {
    const small = await startWorker({ vars: { MAX_BODY_BYTES: "4096" } });
    t.after(() => small.stop());
    for (const [length, status] of [[4096, 200], [4097, 413]] as const) {
      const body = JSON.stringify({ message: message("hello") }).padEnd(length);
      const response = await call("POST", `${small.url}/message:send`, body);
      if (status === 200) assert.equal(response.status, 200);
      else await failure(response, 413, "INVALID_ARGUMENT", "REQUEST_TOO_LARGE");
    }
  });

  test("errors of the protocol carry their status and reason (§5.4)", async () => {
    const { id } = await send(demo, "hello");
    const more = { message: message({ taskId: id, parts: [{ text: "more" }] }) };
    const { details } = await failure(await call("POST", `${demo}/tasks/${id}:cancel`), 400, "FAILED_PRECONDITION", "TASK_NOT_CANCELABLE");
    assert.equal(details[0]?.metadata?.["taskId"], id);
    await failure(await call("POST", `${demo}/message:send`, more), 400, "FAILED_PRECONDITION", "UNSUPPORTED_OPERATION");
    const unknown = { message: message({ taskId: randomUUID() }) };
    await failure(await call("POST", `${demo}/message:send`, unknown), 404, "NOT_FOUND", "TASK_NOT_FOUND");
  });
});

test("every answer lets pages of any origin read it (§8.2)", async () => {
  const { id } = await send(demo, "ask");
  for (const [verb, path, body] of [
    ["GET", `tasks/${id}`, undefined],
    ["GET", "tasks/unknown", undefined],
    ["GET", "nowhere/at/all", undefined],
    ["DELETE", "tasks", undefined],
    ["POST", "message:send", "nope"],
    ["POST", `tasks/${id}:cancel`, undefined],
  ] as const) {
    const response = await call(verb, `${demo}/${path}`, body);
    assert.equal(response.headers.get("access-control-allow-origin"), "*", `${verb} ${path}`);
  }
});
