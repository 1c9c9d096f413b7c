// The input of the HTTP+JSON binding (spec §11.1, §11.5, §11.6): invalid content types, bodies and queries.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, before, describe, test } from "node:test";
import { message } from "./client.ts";
import { startWorker, type Worker } from "./harness.ts";
import { call, failure, fieldsOf, getTask, JSON_TYPE, send } from "./rest.ts";

const A2A_TYPE = "application/a2a+json";

let worker: Worker;
let demo: string;
before(async () => {
  worker = await startWorker({ notes: true });
  demo = `${worker.url}/demo`;
});
after(() => worker.stop());

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
      const before = (await worker.given()).length;
      const error = await failure(await call("POST", `${worker.url}/message:send`, body), 400, "INVALID_ARGUMENT", reason);
      assert.deepEqual(fieldsOf(error), fields);
      assert.equal((await worker.given()).length, before);
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
