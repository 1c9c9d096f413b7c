// Panics in each function of an executor in Rust, and other faults of its code: the call ends with an error, and nothing else is disturbed.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { Agent, RpcError, followUp, until, untilEnded } from "../e2e/client.ts";
import { startWorker, type Worker } from "../e2e/harness.ts";
import { only } from "../e2e/mcp.ts";

const PLACES = ["nowhere", "constructor", "caller_limits", "recovery", "ensures_cancel", "cancel", "execute", "stack", "memory"] as const;

type Place = (typeof PLACES)[number];

const slugOf = (place: Place): string => `panics-${place.replaceAll("_", "-")}`;
const agents = only({
  demo: { of: "demo" },
  ...Object.fromEntries(PLACES.map((at) => [slugOf(at), { of: "panics", executor: { kind: "probe_panics", table: { at }, run: {} } }])),
});

let worker: Worker;
before(async () => {
  worker = await startWorker({ vars: { AGENTS: agents, KEEP_ALIVE_MS: "1000" } });
});
after(() => worker.stop());

const agentOf = (place: Place): Agent => new Agent(`${worker.url}/${slugOf(place)}`);
const demo = (): Agent => new Agent(`${worker.url}/demo`);

/** The error of a call. */
const errorOf = (call: Promise<unknown>): Promise<RpcError> =>
  call.then(
    () => assert.fail("the call has succeeded"),
    (error: unknown) => {
      assert.ok(error instanceof RpcError, String(error));
      return error;
    },
  );

/** Makes sure that tasks under way go on while `disturb` works. */
async function undisturbed(disturb: () => Promise<void>): Promise<void> {
  const held = await demo().sendForTask("polls", { returnImmediately: true });
  const waiting = demo().sendForTask("hold 400");
  await disturb();
  assert.equal((await waiting).status.state, "TASK_STATE_COMPLETED");
  assert.equal((await untilEnded(demo(), held.id)).status.state, "TASK_STATE_COMPLETED");
  assert.equal((await demo().sendForTask("hello")).status.state, "TASK_STATE_COMPLETED");
}

describe("a fault of an executor's code ends its call alone", () => {
  test("the probe works where it does not panic", async () => {
    const task = await agentOf("nowhere").sendForTask("hello");
    assert.equal(task.status.state, "TASK_STATE_INPUT_REQUIRED");
    assert.equal((await agentOf("nowhere").cancelTask(task.id)).status.state, "TASK_STATE_CANCELED");
  });

  for (const place of ["execute", "stack", "memory"] as const) {
    test(`in a run: ${place}`, () =>
      undisturbed(async () => {
        for (let time = 0; time < 3; time += 1) {
          const { code, taskId } = await errorOf(agentOf(place).send("hello"));
          assert.equal(code, -32603);
          assert.equal((await agentOf(place).getTask(taskId ?? "")).status.state, "TASK_STATE_FAILED");
        }
      }));
  }

  for (const place of ["constructor", "caller_limits", "recovery"] as const) {
    test(`before a run: ${place}`, () =>
      undisturbed(async () => {
        for (let time = 0; time < 3; time += 1) await assert.rejects(agentOf(place).send("hello"));
      }));
  }

  test("in the hook of a cancel: the task is canceled", () =>
    undisturbed(async () => {
      const { id } = await agentOf("cancel").sendForTask("hello");
      assert.equal((await agentOf("cancel").cancelTask(id)).status.state, "TASK_STATE_CANCELED");
      assert.equal((await agentOf("cancel").getTask(id)).status.state, "TASK_STATE_CANCELED");
    }));

  test("in the object, outside of a run: the object is restarted, and its task is as it was stored", () =>
    undisturbed(async () => {
      const agent = agentOf("ensures_cancel");
      const { id } = await agent.sendForTask("hello");
      await errorOf(agent.cancelTask(id));
      // The cancel may have been stored before the panic.
      const task = await agent.getTask(id);
      assert.match(task.status.state, /INPUT_REQUIRED|CANCELED/);
    }));
});

test("many faults leave the stack and the memory as they were", async () => {
  for (let time = 0; time < 60; time += 1) {
    await errorOf(agentOf(time % 2 === 0 ? "execute" : "stack").send("hello"));
  }
  const asked = await agentOf("nowhere").sendForTask("hello");
  const again = await agentOf("nowhere").sendForTask(followUp(asked, "once more"));
  assert.equal(again.status.state, "TASK_STATE_INPUT_REQUIRED");
  await until(() => demo().sendForTask("hello"), ({ status }) => status.state === "TASK_STATE_COMPLETED");
});
