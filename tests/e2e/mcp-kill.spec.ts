// Calls of MCP tools by a Worker whose process is killed at the important points, while the server continues.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { fresh } from "./access.ts";
import { Agent, followUp, textOf, toolCall, until, untilEnded, type Task } from "./client.ts";
import { startWorker, type Worker } from "./harness.ts";
import { startEverything, type McpPeer } from "./mcp-servers.ts";
import { Modern } from "./mcp-tool-servers.ts";
import { Relay } from "./relay.ts";

let everything: McpPeer, modern: Modern, relay: Relay, worker: Worker, workshop: Agent;

before(async () => {
  [everything, modern] = await Promise.all([startEverything(), Modern.start()]);
  relay = await Relay.open(() => modern.url);
  const vars = { MODERN_URL: relay.url, MODERN_TOKEN: fresh(), EVERYTHING_URL: new URL(everything.url).origin, KEEP_ALIVE_MS: "1000" };
  worker = await startWorker({ vars });
  workshop = new Agent(`${worker.url}/workshop`);
});
after(async () => {
  await worker?.stop();
  relay?.close();
  await everything?.stop();
  modern?.stop();
});

async function killAndRestart(): Promise<void> {
  await worker.kill9();
  await worker.restart();
}

const begin = (tool: string, given: object = {}): Promise<Task> => workshop.sendForTask(toolCall(tool, given), { returnImmediately: true });
const UNKNOWN = /the agent was interrupted while it called .*; it is not known whether the MCP server modern has carried it out/;

describe("a Worker that is killed", () => {
  test("before a call is sent or behind it calls again what only reads", async () => {
    for (const at of ["request", "answer"] as const) {
      const stopped = relay.stop("tools/call", at);
      const { id } = await begin("add", { a: 2, b: 3 });
      await stopped;
      await killAndRestart();
      const task = await untilEnded(workshop, id);
      assert.deepEqual(task.artifacts?.map(({ parts }) => parts), [[{ data: { sum: 5 } }]]);
    }
  });

  test("before a call is sent or behind it does not call again what may change something", async () => {
    for (const [at, calls] of [["request", 0], ["answer", 1]] as const) {
      const before = modern.count("fail");
      const stopped = relay.stop("tools/call", at);
      const { id } = await begin("fail");
      await stopped;
      await killAndRestart();
      const task = await untilEnded(workshop, id);
      assert.equal(task.status.state, "TASK_STATE_FAILED");
      assert.match(textOf(task.status.message), UNKNOWN);
      assert.equal(modern.count("fail"), before + calls);
    }
  });

  test("in the middle of a call repeats one that may be repeated, and no other", async () => {
    for (const [tool, state] of [["careful", "TASK_STATE_COMPLETED"], ["sleep", "TASK_STATE_FAILED"]] as const) {
      const before = modern.count(tool);
      const { id } = await begin(tool);
      await until(() => workshop.getTask(id), (task) => textOf(task.status.message) === "asleep");
      await killAndRestart();
      if (tool === "careful") await until(async () => modern.count(tool), (count) => count === before + 2);
      modern.wake();
      assert.equal((await untilEnded(workshop, id)).status.state, state);
    }
    assert.equal(modern.count("sleep"), 1);
  });

  test("while its client is asked takes the answer to the server", async () => {
    const asked = await workshop.sendForTask(toolCall("ask_seat", { flight: "K1" }));
    assert.equal(asked.status.state, "TASK_STATE_INPUT_REQUIRED");
    await killAndRestart();
    const done = await workshop.sendForTask(followUp(asked, "4A"));
    const { state, answer, given } = JSON.parse(textOf(done.artifacts?.[0])) as Record<string, unknown>;
    assert.deepEqual([state, answer, given], ["state of K1", { action: "accept", content: { seat: "4A" } }, { flight: "K1" }]);
  });

  test("behind the question, before it is shown, does not ask the server again", async () => {
    const before = modern.count("ask_seat");
    const stopped = relay.stop("tools/call", "answer");
    const { id } = await begin("ask_seat", { flight: "K2" });
    await stopped;
    await killAndRestart();
    const task = await untilEnded(workshop, id);
    assert.match(textOf(task.status.message), UNKNOWN);
    assert.equal(modern.count("ask_seat"), before + 1);
  });

  test("behind the answer does not answer twice", async () => {
    const asked = await workshop.sendForTask(toolCall("ask_seat", { flight: "K3" }));
    const before = modern.count("ask_seat");
    const stopped = relay.stop("tools/call", "answer");
    await workshop.sendForTask(followUp(asked, "4A"), { returnImmediately: true });
    await stopped;
    await killAndRestart();
    const task = await untilEnded(workshop, asked.id);
    assert.match(textOf(task.status.message), UNKNOWN);
    assert.equal(modern.count("ask_seat"), before + 1);
  });

  test("while an older server asks on a connection fails when it is answered, and says why", async () => {
    const asked = await workshop.sendForTask(toolCall("trigger-elicitation-request"));
    assert.equal(asked.status.state, "TASK_STATE_INPUT_REQUIRED");
    await killAndRestart();
    assert.equal((await workshop.getTask(asked.id)).status.state, "TASK_STATE_INPUT_REQUIRED");
    const failed = await workshop.sendForTask(followUp(asked, "Ada"));
    assert.equal(failed.status.state, "TASK_STATE_FAILED");
    assert.match(textOf(failed.status.message), /^the MCP server everything had asked on a connection that was lost since/);
  });

  test("goes on with the second of two calls, and lets the first one be", async () => {
    const [added, echoed, careful] = [modern.count("add"), modern.count("echo"), modern.count("careful")];
    const stopped = relay.stop("tools/call", "request");
    const parts = [...toolCall("add", { a: 1, b: 1 }).parts, ...toolCall("careful").parts];
    await killAndRestart();
    const { id } = await workshop.sendForTask({ parts }, { returnImmediately: true });
    await stopped;
    await killAndRestart();
    await until(() => workshop.getTask(id), (task) => textOf(task.status.message) === "asleep");
    await killAndRestart();
    await until(async () => modern.count("careful"), (count) => count >= careful + 2);
    modern.wake();
    const task = await untilEnded(workshop, id);
    assert.equal(task.status.state, "TASK_STATE_COMPLETED");
    assert.deepEqual([modern.count("add") - added, modern.count("echo") - echoed], [1, 0]);
  });
});
