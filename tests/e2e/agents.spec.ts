// The agents that the build embeds, whatever they are, and how agents that cannot be read are reported.
import assert from "node:assert/strict";
import { describe, test, type TestContext } from "node:test";
import { startWorker, testAgents, type Worker } from "./harness.ts";

const CARD = "/.well-known/agent-card.json";

async function workerWith(t: TestContext, vars: Record<string, string>): Promise<Worker> {
  const worker = await startWorker({ vars });
  t.after(() => worker.stop());
  return worker;
}

test("the agents in agents/ are served where no others are given, each with its card and its interfaces (§8.2)", async (t) => {
  const worker = await workerWith(t, { AGENTS: "", DEVELOPMENT: "false" });
  const answer = (await (await fetch(`${worker.url}/nowhere/at/all`)).json()) as { error: { message: string } };
  const paths = /agents answer at (.*), their cards/.exec(answer.error.message)?.[1]?.split(", ") ?? [];
  assert.ok(paths.length >= 2 && paths[0] === "/", answer.error.message);
  for (const path of paths) {
    const response = await fetch(worker.url + path.replace(/\/$/, "") + CARD);
    assert.equal(response.status, 200, path);
    const card = (await response.json()) as { name: string; supportedInterfaces: { url: string; protocolBinding: string }[] };
    assert.notEqual(card.name, "", path);
    for (const { url, protocolBinding } of card.supportedInterfaces) {
      const unknown = protocolBinding === "JSONRPC"
        ? await call(url, { jsonrpc: "2.0", id: 1, method: "GetTask", params: { id: "unknown" } })
        : await fetch(`${url}/tasks/unknown`, { headers: { "a2a-version": "1.0" } });
      assert.match(await unknown.text(), /TASK_NOT_FOUND|EXTENSION_SUPPORT_REQUIRED/, url);
    }
  }
});

describe("agents that cannot be read", () => {
  const embedded = JSON.parse(testAgents) as { agents: { slug: string; executor: object }[] };
  const [first, ...others] = embedded.agents;
  assert.ok(first);
  const withExecutor = (kind: string, table: object) =>
    JSON.stringify({ ...embedded, agents: [{ ...first, executor: { kind, table, run: {} } }, ...others] });
  for (const [what, agents, cause] of [
    ["of a kind that is not known", withExecutor("oracle", {}), /assistant: there is no kind of executor "oracle"; there are: tools, script, rust/],
    ["with a tool that is not there", withExecutor("tools", { names: ["x"] }), /assistant: there is no tool "x"; there are: /],
    ["with an executor that is not registered", withExecutor("rust", { name: "x" }), /assistant: there is no executor "x"; there are: none/],
    ["that are no JSON", testAgents.slice(1), /cannot be read/],
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
      assert.ok(worker.logs.some(({ level, message }) => level === "error" && cause.test(message)), JSON.stringify(worker.logs));
    });
  }
});

function call(url: string, body: object): Promise<Response> {
  const headers = { "content-type": "application/json", "a2a-version": "1.0" };
  return fetch(url, { method: "POST", headers, body: JSON.stringify(body) });
}
