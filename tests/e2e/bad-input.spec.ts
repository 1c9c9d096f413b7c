// Requests that are not JSON-RPC calls, or have an unsupported form (spec §9.5). None of them has an effect.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { request, type IncomingMessage } from "node:http";
import { json } from "node:stream/consumers";
import { after, afterEach, before, beforeEach, describe, test } from "node:test";
import { Agent, message, type Reply, type Task } from "./client.ts";
import { startWorker, type Worker } from "./harness.ts";

let worker: Worker;
let heard: string[];
before(async () => {
  worker = await startWorker({ notes: true });
});
after(() => worker.stop());

/** A valid call, in which each test makes one error. */
const call = (changes: object = {}) => ({
  jsonrpc: "2.0", id: "r-1", method: "SendMessage", params: { message: message("hello") }, ...changes,
});

function post(body: string | Uint8Array<ArrayBuffer>, headers: Record<string, string> = { "content-type": "application/json" }): Promise<Response> {
  return fetch(worker.url, { method: "POST", headers: { "a2a-version": "1.0", ...headers }, body });
}

const info = (reason: string) => ({ "@type": "type.googleapis.com/google.rpc.ErrorInfo", reason, domain: "a2a-protocol.org" });

describe("refused", () => {
  beforeEach(async () => {
    heard = await worker.given();
  });
  afterEach(async () => {
    assert.deepEqual(await worker.given(), heard, "no agent was given anything");
  });

  for (const [what, body, id, code, reason] of [
    ["an empty body", "", null, -32700, "PARSE_ERROR"],
    ["a text", "hello", null, -32700, "PARSE_ERROR"],
    ["half an object", JSON.stringify(call()).slice(0, -1), null, -32700, "PARSE_ERROR"],
    ["two objects", `${JSON.stringify(call())}${JSON.stringify(call())}`, null, -32700, "PARSE_ERROR"],
    ["single quotes", "{'jsonrpc':'2.0','id':1,'method':'GetTask'}", null, -32700, "PARSE_ERROR"],
    ["a trailing comma", '{"jsonrpc":"2.0","id":1,"method":"GetTask",}', null, -32700, "PARSE_ERROR"],
    ["bytes that are not UTF-8", Uint8Array.of(0x22, 0xff, 0xfe, 0x22), null, -32700, "PARSE_ERROR"],
    ["a number", "1", null, -32600, "INVALID_REQUEST"],
    ["a string", '"hello"', null, -32600, "INVALID_REQUEST"],
    ["null", "null", null, -32600, "INVALID_REQUEST"],
    ["true", "true", null, -32600, "INVALID_REQUEST"],
    ["an empty batch", "[]", null, -32600, "INVALID_REQUEST"],
    ["a batch of one", JSON.stringify([call()]), null, -32600, "INVALID_REQUEST"],
    ["a batch of two", JSON.stringify([call(), call()]), null, -32600, "INVALID_REQUEST"],
    ["an empty object", "{}", null, -32600, "INVALID_REQUEST"],
    ["no jsonrpc", JSON.stringify(call({ jsonrpc: undefined })), "r-1", -32600, "INVALID_REQUEST"],
    ["jsonrpc 1.0", JSON.stringify(call({ jsonrpc: "1.0" })), "r-1", -32600, "INVALID_REQUEST"],
    ["jsonrpc as a number", JSON.stringify(call({ jsonrpc: 2 })), "r-1", -32600, "INVALID_REQUEST"],
    ["no method", JSON.stringify(call({ method: undefined, id: 7 })), 7, -32600, "INVALID_REQUEST"],
    ["a method of null", JSON.stringify(call({ method: null })), "r-1", -32600, "INVALID_REQUEST"],
    ["a method as a number", JSON.stringify(call({ method: 5 })), "r-1", -32600, "INVALID_REQUEST"],
    ["a method as a list", JSON.stringify(call({ method: ["SendMessage"] })), "r-1", -32600, "INVALID_REQUEST"],
    ["an id that is an object", JSON.stringify(call({ id: {} })), null, -32600, "INVALID_REQUEST"],
    ["an id that is a list", JSON.stringify(call({ id: [1] })), null, -32600, "INVALID_REQUEST"],
    ["an id that is true", JSON.stringify(call({ id: true })), null, -32600, "INVALID_REQUEST"],
    ["an unknown method", JSON.stringify(call({ method: "MakeCoffee" })), "r-1", -32601, "METHOD_NOT_FOUND"],
    ["an unknown method without id", JSON.stringify(call({ method: "MakeCoffee", id: undefined })), null, -32601, "METHOD_NOT_FOUND"],
    ["a method in lower case", JSON.stringify(call({ method: "sendMessage" })), "r-1", -32601, "METHOD_NOT_FOUND"],
    ["an empty method", JSON.stringify(call({ method: "" })), "r-1", -32601, "METHOD_NOT_FOUND"],
    ["a hundred thousand lists", "[".repeat(100_000) + "]".repeat(100_000), null, -32600, "INVALID_REQUEST"],
    ["a hundred thousand open lists", "[".repeat(100_000), null, -32600, "INVALID_REQUEST"],
    ["a hundred thousand objects in a part", JSON.stringify(call()).replace('{"text":"hello"}', `{"data":${'{"a":'.repeat(100_000)}1${"}".repeat(100_000)}}`), null, -32600, "INVALID_REQUEST"],
    ["a hundred lists in a part", JSON.stringify(call()).replace('{"text":"hello"}', `{"data":${"[".repeat(100)}${"]".repeat(100)}}`), null, -32600, "INVALID_REQUEST"],
  ] as const) {
    test(`${what} with ${code} (§9.5)`, async () => {
      const response = await post(body);
      assert.equal(response.status, 200);
      assert.match(response.headers.get("content-type") ?? "", /^application\/json\b/);
      const reply = (await response.json()) as Reply;
      assert.deepEqual(Object.keys(reply).sort(), ["error", "id", "jsonrpc"]);
      assert.equal(reply.jsonrpc, "2.0");
      assert.equal(reply.id, id);
      assert.equal(reply.error?.code, code);
      assert.notEqual(reply.error?.message, "");
      assert.deepEqual(reply.error?.data, [info(reason)]);
    });
  }

  for (const type of ["text/plain", "application/x-www-form-urlencoded", "application/jsonp", "text/json", "multipart/form-data; boundary=x"]) {
    test(`the content type ${type} with -32005, before the body is looked at (§3.3.2)`, async () => {
      for (const body of [JSON.stringify(call()), "not json"]) {
        const response = await post(body, { "content-type": type });
        assert.equal(response.status, 200);
        const reply = (await response.json()) as Reply;
        assert.equal(reply.id, null);
        assert.equal(reply.error?.code, -32005);
        assert.deepEqual(reply.error?.data, [info("CONTENT_TYPE_NOT_SUPPORTED")]);
      }
    });
  }

  for (const path of ["/", "/demo", "/demo/"]) {
    test(`other verbs than POST at ${path} with 405 (§9.1)`, async () => {
      for (const method of ["GET", "PUT", "PATCH", "DELETE"]) {
        const response = await fetch(worker.url + path, { method });
        assert.equal(response.status, 405, method);
        assert.equal(response.headers.get("allow"), "POST, OPTIONS", method);
        const { error } = (await response.json()) as { error: { code: number; details: unknown[] } };
        assert.equal(error.code, 405);
        assert.deepEqual(error.details, [info("METHOD_NOT_ALLOWED")]);
      }
      const head = await fetch(worker.url + path, { method: "HEAD" });
      assert.equal(head.status, 405);
      assert.equal(await head.text(), "");
    });
  }

  for (const path of ["/nobody", "/nobody/", "/demo/x", "/demo//", "/Demo", "/demo%20", "/_dev/other", "/.well-known/", "/a/b/c/d"]) {
    test(`the unknown path ${path} with 404 (§9.1)`, async () => {
      for (const init of [{}, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(call()) }]) {
        const response = await fetch(worker.url + path, init);
        assert.equal(response.status, 404);
        const { error } = (await response.json()) as { error: { code: number; status: string; details: unknown[] } };
        assert.equal(error.code, 404);
        assert.equal(error.status, "NOT_FOUND");
        assert.deepEqual(error.details, [info("NOT_FOUND")]);
      }
    });
  }

  test("a body whose declared length is too large with 413, before any of it is sent (§9.5)", async () => {
    const headers = { "content-type": "application/json", "content-length": String(1 << 30) };
    const upload = request(worker.url, { method: "POST", headers });
    upload.flushHeaders();
    const [response] = (await once(upload, "response")) as [IncomingMessage];
    assert.equal(response.statusCode, 413);
    const reply = (await json(response)) as Reply;
    assert.equal(reply.id, null);
    assert.equal(reply.error?.code, -32600);
    assert.deepEqual(reply.error?.data, [info("REQUEST_TOO_LARGE")]);
    upload.on("error", () => {}).destroy();
  });

  test("a body of unknown length that becomes too large with 413, before its end (§9.5)", async () => {
    const headers = { "content-type": "application/json", "transfer-encoding": "chunked" };
    const upload = request(worker.url, { method: "POST", headers });
    // One byte more than the limit, without an end. With more bytes, the connection could be reset before the answer is
    // read.
    upload.write(Buffer.alloc(4 * 1024 * 1024 + 1, " "));
    const [response] = (await once(upload, "response")) as [IncomingMessage];
    assert.equal(response.statusCode, 413);
    assert.deepEqual(((await json(response)) as Reply).error?.data, [info("REQUEST_TOO_LARGE")]);
    upload.on("error", () => {}).destroy();
  });
});

