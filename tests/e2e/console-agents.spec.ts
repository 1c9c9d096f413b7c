// The list of agents for the console: `GET /console/api/agents`, and other paths below /console.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { caller, secretsOf } from "./access.ts";
import { until } from "./client.ts";
import { Elsewhere, skill, withLearners } from "./elsewhere.ts";
import { startWorker, type Worker } from "./harness.ts";

const { ALICE } = secretsOf("ALICE");
const token = { kind: "bearer", callers: [caller("alice", ["ALICE"])] };

interface Listed {
  slug: string;
  name: string;
  isDefault: boolean;
  isOpen: boolean;
  dialects: string[];
  skills: { id: string; name: string }[];
  access: { securitySchemes: Record<string, object>; securityRequirements: object[]; hasOperators: boolean };
  health: { state: string; part?: string; reason?: string };
}

interface Catalogue {
  version: string;
  development: boolean;
  agents: Listed[];
}

let elsewhere: Elsewhere;
let development: Worker;
let deployed: Worker;
before(async () => {
  elsewhere = await Elsewhere.open();
  elsewhere.has("learner", [skill("echo")]);
  elsewhere.has("lost", [skill("one")]);
  elsewhere.down.add("lost");
  const embedded = JSON.parse(withLearners(elsewhere, { learner: {}, lost: {}, guarded: { remote: "learner", access: { schemes: { token } } } })) as { agents: object[] };
  const of = (slug: string, more: object): object => ({ ...embedded.agents.find((agent) => (agent as Listed).slug === "learner"), learned: undefined, slug, ...more });
  embedded.agents.push(of("broken", { executor: { kind: "oracle", table: {}, run: {} } }), of("unset", { access: { schemes: { key: { kind: "bearer", callers: [caller("b", ["NOT_SET"])] } } } }));
  const vars = { AGENTS: JSON.stringify(embedded), NEXT_URL: `${elsewhere.url}/learner`, ALICE };
  development = await startWorker({ vars });
  const few = { ...embedded, agents: embedded.agents.filter((agent) => ["demo", "lost", "broken", "unset"].includes((agent as Listed).slug)) };
  deployed = await startWorker({ vars: { ...vars, AGENTS: JSON.stringify(few), DEVELOPMENT: "false", PUBLIC_URL: "https://agents.example" } });
});
after(async () => {
  await Promise.all([development?.stop(), deployed?.stop()]);
  elsewhere.close();
});

const list = async (worker: Worker): Promise<Catalogue> => (await (await fetch(`${worker.url}/console/api/agents`)).json()) as Catalogue;
const entry = async (worker: Worker, slug: string): Promise<Listed> => {
  const found = (await list(worker)).agents.find((agent) => agent.slug === slug);
  assert.ok(found, slug);
  return found;
};

describe("the list of agents", () => {
  test("has all of them, with what their cards say to everybody", async () => {
    const { version, development: isDevelopment, agents } = await list(development);
    assert.match(version, /^\d+\.\d+\.\d+/);
    assert.equal(isDevelopment, true);
    assert.equal(agents.filter(({ isDefault }) => isDefault).length, 1);
    const demo = await entry(development, "demo");
    assert.deepEqual([demo.name, demo.isOpen, demo.dialects, demo.health], ["Demo", true, ["1.0", "0.3"], { state: "ok" }]);
    assert.ok(demo.skills.length > 0 && demo.skills.every(({ id, name }) => id !== "" && name !== ""));
    assert.deepEqual(demo.access, { securitySchemes: {}, securityRequirements: [], hasOperators: false });
    const guarded = await entry(development, "guarded");
    assert.deepEqual([guarded.isOpen, guarded.access.hasOperators, guarded.dialects], [false, true, ["1.0", "0.3", "0.1"]]);
  });

  test("has skills that agents learn, and says of which agents some are missing", async () => {
    const learner = await entry(development, "learner");
    assert.deepEqual([learner.skills, learner.health], [[{ id: "echo", name: "The echo" }], { state: "ok" }]);
    const lost = await entry(development, "lost");
    assert.deepEqual([lost.skills, lost.health.state], [[], "partial"]);
    assert.match(lost.health.reason ?? "", /other servers, which have not answered yet/);
  });

  test("says what is wrong with an agent in development, and elsewhere that the log does", async () => {
    assert.match((await entry(development, "broken")).health.reason ?? "", /no kind of executor "oracle"/);
    assert.match((await entry(development, "unset")).health.reason ?? "", /NOT_SET/);
    const parts = await Promise.all(["broken", "unset"].map(async (slug) => (await entry(development, slug)).health.part));
    assert.deepEqual(parts, ["executor", "access"]);
    for (const slug of ["broken", "unset"]) {
      const { health, isOpen } = await entry(deployed, slug);
      assert.deepEqual(health, { state: "misconfigured", reason: "it is not set up correctly; the log of the Worker says why" });
      assert.equal(isOpen, slug === "broken");
    }
    assert.doesNotMatch(JSON.stringify(await list(deployed)), /NOT_SET|oracle|alice/);
  });

  test("is kept for a while outside of development, and read by HEAD too", async () => {
    const kept = async (worker: Worker) => (await fetch(`${worker.url}/console/api/agents`)).headers.get("cache-control");
    assert.equal(await kept(development), "no-cache");
    assert.equal(await kept(deployed), "public, max-age=5", "skills are missing");
    elsewhere.down.delete("lost");
    await deployed.restart();
    assert.equal(await until(() => kept(deployed), (value) => value !== "public, max-age=5"), "public, max-age=30");
    const head = await fetch(`${deployed.url}/console/api/agents/`, { method: "HEAD" });
    assert.deepEqual([head.status, await head.text()], [200, ""]);
    const posted = await fetch(`${deployed.url}/console/api/agents`, { method: "POST" });
    assert.deepEqual([posted.status, posted.headers.get("allow")], [405, "GET, HEAD, OPTIONS"]);
  });
});

test("a Worker without the pages of the console says what is missing", async () => {
  for (const [path, told] of [["/console", /without the console; add \[assets\]/], ["/console/", /\[assets\]/], ["/console/app.js", /nothing at \/console\/app\.js/], ["/console/api/none", /nothing at/]] as const) {
    const response = await fetch(`${deployed.url}${path}`);
    assert.equal(response.status, 404);
    assert.match(await response.text(), told);
  }
});
