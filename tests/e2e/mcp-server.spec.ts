// MCP hosts use the agents as tools, in both eras at one URL (MCP 2026-07-28 and 2025-11-25).
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, before, test } from "node:test";
import { Client as OldClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as OldTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { Agent } from "./client.ts";
import { startWorker, type Worker } from "./harness.ts";
import { connect, legacy, modern, only, post, type Result } from "./mcp.ts";

/** The tools that are not agents, in development. */
const OWN = ["get_task", "cancel_task", "delete_task", "discover_agent", "invoke_remote_agent"];

interface Schema {
  properties: Record<string, { type?: string }>;
  required: string[];
}

let worker: Worker;
let url: string;
before(async () => {
  const agents = only({ demo: { of: "demo" }, double: { of: "double" }, asking: { of: "asking" }, hidden: { of: "double", mcp: { tools: "none" } },
    long: { of: "double", executor: { kind: "script", table: { rules: [{ then: [{ do: "working" }, { do: "wait", ms: 600_000 }] }] }, run: {} } },
    tools: { of: "asking", mcp: { tools: "skills" } },
    skilled: { of: "double", mcp: { tools: "skills" } }, [`long-${"x".repeat(58)}`]: { of: "double" } });
  worker = await startWorker({ vars: { AGENTS: agents, MCP_WAIT_MS: "5000" } });
  url = `${worker.url}/mcp`;
});
after(() => worker.stop());

const names = async (of: string): Promise<string[]> => {
  const { body } = await legacy(of, "tools/list");
  return (body.result as unknown as { tools: { name: string }[] }).tools.map(({ name }) => name);
};

for (const mode of ["legacy", "auto"] as const) {
  test(`the newest SDK lists and calls agents (${mode})`, async () => {
    const client = await connect(url, mode);
    assert.equal(client.getServerVersion()?.name, "a2a-edge");
    assert.match(client.getInstructions() ?? "", /get_task/);
    const { tools } = await client.listTools();
    const tool = tools.find(({ name }) => name === "double");
    assert.equal(tool?.title, "Double");
    assert.match(tool?.description ?? "", /Skills:\n- Echo: Gives back the text/);
    const result = (await client.callTool({ name: "double", arguments: { message: "hello" } })) as unknown as Result;
    assert.deepEqual(result.content, [{ type: "text", text: "hello" }]);
    const { state, text, task_id } = result.structuredContent ?? {};
    assert.deepEqual([state, text], ["completed", "hello"]);
    const task = await new Agent(`${worker.url}/double`).getTask(task_id ?? "");
    assert.equal(task.status.state, "TASK_STATE_COMPLETED", "it is a task of A2A, too");
    await assert.rejects(client.callTool({ name: "nobody", arguments: {} }), /there is no tool nobody/);
    await client.close();
  });
}

test("the SDK of the first generation lists and calls agents", async () => {
  const client = new OldClient({ name: "spec", version: "1.0.0" });
  await client.connect(new OldTransport(new URL(url)) as never);
  await client.ping();
  const { tools } = await client.listTools();
  assert.ok(tools.some(({ name }) => name === "demo"));
  const result = (await client.callTool({ name: "double", arguments: { message: "hello" } })) as unknown as Result;
  assert.equal(result.structuredContent?.text, "hello");
  await client.close();
});

test("each agent is a tool, or its skills are, or nothing", async () => {
  const all = await names(url);
  assert.deepEqual(all.filter((name) => !name.startsWith("long-")), ["demo", "double", "asking", "long", "tools_add_numbers", "tools_order", "skilled_echo", ...OWN]);
  const long = all.find((name) => name.startsWith("long-"));
  assert.equal(long?.length, 48);
  assert.equal((await legacy(url, "tools/call", { name: long, arguments: { message: "x" } })).body.result?.structuredContent?.text, "x");
  assert.deepEqual(await names(`${worker.url}/double/mcp`), ["double", ...OWN]);
  assert.deepEqual(await names(`${worker.url}/skilled/mcp`), ["echo", ...OWN]);
  assert.equal((await legacy(`${worker.url}/hidden/mcp`, "tools/list")).status, 404);
  assert.equal((await legacy(`${worker.url}/nobody/mcp`, "tools/list")).status, 404);
  const { body } = await legacy(`${worker.url}/skilled/mcp`, "tools/call", { name: "echo", arguments: { message: "hi" } });
  assert.equal(body.result?.structuredContent?.text, "hi");
  const sum = (await legacy(`${worker.url}/tools/mcp`, "tools/call", { name: "add_numbers", arguments: { a: 2, b: 3 } })).body.result;
  assert.deepEqual([sum?.structuredContent?.state, sum?.structuredContent?.text], ["completed", "5"], "a skill is called by its own arguments");
  const listed = (await legacy(`${worker.url}/tools/mcp`, "tools/list")).body.result as unknown as { tools: { name: string; inputSchema: Schema; outputSchema?: Schema }[] };
  const [shown, , look] = listed.tools;
  assert.deepEqual(Object.keys(shown?.inputSchema.properties ?? {}), ["a", "b", "message", "data", "task_id", "context_id", "message_id"]);
  assert.deepEqual([shown?.inputSchema.required, shown?.inputSchema.properties["a"]?.type], [["a", "b"], "number"], "the schema is that of the tool");
  assert.deepEqual([look?.name, look?.outputSchema?.required], ["get_task", ["state", "text"]]);
  const elsewhere = await legacy(`${worker.url}/double/mcp`, "tools/call", { name: "demo", arguments: { message: "x" } });
  assert.equal(elsewhere.body.error?.code, -32602, "the server of one agent has no tool of another one");
});

test("answers have the form of their era", async () => {
  const old = (await legacy(url, "tools/list")).body.result;
  assert.deepEqual(Object.keys(old ?? {}), ["tools"]);
  const { body } = await modern(url, "tools/list");
  assert.deepEqual([body.result?.resultType, body.result?.["cacheScope"], typeof body.result?.["ttlMs"]], ["complete", "public", "number"]);
  const discovered = (await modern(url, "server/discover")).body.result;
  assert.deepEqual(discovered?.["supportedVersions"], ["2026-07-28"]);
  for (const [wanted, given] of [["2025-06-18", "2025-06-18"], ["2025-03-26", "2025-03-26"], ["2024-11-05", "2025-11-25"], ["2026-07-28", "2025-11-25"]]) {
    const { body, headers } = await legacy(url, "initialize", { protocolVersion: wanted, capabilities: {}, clientInfo: { name: "x", version: "1" } });
    assert.equal(body.result?.["protocolVersion"], given);
    assert.equal(headers.get("mcp-session-id"), null, "there are no sessions");
  }
});

test("what is no request is refused", async () => {
  for (const [body, status, code] of [
    ["{", 400, -32700],
    ["[]", 400, -32600],
    [{ jsonrpc: "2.0", id: null, method: "ping" }, 400, -32600],
    [{ jsonrpc: "2.0", id: 1, result: {} }, 400, -32600],
    [{ jsonrpc: "2.0", id: 1, method: "prompts/list" }, 200, -32601],
    [{ jsonrpc: "2.0", id: 1, method: "tools/list", params: { cursor: "x" } }, 200, -32602],
    [{ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "nobody" } }, 200, -32602],
  ] as const) {
    const answer = await post(url, body);
    assert.deepEqual([answer.status, answer.body.error?.code], [status, code], answer.text);
  }
  for (const [method, headers, code, status] of [
    ["tools/list", { "mcp-method": "tools/call" }, -32020, 400],
    ["tools/list", { "mcp-protocol-version": "2025-11-25" }, -32020, 400],
    ["prompts/list", {}, -32601, 404],
    ["initialize", {}, -32601, 404],
  ] as const) {
    const answer = await modern(url, method, {}, headers);
    assert.deepEqual([answer.status, answer.body.error?.code, answer.body.id], [status, code, 1], answer.text);
  }
  const newer = await modern(url, "tools/list", { _meta: { "io.modelcontextprotocol/protocolVersion": "2027-01-01" } }, { "mcp-protocol-version": "2027-01-01" });
  assert.deepEqual(newer.body.error?.data, { supported: ["2026-07-28"], requested: "2027-01-01" });
  assert.equal((await legacy(url, "ping", {}, { "mcp-protocol-version": "1999-01-01" })).status, 400);
  assert.equal((await legacy(url, "ping", {}, { "content-type": "text/plain" })).status, 415);
  assert.equal((await post(url, { jsonrpc: "2.0", method: "notifications/initialized" })).status, 202);
  for (const method of ["GET", "DELETE", "PUT"]) {
    const answer = await fetch(url, { method });
    assert.deepEqual([answer.status, answer.headers.get("allow")], [405, "POST, OPTIONS"], method);
  }
  assert.equal((await fetch(url, { method: "OPTIONS" })).status, 204);
});

