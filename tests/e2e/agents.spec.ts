// The embedded agents of any build, the sources of skills, and the reports about agents that cannot be read or cannot run.
import assert from "node:assert/strict";
import { describe, test, type TestContext } from "node:test";
import { startWorker, testAgents, type Worker } from "./harness.ts";
import { logged } from "./client.ts";

const CARD = "/.well-known/agent-card.json";

async function workerWith(t: TestContext, vars: Record<string, string>): Promise<Worker> {
  const worker = await startWorker({ vars });
  t.after(() => worker.stop());
  return worker;
}

test("the agents in agents/ are served where no others are given, each with its card and its interfaces (§8.2)", async (t) => {
  const worker = await workerWith(t, { AGENTS: "" });
  const answer = (await (await fetch(`${worker.url}/nowhere/at/all`)).json()) as { error: { message: string } };
  const paths = /agents answer at (.*), their cards/.exec(answer.error.message)?.[1]?.split(", ") ?? [];
  assert.ok(paths.length >= 2 && paths[0] === "/", answer.error.message);
  for (const path of paths) {
    const response = await fetch(worker.url + path.replace(/\/$/, "") + CARD);
    assert.equal(response.status, 200, path);
    const card = (await response.json()) as { name: string; supportedInterfaces: { url: string; protocolBinding: string; protocolVersion: string }[] };
    assert.notEqual(card.name, "", path);
    for (const { url, protocolBinding, protocolVersion } of card.supportedInterfaces) {
      const [method, prefix] = protocolVersion === "1.0" ? ["GetTask", ""] : ["tasks/get", "/v1"];
      const unknown = protocolBinding === "JSONRPC"
        ? await call(url, { jsonrpc: "2.0", id: 1, method, params: { id: "unknown" } }, protocolVersion)
        : await fetch(`${url}${prefix}/tasks/unknown`, { headers: { "a2a-version": protocolVersion } });
      assert.match(await unknown.text(), /TASK_NOT_FOUND|EXTENSION_SUPPORT_REQUIRED/, url);
    }
  }
});

test("skills come from several sources, and the agent's file has the last word (§4.4.5)", async (t) => {
  const worker = await workerWith(t, {});
  const { skills } = (await (await fetch(`${worker.url}/numbers${CARD}`)).json()) as { skills: { id: string }[] };
  assert.deepEqual(skills.map(({ id }) => id), ["add_numbers", "is_admin", "unit-conversion"]);
  assert.deepEqual(skills[2], {
    id: "unit-conversion",
    name: "Unit Conversion",
    description: "Converts between units of measurement. Use it when amounts are in different units.",
    tags: ["units", "conversion"],
    examples: ["How many feet are 5 m?"],
  });
});

describe("agents that cannot be read", () => {
  const embedded = JSON.parse(testAgents) as { agents: { slug: string; executor: object }[] };
  const [first, ...others] = embedded.agents;
  assert.ok(first);
  for (const [what, agents, cause] of [
    ["that are not JSON", testAgents.slice(1), /cannot be read/],
    ["that lack a member", JSON.stringify({ ...embedded, agents: [{ ...first, slug: undefined }, ...others] }), /cannot be read: agents\[0\]\.slug: is required/],
  ] as const) {
    test(`${what} are told as such by every path, and the log has the cause (§3.3.2)`, async (t) => {
      const worker = await workerWith(t, { AGENTS: agents });
      const json = { jsonrpc: "2.0", id: 1, method: "GetTask", params: { id: "unknown" } };
      for (const response of [
        await fetch(worker.url + CARD),
        await fetch(`${worker.url}/demo${CARD}`),
        await call(worker.url, json),
        await fetch(`${worker.url}/demo/tasks/unknown`, { headers: { "a2a-version": "1.0" } }),
      ]) {
        assert.equal(response.status, 500, response.url);
        const { error } = (await response.json()) as { error: { message: string } };
        assert.equal(error.message, "the agents of this build cannot be read; the log says why");
      }
      await logged(worker, cause, "error");
    });
  }
});

describe("an agent that cannot run", () => {
  const embedded = JSON.parse(testAgents) as { agents: { slug: string; executor: object }[] };
  const withExecutor = (kind: string, table: object) => {
    const agents = embedded.agents.map((agent) => (agent.slug === "assistant" ? { ...agent, executor: { kind, table, run: {} } } : agent));
    return JSON.stringify({ ...embedded, agents });
  };
  for (const [what, agents, cause] of [
    ["is of a kind that is not known", withExecutor("oracle", {}), /assistant: there is no kind of executor "oracle"; there are: tools, script/],
    ["names a tool that is not there", withExecutor("tools", { names: ["x"] }), /assistant: `executor\.tools\.names\[0\]` there is no tool "x"; there are: /],
  ] as const) {
    test(`and ${what} refuses messages alone, and the log has the cause (§3.3.2)`, async (t) => {
      const worker = await workerWith(t, { AGENTS: agents });
      const message = { messageId: crypto.randomUUID(), role: "ROLE_USER", parts: [{ text: "hello" }] };
      for (const method of ["SendMessage", "SendStreamingMessage"]) {
        const refused = await call(`${worker.url}/assistant`, { jsonrpc: "2.0", id: 1, method, params: { message } });
        assert.match(await refused.text(), /-32603.*the agent assistant is not set up correctly; the log says why/);
      }
      const rest = await fetch(`${worker.url}/assistant/message:send`, {
        method: "POST", headers: { "content-type": "application/json", "a2a-version": "1.0" }, body: JSON.stringify({ message }),
      });
      assert.equal(rest.status, 500);
      await logged(worker, cause, "error");

      assert.equal((await fetch(`${worker.url}/assistant${CARD}`)).status, 200);
      const listed = await call(`${worker.url}/assistant`, { jsonrpc: "2.0", id: 1, method: "ListTasks", params: {} });
      assert.match(await listed.text(), /"tasks":\[\]/, "its tasks can be asked for, and nothing was left behind");
      const answered = await call(`${worker.url}/demo`, { jsonrpc: "2.0", id: 1, method: "SendMessage", params: { message } });
      assert.match(await answered.text(), /TASK_STATE_COMPLETED/, "the other agents answer");
    });
  }
});

function call(url: string, body: object, version = "1.0"): Promise<Response> {
  const headers = { "content-type": "application/json", "a2a-version": version };
  return fetch(url, { method: "POST", headers, body: JSON.stringify(body) });
}
