// The route of development by which `dev` has tasks go on after a reload of the Worker.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { agentsOf } from "./agent-files.ts";
import { Agent, until } from "./client.ts";
import { startWorker, type Worker } from "./harness.ts";

const DEV_TOKEN = "the-token-of-this-start";

const SLOW = `name = "Slow"
description = "Takes a moment."
version = "1.0.0"

[access]
open = true

[[skills]]
id = "wait"

[executor]
kind = "script"

[[executor.script.rules]]
then = [{ do = "working", text = "begun" }, { do = "wait", ms = 1500 }, { do = "complete", text = "ended" }]
`;

let worker: Worker, slow: Agent;
before(async () => {
  // The alarms of tasks are too late to resume them.
  worker = await startWorker({ vars: { AGENTS: "", DEV_TOKEN, KEEP_ALIVE_MS: "600000" }, agents: agentsOf({ "agents/slow.toml": SLOW }) });
  slow = new Agent(`${worker.url}/slow`);
});
after(() => worker?.stop());

const resume = (token = DEV_TOKEN, method = "POST"): Promise<Response> =>
  fetch(`${worker.url}/_dev/resume`, { method, headers: { authorization: `Bearer ${token}` } });

test("interrupted tasks go on without a request for them", async () => {
  const { id } = await slow.sendForTask("one", { returnImmediately: true });
  const { id: other } = await slow.sendForTask("two", { returnImmediately: true });
  await until(() => slow.listTasks({}), ({ tasks }) => tasks.length === 2);
  await worker.kill9();
  await worker.restart();
  const answer = await resume();
  assert.deepEqual([answer.status, await answer.json()], [200, { tasks: 2 }]);
  // The list is read from the index, so nobody asks the objects of the tasks.
  const ended = await until(() => slow.listTasks({}), ({ tasks }) => tasks.every(({ status }) => status.state === "TASK_STATE_COMPLETED"));
  assert.deepEqual(ended.tasks.map((task) => task.id).sort(), [id, other].sort());
});

test("finished tasks are left alone", async () => {
  await slow.sendForTask("three");
  await until(() => slow.listTasks({}), ({ tasks }) => tasks.every(({ status }) => status.state === "TASK_STATE_COMPLETED"));
  assert.deepEqual(await (await resume()).json(), { tasks: 0 });
});

test("it needs the token of the start, and is a POST", async () => {
  assert.equal((await resume("guessed")).status, 403);
  assert.equal((await fetch(`${worker.url}/_dev/resume`, { method: "POST" })).status, 403);
  assert.equal((await resume(DEV_TOKEN, "GET")).status, 405);
});

test("a deployment does not have it", async () => {
  const deployed = await startWorker({ vars: { DEV_TOKEN, DEVELOPMENT: "false" } });
  try {
    const answer = await fetch(`${deployed.url}/_dev/resume`, { method: "POST", headers: { authorization: `Bearer ${DEV_TOKEN}` } });
    assert.equal(answer.status, 404);
  } finally {
    await deployed.stop();
  }
});
