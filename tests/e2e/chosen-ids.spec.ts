// Tasks whose ids their clients have chosen, as `tasks/send` of A2A 0.1 has them.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { settled, startCounting, type Counts } from "../../bench/counted.ts";
import type { Worker } from "../../bench/workers.ts";
import { Agent } from "./client.ts";
import { testAgents } from "./harness.ts";
import { agentsOf, SECRETS } from "./isolation.ts";

const COUNTED = ["objectRequests", "alarmsSet", "objectRowsWritten", "statements", "rowsWritten"] as const;

let worker: Worker;
let alice: Agent;

before(async () => {
  worker = await startCounting({ ...SECRETS, AGENTS: withLegacy(agentsOf(testAgents)) });
  alice = new Agent(`${worker.url}/guarded`, { "x-api-key": SECRETS.KEY_ALICE });
});
after(() => worker.stop());

/** The same agents, of which all but `other` and `demo` speak the oldest dialect. */
function withLegacy(agents: string): string {
  const embedded = JSON.parse(agents) as { agents: { slug: string }[] };
  const speaks = (slug: string): boolean => slug !== "other" && slug !== "demo";
  return JSON.stringify({ ...embedded, agents: embedded.agents.map((agent) => ({ ...agent, dialects: { legacy: { enabled: speaks(agent.slug) } } })) });
}

async function cost(ask: () => Promise<unknown>): Promise<Partial<Counts>> {
  const before = await settled(worker);
  await ask();
  const after = await settled(worker);
  return Object.fromEntries(COUNTED.map((name) => [name, after[name] - before[name]]));
}

const NOTHING = { alarmsSet: 0, objectRowsWritten: 0, statements: 0, rowsWritten: 0 };

describe("an id of which there is no task (§3.3.2)", () => {
  const unknown = async (agent: Agent, id: string): Promise<void> => {
    for (const [method, params] of [
      ["GetTask", { id }],
      ["CancelTask", { id }],
      ["ListTaskPushNotificationConfigs", { taskId: id }],
      ["SendMessage", { message: { messageId: "m", role: "ROLE_USER", taskId: id, parts: [{ text: "go on" }] } }],
    ] as const) {
      const refused = agent.call(method, params);
      await assert.rejects(refused, ({ code, taskId }: { code: number; taskId: string }) => code === -32001 && taskId === id);
    }
  };

  test("wakes one object with each request, and writes nothing", async () => {
    assert.deepEqual(await cost(() => unknown(alice, "no such task")), { ...NOTHING, objectRequests: 4 });
  });

  test("wakes none where the agent does not speak the oldest dialect", async () => {
    const other = new Agent(`${worker.url}/other`, { "x-api-key": SECRETS.KEY_ALICE });
    assert.deepEqual(await cost(() => unknown(other, "no such task")), { ...NOTHING, objectRequests: 0 });
  });

  test("wakes none if it is longer than any that can be chosen", async () => {
    assert.deepEqual(await cost(() => unknown(alice, "i".repeat(257))), { ...NOTHING, objectRequests: 0 });
  });

  test("is looked for by an operator who names the owner", async () => {
    const ops = (actAs: string) => new Agent(`${worker.url}/guarded`, { "x-api-key": SECRETS.KEY_OPS, "act-as": actAs });
    await assert.rejects(ops("operator").getTask("mine"), /Act-As must name the owner/);
    await assert.rejects(ops("operator; owner=@key:blue").getTask("mine"), ({ code }: { code: number }) => code === -32001);
    await assert.rejects(ops("operator; owner=@key:blue").getTask("0".repeat(64)), /Act-As takes an owner/);
  });
});
