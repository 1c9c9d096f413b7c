// Long calls of MCP: progress, streams, disconnects, questions in the middle (MCP 2026-07-28, multi-round-trip requests, progress).
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Agent, until } from "./client.ts";
import { startWorker, type Worker } from "./harness.ts";
import { connect, legacy, modern, MODERN, only, VERSION_KEY, CAPABILITIES_KEY, type Result } from "./mcp.ts";

const FORMS = { elicitation: { form: {} } };
const URLS = { elicitation: { url: {} } };
const LONG = [{ then: [{ do: "working", text: "begun" }, { do: "wait", ms: 600_000 }, { do: "complete" }] }];
const LOGIN = [{ then: [{ do: "auth_required", text: "Log in." }], follow_up: [{ then: [{ do: "complete", text: "in" }] }] }];

let worker: Worker;
let url: string;
before(async () => {
  const script = (rules: object[]) => ({ kind: "script", table: { rules }, run: {} });
  const agents = only({ demo: { of: "demo" }, asking: { of: "asking" }, long: { of: "double", executor: script(LONG) }, login: { of: "double", executor: script(LOGIN) } });
  worker = await startWorker({ vars: { AGENTS: agents } });
  url = `${worker.url}/mcp`;
});
after(() => worker.stop());

interface Progress { method: string; params: { progressToken: unknown; progress: number; message?: string } }

const call = (name: string, args: object, more: object = {}): Record<string, unknown> => ({ name, arguments: args, ...more });
const ask = (params: object, capabilities: object = {}): Promise<Result | undefined> =>
  modern(url, "tools/call", params as Record<string, unknown>, {}, capabilities).then(({ body }) => body.result);

test("progress is told with a token, and rises", async () => {
  const params = call("demo", { message: "chunks" }, { _meta: { progressToken: "p" } });
  for (const answer of [await legacy(url, "tools/call", params), await modern(url, "tools/call", params)]) {
    assert.equal(answer.headers.get("content-type"), "text/event-stream");
    assert.equal(answer.headers.get("x-accel-buffering"), "no");
    const told = answer.messages.slice(0, -1) as unknown as Progress[];
    assert.ok(told.length >= 2, answer.text);
    assert.ok(told.every(({ method, params }) => method === "notifications/progress" && params.progressToken === "p"));
    assert.deepEqual(told.map(({ params }) => params.progress), told.map((_, index) => index + 1));
    assert.match(told[0]?.params.message ?? "", /^task /);
    assert.equal(answer.body.result?.structuredContent?.text, "one two three");
  }
});

test("without a token there is none, and who takes no stream gets none", async () => {
  const params = call("demo", { message: "chunks" });
  const streamed = await modern(url, "tools/call", params);
  assert.deepEqual([streamed.headers.get("content-type"), streamed.messages.length], ["text/event-stream", 1]);
  const token = call("demo", { message: "chunks" }, { _meta: { progressToken: 1 } });
  for (const plain of [await legacy(url, "tools/call", params), await modern(url, "tools/call", token, { accept: "application/json" })]) {
    assert.equal(plain.headers.get("content-type"), "application/json");
    assert.equal(plain.body.result?.structuredContent?.text, "one two three");
  }
});

for (const mode of ["legacy", "auto"] as const) {
  test(`the SDK tells its user how a call gets on (${mode})`, async () => {
    const client = await connect(url, mode);
    const told: number[] = [];
    const onprogress = ({ progress }: { progress: number }) => void told.push(progress);
    const result = (await client.callTool({ name: "demo", arguments: { message: "chunks" } }, { onprogress })) as unknown as Result;
    assert.equal(result.structuredContent?.state, "completed");
    assert.ok(told.length >= 2);
    await client.close();
  });
}

test("a modern client that leaves cancels the task, a legacy one does not", async () => {
  const agent = new Agent(`${worker.url}/long`);
  /** Calls, disconnects while the task is working, and returns its id. */
  const leave = async (isModern: boolean): Promise<string> => {
    const leaving = new AbortController();
    const meta = { progressToken: "p", ...(isModern ? { [VERSION_KEY]: MODERN, [CAPABILITIES_KEY]: {} } : {}) };
    const headers = { "content-type": "application/json", accept: "application/json, text/event-stream",
      ...(isModern ? { "mcp-protocol-version": MODERN, "mcp-method": "tools/call", "mcp-name": "long" } : {}) };
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "long", arguments: { message: "x" }, _meta: meta } });
    const response = await fetch(url, { method: "POST", headers, body, signal: leaving.signal });
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
    let text = "";
    while (!text.includes("begun")) text += (await reader?.read())?.value ?? assert.fail(text);
    leaving.abort();
    return /task ([0-9a-f]{64})/.exec(text)?.[1] ?? "";
  };
  const [old, modern] = [await leave(false), await leave(true)];
  await until(() => agent.getTask(modern), ({ status }) => status.state === "TASK_STATE_CANCELED");
  // By now, the disconnect of the first client would have been noticed.
  assert.equal((await agent.getTask(old)).status.state, "TASK_STATE_WORKING");
  await agent.cancelTask(old);
});