describe("taken", () => {
  for (const id of ["r-1", "", "ünï ✓", 0, 1, -5, 9_007_199_254_740_991, null]) {
    test(`the id ${JSON.stringify(id)} comes back with results and errors (§9.3)`, async () => {
      for (const method of ["SendMessage", "MakeCoffee"]) {
        const reply = (await (await post(JSON.stringify(call({ id, method })))).json()) as Reply;
        assert.equal(reply.id, id, method);
      }
    });
  }

  for (const id of ["18446744073709551616", "-9223372036854775809", "123456789012345678901234567890.50", "1e3", "1.0", "-0"]) {
    test(`the number ${id} comes back as the id as it was written (§9.3)`, async () => {
      const streaming = await post(`{"jsonrpc":"2.0","id":${id},"method":"SendStreamingMessage","params":${JSON.stringify(call().params)}}`);
      for (const event of (await streaming.text()).match(/^data: .*$/gm) ?? []) assert.ok(event.includes(`"id":${id},`), event);
      for (const method of ["SendMessage", "GetTask", "MakeCoffee"]) {
        const answer = await (await post(`{"jsonrpc":"2.0","id":${id},"method":"${method}","params":${JSON.stringify(call().params)}}`)).text();
        assert.ok(answer.startsWith(`{"jsonrpc":"2.0","id":${id},`), answer);
      }
    });
  }

  test("a request without id is answered with the id null (§9.3)", async () => {
    const reply = (await (await post(JSON.stringify(call({ id: undefined })))).json()) as Reply;
    assert.equal(reply.id, null);
    assert.deepEqual(Object.keys(reply).sort(), ["id", "jsonrpc", "result"]);
  });

  for (const type of ["application/json; charset=utf-8", "Application/JSON", "application/a2a+json", undefined]) {
    test(`the content type ${type ?? "left out"} (§9.1)`, async () => {
      const body = new TextEncoder().encode(JSON.stringify(call()));
      const response = await post(body, type === undefined ? {} : { "content-type": type });
      assert.match(response.headers.get("content-type") ?? "", /^application\/json\b/);
      const { result } = (await response.json()) as { result: { task: Task } };
      assert.equal(result.task.status.state, "TASK_STATE_COMPLETED");
    });
  }

  test("members of the request that JSON-RPC does not know (§9.3)", async () => {
    const reply = (await (await post(JSON.stringify(call({ surprise: { a: 1 } })))).json()) as Reply;
    assert.equal(reply.error, undefined);
  });

  test("a body of exactly the largest length, but not one byte more (§9.5)", async (t) => {
    const small = await startWorker({ vars: { MAX_BODY_BYTES: "4096" } });
    t.after(() => small.stop());
    const headers = { "content-type": "application/json", "a2a-version": "1.0" };
    for (const [length, status] of [[4096, 200], [4097, 413]] as const) {
      const body = JSON.stringify(call()).padEnd(length);
      for (const sent of [body, new Blob([body]).stream()]) {
        const response = await fetch(small.url, { method: "POST", headers, body: sent, duplex: "half" } as RequestInit);
        assert.equal(response.status, status, `${length} bytes`);
      }
    }
  });

  test("data that is nested ninety levels deep, and given back as it was (§4.1.6)", async () => {
    const data = JSON.parse("[".repeat(45) + '{"a":'.repeat(45) + "1" + "}".repeat(45) + "]".repeat(45)) as unknown;
    const agent = new Agent(`${worker.url}/demo`);
    const task = await agent.sendForTask({ messageId: randomUUID(), parts: [{ data }] });
    assert.deepEqual((await agent.getTask(task.id)).history?.[0]?.parts, [{ data }]);
  });
});
