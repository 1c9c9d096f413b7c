// The schemas of an agent's skills, for forms of the console: `GET /console/api/agents/<slug>/schemas`.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { caller, secretsOf } from "./access.ts";
import { startWorker, testAgents, type Worker } from "./harness.ts";

const { ALICE } = secretsOf("ALICE");

let worker: Worker;
before(async () => {
  const built = JSON.parse(testAgents) as { agents: { slug: string; access: object }[] };
  const assistant = built.agents.find(({ slug }) => slug === "assistant");
  const guarded = { ...assistant, slug: "guarded", default: false, access: { schemes: { token: { kind: "bearer", callers: [caller("alice", ["ALICE"])] } } } };
  worker = await startWorker({ vars: { AGENTS: JSON.stringify({ ...built, agents: [...built.agents, guarded] }), ALICE } });
});
after(() => worker?.stop());

const ask = (slug: string, init: RequestInit = {}): Promise<Response> => fetch(`${worker.url}/console/api/agents/${slug}/schemas`, init);

test("an agent tells the schemas of the tools that are its skills", async () => {
  const response = await ask("assistant");
  assert.equal(response.status, 200);
  assert.equal(response.headers.get("cache-control"), "no-store");
  const { skills } = (await response.json()) as { skills: Record<string, { type: string; properties: Record<string, object>; required: string[] }> };
  assert.equal(skills["add_numbers"]?.type, "object");
  assert.deepEqual(skills["add_numbers"]?.required, ["a", "b"]);
});

test("an agent without tools has none", async () => {
  assert.deepEqual(await (await ask("demo")).json(), { skills: {} });
});

test("whom the agent does not let in gets no schemas", async () => {
  const refused = await ask("guarded");
  assert.equal(refused.status, 401);
  assert.match(refused.headers.get("www-authenticate") ?? "", /Bearer/);
  assert.equal((await ask("guarded", { headers: { authorization: "Bearer wrong" } })).status, 401);
  const { skills } = (await (await ask("guarded", { headers: { authorization: `Bearer ${ALICE}` } })).json()) as { skills: object };
  assert.ok("add_numbers" in skills);
});

test("an unknown agent has nothing, and nothing is sent there", async () => {
  assert.equal((await ask("nobody")).status, 404);
  assert.equal((await ask("assistant", { method: "POST" })).status, 405);
});