test("a question is a form, and its answer goes on with the same task", async () => {
  const asked = await ask(call("demo", { message: "ask" }), FORMS);
  assert.equal(asked?.resultType, "input_required");
  const [[key, request] = assert.fail()] = Object.entries(asked.inputRequests ?? {});
  const schema = { type: "object", properties: { answer: { type: "string", title: "Answer" } }, required: ["answer"] };
  assert.deepEqual(request, { method: "elicitation/create", params: { mode: "form", message: "Which colour?", requestedSchema: schema } });
  const retry = (answer: object, state = asked.requestState) =>
    ask(call("demo", { message: "ask" }, { requestState: state, inputResponses: { [key]: answer, other: { action: "decline" } } }), FORMS);
  const unanswered = await ask(call("demo", { message: "ask" }, { requestState: asked.requestState }), FORMS);
  assert.deepEqual(unanswered?.inputRequests, asked.inputRequests, "what is not answered is asked again");
  const declined = await retry({ action: "decline" });
  assert.deepEqual([declined?.resultType, declined?.structuredContent?.state], ["complete", "input_required"]);
  assert.equal(declined?.content[0]?.text, "The user has not answered.");
  const done = await retry({ action: "accept", content: { answer: "green" } });
  assert.deepEqual([done?.resultType, done?.structuredContent?.text], ["complete", "green"]);
  const again = await retry({ action: "accept", content: { answer: "green" } });
  assert.deepEqual(again?.structuredContent, done?.structuredContent, "an answer that comes twice counts once");
});

test("a question with a schema is its form, and states that were not given out are refused", async () => {
  const asked = await ask(call("asking", { data: { tool: "add_numbers", arguments: { a: 2 } } }), FORMS);
  const [[key, request] = assert.fail()] = Object.entries(asked?.inputRequests ?? {});
  const { properties, required } = request.params["requestedSchema"] as { properties: Record<string, { type: string }>; required: string[] };
  assert.deepEqual([Object.keys(properties), required], [["b"], ["b"]]);
  const inputResponses = { [key]: { action: "accept", content: { b: 3 } } };
  for (const requestState of ["", "x", "1.a", `1.${"0".repeat(64)}.1`]) {
    const { body } = await modern(url, "tools/call", call("asking", {}, { requestState, inputResponses }), {}, FORMS);
    assert.equal(body.error?.code, -32602, requestState);
  }
  const elsewhere = await modern(url, "tools/call", call("demo", { message: "x" }, { requestState: asked?.requestState, inputResponses }), {}, FORMS);
  assert.equal(elsewhere.body.error?.code, -32602, "the task of another agent");
  const done = await ask(call("asking", {}, { requestState: asked?.requestState, inputResponses }), FORMS);
  assert.equal(done?.structuredContent?.state, "completed");
  assert.match(done?.structuredContent?.text ?? "", /5/);
});

test("the SDK shows the question to its user and goes on by itself", async () => {
  const client = await connect(url, "auto", {}, FORMS);
  const questions: unknown[] = [];
  client.setRequestHandler("elicitation/create", (request) => {
    questions.push(request.params.message);
    return { action: "accept", content: { answer: questions.length === 1 ? "purple" : "red" } };
  });
  const result = (await client.callTool({ name: "demo", arguments: { message: "ask" } })) as unknown as Result;
  assert.equal(result.structuredContent?.text, "red");
  assert.equal(questions.length, 2, "it asks until it gets a colour that it knows");
  await client.close();
});

test("who shows no questions gets them as results", async () => {
  for (const capabilities of [{}, URLS]) {
    const asked = await ask(call("demo", { message: "ask" }), capabilities);
    assert.deepEqual([asked?.resultType, asked?.structuredContent?.state, asked?.structuredContent?.question], ["complete", "input_required", "Which colour?"]);
    const { task_id } = asked?.structuredContent ?? {};
    const done = await ask(call("demo", { message: "blue", task_id }), capabilities);
    assert.equal(done?.structuredContent?.text, "blue");
  }
  const login = await ask(call("login", { message: "x" }), { elicitation: { form: {}, url: {} } });
  assert.equal(login?.structuredContent?.state, "auth_required", "an authorization without a URL cannot be shown");
});
