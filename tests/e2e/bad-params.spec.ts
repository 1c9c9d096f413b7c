// Invalid parameters: each is reported with its path, and the request has no effect (spec §9.5, §3.3.2).
import assert from "node:assert/strict";
import { after, afterEach, before, beforeEach, test } from "node:test";
import { Agent, message, type ErrorDetail, type Reply } from "./client.ts";
import { startWorker, type Worker } from "./harness.ts";

let worker: Worker;
let demo: Agent;
let heard: string[];
before(async () => {
  worker = await startWorker({ notes: true });
  demo = new Agent(`${worker.url}/demo`);
});
after(() => worker.stop());
beforeEach(async () => {
  heard = await worker.given();
});
afterEach(async () => {
  assert.deepEqual(await worker.given(), heard, "no agent was given anything");
});

/** The parameters of a valid send, with some members of its message changed. */
const said = (changes: object) => ({ message: { ...message("hello"), ...changes } });
const parts = (...parts: unknown[]) => said({ parts });
const configured = (configuration: unknown) => ({ message: message("hello"), configuration });

for (const [method, what, params, fields] of [
  ["SendMessage", "no params", undefined, ["params"]],
  ["SendMessage", "params of null", null, ["params"]],
  ["SendMessage", "params as a list", [{ message: message("hello") }], ["params"]],
  ["SendMessage", "params as a text", "hello", ["params"]],
  ["SendMessage", "a member without a name", { "": 1, message: message("hello") }, ["params"]],
  ["SendMessage", "a tenant that is a number", { ...said({}), tenant: 5 }, ["tenant"]],
  ["SendMessage", "metadata as a list", { ...said({}), metadata: [] }, ["metadata"]],

  ["SendMessage", "no message", {}, ["message"]],
  ["SendMessage", "a message of null", { message: null }, ["message"]],
  ["SendMessage", "a message that is a text", { message: "hello" }, ["message"]],
  ["SendMessage", "an empty message", { message: {} }, ["message.messageId", "message.role", "message.parts"]],
  ["SendMessage", "no message id", said({ messageId: undefined }), ["message.messageId"]],
  ["SendMessage", "an empty message id", said({ messageId: "" }), ["message.messageId"]],
  ["SendMessage", "a message id that is a number", said({ messageId: 5 }), ["message.messageId"]],
  ["SendMessage", "no role", said({ role: undefined }), ["message.role"]],
  ["SendMessage", "an unknown role", said({ role: "ROLE_KING" }), ["message.role"]],
  ["SendMessage", "a role of version 0.3", said({ role: "user" }), ["message.role"]],
  ["SendMessage", "an unknown role number", said({ role: 7 }), ["message.role"]],
  ["SendMessage", "the unspecified role", said({ role: "ROLE_UNSPECIFIED" }), ["message.role"]],
  ["SendMessage", "the number of the unspecified role", said({ role: 0 }), ["message.role"]],
  ["SendMessage", "a context id that is a number", said({ contextId: 5 }), ["message.contextId"]],
  ["SendMessage", "a task id that is an object", said({ taskId: {} }), ["message.taskId"]],
  ["SendMessage", "message metadata that is a text", said({ metadata: "x" }), ["message.metadata"]],
  ["SendMessage", "extensions that are a text", said({ extensions: "x" }), ["message.extensions"]],
  ["SendMessage", "an extension that is a number", said({ extensions: ["x", 5] }), ["message.extensions[1]"]],
  ["SendMessage", "a reference that is null", said({ referenceTaskIds: [null] }), ["message.referenceTaskIds[0]"]],

  ["SendMessage", "no parts", said({ parts: undefined }), ["message.parts"]],
  ["SendMessage", "an empty list of parts", parts(), ["message.parts"]],
  ["SendMessage", "parts of null", said({ parts: null }), ["message.parts"]],
  ["SendMessage", "parts as an object", said({ parts: { text: "hello" } }), ["message.parts"]],
  ["SendMessage", "a part that is a text", parts("hello"), ["message.parts[0]"]],
  ["SendMessage", "an empty part", parts({}), ["message.parts[0]"]],
  ["SendMessage", "a part of version 0.3", parts({ kind: "file", file: { uri: "https://a.example" } }), ["message.parts[0]"]],
  ["SendMessage", "a part with two members", parts({ text: "hello", url: "https://a.example" }), ["message.parts[0]"]],
  ["SendMessage", "a part with text and data of null", parts({ text: "hello", data: null }), ["message.parts[0]"]],
  ["SendMessage", "a text that is a number", parts({ text: 5 }), ["message.parts[0].text"]],
  ["SendMessage", "a URL that is a list", parts({ url: [] }), ["message.parts[0].url"]],
  ["SendMessage", "bytes that are no base64", parts({ text: "hello" }, { raw: "%%%" }), ["message.parts[1].raw"]],
  ["SendMessage", "bytes of one letter of base64", parts({ raw: "A" }), ["message.parts[0].raw"]],
  ["SendMessage", "bytes in both alphabets at once", parts({ raw: "+-/_" }), ["message.parts[0].raw"]],
  ["SendMessage", "bytes that are a number", parts({ raw: 5 }), ["message.parts[0].raw"]],
  ["SendMessage", "a file name that is a number", parts({ text: "hello", filename: 5 }), ["message.parts[0].filename"]],
  ["SendMessage", "part metadata that is a list", parts({ text: "hello", metadata: [] }), ["message.parts[0].metadata"]],
  ["SendMessage", "more than a hundred parts", parts(...Array(101).fill({ text: "x" })), ["message.parts"]],

  ["SendMessage", "a configuration that is a list", configured([]), ["configuration"]],
  ["SendMessage", "a negative history length", configured({ historyLength: -1 }), ["configuration.historyLength"]],
  ["SendMessage", "half a message of history", configured({ historyLength: 0.5 }), ["configuration.historyLength"]],
  ["SendMessage", "a history length that is a word", configured({ historyLength: "all" }), ["configuration.historyLength"]],
  ["SendMessage", "returnImmediately as a text", configured({ returnImmediately: "true" }), ["configuration.returnImmediately"]],
  ["SendMessage", "returnImmediately as a number", configured({ returnImmediately: 1 }), ["configuration.returnImmediately"]],
  ["SendMessage", "output modes that are a text", configured({ acceptedOutputModes: "text/plain" }), ["configuration.acceptedOutputModes"]],
  ["SendMessage", "an output mode that is a number", configured({ acceptedOutputModes: [1] }), ["configuration.acceptedOutputModes[0]"]],
  ["SendMessage", "several mistakes at once",
    { message: { ...message(""), role: "x", parts: [{ text: "a" }, {}, { raw: "!" }] }, configuration: { historyLength: -3 }, metadata: 1 },
    ["message.role", "message.parts[1]", "message.parts[2].raw", "configuration.historyLength", "metadata"]],

  ["GetTask", "no params", undefined, ["params"]],
  ["GetTask", "params as a list", [], ["params"]],
  ["GetTask", "no id", {}, ["id"]],
  ["GetTask", "an empty id", { id: "" }, ["id"]],
  ["GetTask", "an id of null", { id: null }, ["id"]],
  ["GetTask", "an id that is a number", { id: 5 }, ["id"]],
  ["GetTask", "a name of version 0.3", { taskId: "x" }, ["id"]],
  ["GetTask", "a negative history length", { id: "x", historyLength: -1 }, ["historyLength"]],
  ["CancelTask", "no params", undefined, ["params"]],
  ["CancelTask", "no id", {}, ["id"]],
  ["CancelTask", "an id that is an object", { id: {} }, ["id"]],
  ["CancelTask", "metadata that is a text", { id: "x", metadata: "x" }, ["metadata"]],
] as [string, string, unknown, string[]][]) {
  test(`${method} with ${what} is refused for ${fields.join(", ")} (§9.5)`, async () => {
    const body = JSON.stringify({ jsonrpc: "2.0", id: what, method, params });
    const headers = { "content-type": "application/json", "a2a-version": "1.0" };
    const response = await fetch(demo.endpoint, { method: "POST", headers, body });
    assert.equal(response.status, 200);
    const reply = (await response.json()) as Reply;
    assert.equal(reply.id, what);
    assert.equal(reply.result, undefined);
    assert.equal(reply.error?.code, -32602);
    const [info, request, ...more] = reply.error?.data as ErrorDetail[];
    assert.deepEqual(info, {
      "@type": "type.googleapis.com/google.rpc.ErrorInfo", reason: "INVALID_PARAMS", domain: "a2a-protocol.org",
    });
    assert.equal(request?.["@type"], "type.googleapis.com/google.rpc.BadRequest");
    assert.deepEqual(request?.fieldViolations?.map(({ field }) => field), fields);
    for (const { description } of request?.fieldViolations ?? []) assert.notEqual(description, "");
    assert.deepEqual(more, []);
  });
}

test("a thousand mistakes are answered with a short list (§9.5)", async () => {
  const refusal = await demo.call("SendMessage", parts(...Array(1000).fill({}))).catch((error: { fields: string[] }) => error);
  const { fields } = refusal as { fields: string[] };
  assert.ok(fields.length > 0 && fields.length < 100, `${fields.length} fields`);
});
