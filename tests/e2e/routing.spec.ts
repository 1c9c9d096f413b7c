// The agent for each path and tenant (spec §3.2, §9.1).
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { Agent, message, type Task } from "./client.ts";
import { startWorker, type Worker } from "./harness.ts";

let worker: Worker;
before(async () => {
  worker = await startWorker();
});
after(() => worker.stop());

const ARTIFACTS = { assistant: "echo-result", demo: "echo" };

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

describe("a preflight", () => {
  const preflight = (path: string, requested?: string): Promise<Response> => {
    const headers: Record<string, string> = { origin: "https://page.example", "access-control-request-method": "POST" };
    if (requested !== undefined) headers["access-control-request-headers"] = requested;
    return fetch(worker.url + path, { method: "OPTIONS", headers });
  };
  const paths = ["/", "/demo", "/demo/message:send", "/demo/tasks/x:subscribe", "/.well-known/agent-card.json"];

  test("is allowed just the headers that it asks for (§8.2)", async () => {
    for (const path of paths) {
      for (const requested of ["traceparent", "a2a-version,content-type,x-api-key", "x-goog-api-key, tracestate"]) {
        const response = await preflight(path, requested);
        assert.equal(response.status, 204);
        assert.equal(response.headers.get("access-control-allow-headers"), requested, path);
        assert.match(response.headers.get("vary") ?? "", /Access-Control-Request-Headers/i);
        assert.equal(response.headers.get("access-control-allow-origin"), "*");
        assert.ok(Number(response.headers.get("access-control-max-age")) > 0);
      }
    }
  });

  test("that asks for none, or for what are no headers, is told those of the protocol (§8.2)", async () => {
    for (const path of paths) {
      for (const requested of [undefined, "a b", "x;y", "a,,b", "x".repeat(5000)]) {
        const allowed = (await preflight(path, requested)).headers.get("access-control-allow-headers") ?? "";
        assert.ok(allowed.split(", ").includes("A2A-Version"), `${path} ${requested}: ${allowed}`);
      }
    }
  });
});
