// The calls and the results of tools in Rust: the agent `probes`. tests/e2e/tools.spec.ts tests the properties of all
// tools.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { bearer, caller, fresh } from "../e2e/access.ts";
import { Agent, textOf, toolCall } from "../e2e/client.ts";
import { startWorker, type Worker } from "../e2e/harness.ts";
import { only } from "../e2e/mcp.ts";

const ALICE = fresh();

let worker: Worker;
let agent: Agent;
before(async () => {
  const token = { kind: "bearer", callers: [caller("alice", ["ALICE"], { permissions: ["read", "write"] })] };
  const agents = only({ probes: { of: "probes" }, guarded: { of: "probes", access: { schemes: { token } } } });
  worker = await startWorker({ vars: { AGENTS: agents, ALICE } });
  agent = new Agent(`${worker.url}/probes`);
});
after(() => worker.stop());

test("a call knows when it is made and by whom (§4.1.7)", async () => {
  for (const [asked, told] of [
    [agent, ["anonymous", "[]"]],
    [new Agent(`${worker.url}/guarded`, bearer(ALICE)), ["token:alice", "[read,", "write]"]],
  ] as const) {
    const before = Date.now();
    const task = await asked.sendForTask(toolCall("probe_call"));
    const [now, ...caller] = textOf(task.artifacts?.[0]).split(" ");
    assert.deepEqual(caller, told);
    // The clock of a Worker does not advance during a computation, so it may be a little late.
    assert.ok(Math.abs(Date.parse(now ?? "") - before) < 60_000, now);
  }
});

test("a call gives parts of every kind, with their names and media types (§4.1.6)", async () => {
  const task = await agent.sendForTask(toolCall("probe_parts"));
  assert.deepEqual(task.artifacts?.[0]?.parts, [
    { text: "text" },
    { data: { a: [1] } },
    { raw: "AP8=", filename: "two.bytes", mediaType: "application/octet-stream" },
    { url: "https://example.com/a", mediaType: "text/html" },
  ]);
});

describe("a call that fails", () => {
  for (const [fault, reason] of [
    ["arguments", "probe_parts was called with wrong arguments: as told"],
    ["tool", "probe_parts failed: as told"],
    ["upstream", "probe_parts failed because of something that it called: as told"],
  ] as const) {
    test(`by the fault ${fault} leaves an artifact that says so (§4.1.7)`, async () => {
      const task = await agent.sendForTask(toolCall("probe_parts", { fault }));
      assert.equal(task.status.state, "TASK_STATE_FAILED");
      assert.equal(textOf(task.status.message), reason);
      assert.deepEqual(task.artifacts, [
        { artifactId: "probe_parts-result", name: "probe_parts-result", parts: [{ text: "as told" }], metadata: { isError: true, fault } },
      ]);
    });
  }
});