test("what a tool cannot do is its result", async () => {
  for (const [name, args, told] of [
    ["double", {}, /the argument message must be a text/],
    ["double", { message: 5 }, /the argument message must be a text/],
    ["double", { prompt: "x" }, /there is no argument prompt; there are: message,/],
    ["double", { message: "x", task_id: "0".repeat(64) }, /task/],
    ["get_task", {}, /the argument task_id must be a text/],
    ["get_task", { task_id: "0".repeat(64) }, /there is no task 0+ for this caller/],
    ["cancel_task", { task_id: "nothing" }, /there is no task nothing for this caller/],
    ["delete_task", {}, /the argument task_id must be a text/],
    ["delete_task", { task_id: "nothing" }, /there is no task nothing for this caller/],
    ["delete_task", { task_id: "nothing", force: "yes" }, /the argument force must be true or false/],
  ] as const) {
    const { body } = await legacy(url, "tools/call", { name, arguments: args });
    assert.equal(body.result?.isError, true, JSON.stringify(body));
    assert.match(body.result?.content[0]?.text ?? "", told);
  }
});

test("a question is a result that is answered by another call, and a message id is known again", async () => {
  const asked = (await legacy(url, "tools/call", { name: "asking", arguments: { data: { tool: "add_numbers", arguments: { a: 2 } } } })).body.result;
  assert.equal(asked?.structuredContent?.state, "input_required");
  const { task_id, question } = asked?.structuredContent ?? {};
  assert.match(question ?? "", /add_numbers needs b/);
  assert.match(asked?.content[0]?.text ?? "", new RegExp(`with task_id ${task_id}`));
  const message_id = randomUUID();
  const answer = { name: "asking", arguments: { task_id, data: { b: 3 }, message_id } };
  const done = (await legacy(url, "tools/call", answer)).body.result;
  assert.deepEqual([done?.structuredContent?.state, done?.structuredContent?.task_id], ["completed", task_id]);
  const looked = (await legacy(url, "tools/call", { name: "get_task", arguments: { task_id, agent: "asking" } })).body.result;
  assert.deepEqual(looked?.structuredContent, done?.structuredContent);
  const again = (await legacy(url, "tools/call", { name: "double", arguments: { message: "once", message_id } })).body.result;
  const twice = (await legacy(url, "tools/call", { name: "double", arguments: { message: "once", message_id } })).body.result;
  assert.equal(again?.structuredContent?.task_id, twice?.structuredContent?.task_id);
});

