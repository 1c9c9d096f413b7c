// Functions in TypeScript that fail: each fails its own task alone, and callers read nothing that was not written for them.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { logged, textOf, until, untilEnded, type Agent } from "./client.ts";
import { agentAt, startFunctions } from "./functions.ts";
import type { Worker } from "./harness.ts";

let worker: Worker;
let faults: Agent;
before(async () => {
  // A deployment, not development: callers get safe sentences.
  worker = await startFunctions({ vars: { DEVELOPMENT: "", LOCK_KEY: "the-key-of-the-lock" } });
  faults = agentAt(worker, "faults");
});
after(() => worker.stop());

const SAFE = /^the agent failed; its operator finds the reason in the log/;

describe("errors that are not written for callers", () => {
  for (const [fault, inLog] of [
    ["error", /cannot connect to postgres.*at (?:Object\.)?execute/s],
    ["text", /a thrown text/],
    ["undefined", /undefined/],
    ["map", /Map/],
    ["cycle", /cycle|circular|refers to itself/i],
    ["unawaited", /nobody awaits this/],
    ["open", /"slow"/],
  ] as const) {
    test(`${fault}: fail the task with a safe sentence, and the log has the reason`, async () => {
      const task = await untilEnded(faults, (await faults.sendForTask(fault)).id);
      assert.equal(task.status.state, "TASK_STATE_FAILED");
      assert.match(textOf(task.status.message), SAFE);
      assert.doesNotMatch(JSON.stringify(task), /s3cr3t/);
      const line = await logged(worker, new RegExp(`${task.id}.*faults failed`, "s"));
      assert.match(line, inLog);
    });
  }

  test("a failure is told as it is", async () => {
    const task = await faults.sendForTask("failure");
    assert.equal(textOf(task.status.message), "the hall is full");
  });

  test("a result beyond the limits fails its task with the limit", async () => {
    const task = await untilEnded(faults, (await faults.sendForTask("large")).id);
    assert.equal(task.status.state, "TASK_STATE_FAILED");
    await logged(worker, /an event of \d+ bytes; the limit is \d+/);
  });

  test("other tasks go on, and the project does not see the bindings of the engine", async () => {
    const task = await faults.sendForTask("env");
    assert.deepEqual(task.artifacts?.[0]?.parts[0]?.data, ["LOCK_KEY"]);
    assert.equal((await agentAt(worker, "tables").sendForTask("2")).status.state, "TASK_STATE_COMPLETED");
  });
});

describe("runs that are over", () => {
  const noted = async (): Promise<string[]> => (await untilEnded(faults, (await faults.sendForTask("lates")).id)).artifacts?.[0]?.parts[0]?.data as string[];

  test("refuse a late call", async () => {
    const { id } = await faults.sendForTask("late");
    await until(noted, (all) => all.includes(`${id} over`));
  });

  test("a cancel rejects what is pending; catch, finally and onCancel run (§3.1.5)", async () => {
    const { id } = await faults.sendForTask("wait", { returnImmediately: true });
    await faults.cancelTask(id);
    const all = await until(noted, (found) => found.filter((line) => line.startsWith(id)).length === 3);
    assert.deepEqual(all.filter((line) => line.startsWith(id)).sort(), [`${id} caught canceled`, `${id} finally`, `${id} released`]);
    assert.equal((await faults.getTask(id)).status.state, "TASK_STATE_CANCELED");
  });

  test("a cancel of a parked run calls onCancel", async () => {
    const { id } = await faults.sendForTask("park", { returnImmediately: true });
    await until(() => faults.getTask(id), ({ status }) => status.state === "TASK_STATE_WORKING");
    await faults.cancelTask(id);
    await until(noted, (found) => found.includes(`${id} released`));
  });
});
