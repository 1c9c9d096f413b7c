// Both directions of MCP combined: an agent with the tools of an MCP server that is this Worker itself. The depth limit
// ends circles.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { fresh } from "./access.ts";
import { Agent, textOf, toolCall } from "./client.ts";
import { startWorker, type Worker } from "./harness.ts";
import { connect, type Result } from "./mcp.ts";
import { Relay } from "./relay.ts";

let relay: Relay;
let worker: Worker;
before(async () => {
  relay = await Relay.open(() => worker.url);
  worker = await startWorker({ vars: { MODERN_URL: relay.url, MODERN_TOKEN: fresh(), EVERYTHING_URL: "http://127.0.0.1:9" } });
});
after(async () => {
  await worker?.stop();
  relay.close();
});

/** A call of the tool `echo` that first goes around the circle this number of times. */
const around = (turns: number): object =>
  turns === 0 ? { tool: "echo", arguments: { text: "round" } } : { tool: "workshop", arguments: { data: around(turns - 1) } };

test("an agent calls another one of this Worker by MCP, with a question in the middle", async () => {
  const workshop = new Agent(`${worker.url}/workshop`);
  const task = await workshop.sendForTask(toolCall("double", { message: "by MCP" }));
  assert.equal(task.status.state, "TASK_STATE_COMPLETED");
  assert.match(JSON.stringify(task.artifacts), /by MCP/);
  const asked = await workshop.sendForTask(toolCall("demo", { message: "ask" }));
  assert.deepEqual([asked.status.state, textOf(asked.status.message).includes("Which colour?")], ["TASK_STATE_INPUT_REQUIRED", true]);
  const done = await workshop.sendForTask({ taskId: asked.id, contextId: asked.contextId, parts: [{ text: "green" }] });
  assert.equal(done.status.state, "TASK_STATE_COMPLETED");
  assert.match(JSON.stringify(done.artifacts), /green/);
});

test("a host of MCP drives an agent that is a client of MCP, and a circle of both is refused by its depth", async () => {
  const client = await connect(`${worker.url}/mcp`, "auto");
  const go = async (turns: number): Promise<Result> => (await client.callTool({ name: "workshop", arguments: { data: around(turns) } })) as unknown as Result;
  const short = await go(2);
  assert.equal(short.isError, undefined, JSON.stringify(short.content));
  assert.match(JSON.stringify(short.content), /round/);
  const begun = relay.count("tools/call");
  const long = await go(12);
  assert.equal(long.isError, true);
  assert.match(JSON.stringify(long.content), /8 deep|at most 8/);
  assert.ok(relay.count("tools/call") - begun <= 9, "the circle has ended");
  await client.close();
});
