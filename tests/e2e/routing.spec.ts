// Which path and which tenant lead to which agent (spec §3.2, §9.1).
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Agent, message, type Task } from "./client.ts";
import { startWorker, type Worker } from "./harness.ts";

let worker: Worker;
before(async () => {
  worker = await startWorker();
});
after(() => worker.stop());

const ARTIFACTS = { assistant: "probe_text-result", demo: "echo" };

for (const [path, agent] of [
  ["", "assistant"],
  ["/", "assistant"],
  ["/assistant", "assistant"],
  ["/assistant/", "assistant"],
  ["/demo", "demo"],
  ["/demo/", "demo"],
  ["/demo?a=b", "demo"],
] as const) {
  test(`POST ${path || "to the origin"} is answered by ${agent} (§9.1)`, async () => {
    const task = await new Agent(worker.url + path).sendForTask("hello");
    assert.equal(task.artifacts?.[0]?.artifactId, ARTIFACTS[agent]);
  });
}

for (const [path, tenant, agent] of [
  ["/", "demo", "demo"],
  ["/", "assistant", "assistant"],
  ["/", "", "assistant"],
  ["/demo", "demo", "demo"],
  ["/demo", "", "demo"],
] as const) {
  test(`at ${path} the tenant "${tenant}" is ${agent} (§3.2.1)`, async () => {
    const endpoint = new Agent(worker.url + path);
    const { task } = await endpoint.call<{ task: Task }>("SendMessage", { tenant, message: message("hello") });
    assert.equal(task.artifacts?.[0]?.artifactId, ARTIFACTS[agent]);
    assert.deepEqual(await endpoint.call<Task>("GetTask", { tenant, id: task.id }), task);
  });
}

for (const [path, tenant] of [["/", "nobody"], ["/demo", "assistant"], ["/demo", "nobody"]] as const) {
  test(`at ${path} the tenant "${tenant}" is refused (§3.2.1)`, async () => {
    const endpoint = new Agent(worker.url + path);
    const refused = { code: -32602, reason: "INVALID_PARAMS", fields: ["tenant"] };
    await assert.rejects(endpoint.call("SendMessage", { tenant, message: message("hello") }), refused);
    const { id } = await endpoint.sendForTask("hello");
    await assert.rejects(endpoint.call("GetTask", { tenant, id }), refused);
    await assert.rejects(endpoint.call("CancelTask", { tenant, id }), refused);
  });
}

test("a task is found at every path of its agent and through no other agent (§3.1.3)", async () => {
  const task = await new Agent(`${worker.url}/assistant`).sendForTask("hello");
  assert.deepEqual(await new Agent(worker.url).getTask(task.id), task);
  const other = new Agent(`${worker.url}/demo`);
  await assert.rejects(other.getTask(task.id), { code: -32001, reason: "TASK_NOT_FOUND" });
  await assert.rejects(other.cancelTask(task.id), { code: -32001, reason: "TASK_NOT_FOUND" });
});