const use = async (name: string, args: object): Promise<Result | undefined> => (await legacy(url, "tools/call", { name, arguments: args })).body.result;

test("a call that takes long is answered before its client gives up", async () => {
  const result = await use("long", { message: "x" });
  const { state, task_id } = result?.structuredContent ?? {};
  assert.equal(state, "working");
  assert.match(result?.content[0]?.text ?? "", new RegExp(`get_task with task_id ${task_id} and agent long`));
  assert.equal((await use("get_task", { task_id }))?.structuredContent?.state, "working");
  assert.equal((await use("cancel_task", { task_id, agent: "long" }))?.structuredContent?.state, "canceled");
  assert.equal((await use("get_task", { task_id }))?.structuredContent?.state, "canceled");
});

test("a task is deleted, also one that is not done, and is not there any more", async () => {
  const { task_id } = (await use("long", { message: "x" }))?.structuredContent ?? {};
  const refused = await use("delete_task", { task_id });
  assert.deepEqual([refused?.isError, /delete it with force/.test(refused?.content[0]?.text ?? "")], [true, true]);
  const deleted = await use("delete_task", { task_id, agent: "long", force: true });
  assert.deepEqual([deleted?.isError ?? false, deleted?.content[0]?.text], [false, `The task ${task_id} is deleted.`]);
  for (const tool of ["get_task", "cancel_task", "delete_task"]) {
    assert.equal((await use(tool, { task_id }))?.content[0]?.text, `there is no task ${task_id} for this caller`, tool);
  }
  assert.match((await use("long", { message: "more", task_id }))?.content[0]?.text ?? "", /task not found/);
});
