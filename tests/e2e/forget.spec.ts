// `POST /<agent>/owner:forget`: what the index has of an owner with an agent beside tasks is deleted, in D1 and in objects, and nothing of others.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { Agent, followUp, logged, type Task } from "./client.ts";
import { INDEX, startWorker, testAgents, type Database, type Worker } from "./harness.ts";
import { agentsOf, SECRETS } from "./isolation.ts";
import { ids, list } from "./listing.ts";

interface Gone {
  usage: number;
  usageTurns: number;
  webhooks: number;
  counters: number;
  hasTasks: boolean;
  done: boolean;
}

const VARS = { ...SECRETS, AGENTS: agentsOf(testAgents) };
const OPS = { "x-api-key": SECRETS.KEY_OPS, "act-as": "operator" };
const BOB = "key:bob";
/** Of alice, by her group. */
const BLUE = "@key:blue";
const TODAY = new Date().toISOString().slice(0, 10);
const NOTHING: Gone = { usage: 0, usageTurns: 0, webhooks: 0, counters: 0, hasTasks: false, done: true };

let worker: Worker;
before(async () => void (worker = await startWorker({ vars: VARS })));
after(() => worker.stop());

const agent = (key: string, slug = "guarded", of = worker) => new Agent(`${of.url}/${slug}`, { "x-api-key": key });
const ask = (query: string, headers: Record<string, string> = OPS, path = "/guarded", init: RequestInit = {}, of = worker) =>
  fetch(`${of.url}${path}/owner:forget${query}`, { method: "POST", headers, ...init });

/** Deletes the next rows of an owner with an agent. */
async function forget(owner: string, slug = "guarded", of = worker): Promise<Gone> {
  const response = await ask(`?owner=${encodeURIComponent(owner)}`, OPS, `/${slug}`, {}, of);
  assert.equal(response.status, 200, await response.clone().text());
  assert.equal(response.headers.get("cache-control"), "no-store");
  return (await response.json()) as Gone;
}

async function remove(slug: string, id: string, of = worker): Promise<void> {
  const response = await fetch(`${of.url}/${slug}/tasks/${id}?force=true`, { method: "DELETE", headers: { "a2a-version": "1.0", ...OPS } });
  assert.equal(response.status, 200, await response.text());
}

const run = async (database: Database, sql: string, ...values: unknown[]) => (await database.prepare(sql).bind(...values).run<Record<string, unknown>>()).results;

/** The numbers of rows of an owner with an agent, by table; for counters with all agents. */
async function rowsOf(owner: string, slug = "guarded", of = worker, kind?: "d1" | "objects", shard?: number): Promise<Record<string, unknown>> {
  const index = await of.index(owner, kind, shard);
  const counts = ["tasks", "task_counts", "usage", "usage_turns", "webhooks"].map((table) => `(SELECT count(*) FROM ${table} WHERE owner = ?1 AND agent = ?2) AS ${table}`);
  const [row] = await run(index, `SELECT ${counts.join(", ")}`, owner, slug);
  const [counters] = await run(await of.d1(), "SELECT count(*) AS counters FROM counters WHERE owner = ?1", owner);
  return { ...row, ...counters };
}

/** Adds rows of an owner with an agent: turns of today and of five days ago, a sum of an older day, webhooks of a task that is gone and of this one. */
async function addRows(database: Database, owner: string, slug: string, task: string, turns = 3): Promise<void> {
  const numbers = "WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ?1)";
  for (const day of [TODAY, new Date(Date.now() - 5 * 86_400_000).toISOString().slice(0, 10)]) {
    await run(database, `${numbers} INSERT INTO usage_turns SELECT ?2, ?3 || ?4 || n, 1, ?3, ?4, 1, 20, 3, 4, '{}' FROM numbers`, turns, day, owner, slug);
  }
  await run(database, "INSERT INTO usage VALUES ('2025-12-01', ?1, ?2, 5, 6, 7, 8, 9, '{}')", owner, slug);
  for (const owed of [`gone of ${owner} and ${slug}`, task]) {
    await run(database, "INSERT INTO webhooks (task, id, owner, agent, health, given_up, since_ms, updated_ms, version, shown) VALUES (?1, 'w', ?2, ?3, 1, 0, 1, 1, 1, '{}')", owed, owner, slug);
  }
}

const count = async (of: Worker, owner: string, name: string) => run(await of.d1(), "INSERT INTO counters (owner, name, value) VALUES (?1, ?2, 7)", owner, name);

describe("an owner is forgotten", () => {
  let asked: Task;

  test("with one agent, a bounded number of rows with each call, and nobody else is", async () => {
    asked = await agent(SECRETS.KEY_BOB).sendForTask("ask");
    const [other, hers] = [await agent(SECRETS.KEY_BOB, "other").sendForTask("hi"), await agent(SECRETS.KEY_ALICE).sendForTask("hers")];
    const index = await worker.index(BOB);
    await addRows(index, BOB, "guarded", asked.id, 2_300);
    await addRows(index, BOB, "other", other.id);
    await addRows(await worker.index(BLUE), BLUE, "guarded", hers.id);
    for (const owner of [BOB, BLUE]) await count(worker, owner, "get_counter");
    const before = await Promise.all([rowsOf(BOB, "other"), rowsOf(BLUE)]);
    const calls = [await forget(BOB)];
    while (calls.at(-1)?.done === false) calls.push(await forget(BOB));
    assert.deepEqual(calls.map(({ usageTurns, done }) => [usageTurns, done]), [[2_000, false], [2_000, false], [600, true]]);
    const sum = (name: "usage" | "webhooks" | "counters") => calls.reduce((sum, gone) => sum + gone[name], 0);
    assert.deepEqual([sum("usage"), sum("webhooks"), sum("counters"), calls.at(-1)?.hasTasks], [3, 1, 0, true]);
    assert.deepEqual(await rowsOf(BOB), { tasks: 1, task_counts: 1, usage: 0, usage_turns: 0, webhooks: 1, counters: 1 }, "what belongs to a task stays, and counters");
    assert.deepEqual(await Promise.all([rowsOf(BOB, "other"), rowsOf(BLUE)]), before);
    assert.deepEqual(await forget(BOB), { ...NOTHING, hasTasks: true });
  });

  test("while a task goes on as if nothing had happened", async () => {
    assert.equal((await list(agent(SECRETS.KEY_BOB))).totalSize, 1);
    const ended = await agent(SECRETS.KEY_BOB).sendForTask(followUp(asked, "blue"));
    assert.equal(ended.status.state, "TASK_STATE_COMPLETED");
    assert.deepEqual(ids((await list(agent(SECRETS.KEY_BOB))).tasks), [asked.id]);
  });

  test("and counters of tools are deleted with the last task of all agents", async () => {
    await remove("guarded", asked.id);
    assert.deepEqual(await forget(BOB), { ...NOTHING, hasTasks: true });
    assert.deepEqual(await rowsOf(BOB), { tasks: 0, task_counts: 0, usage: 0, usage_turns: 0, webhooks: 0, counters: 1 });
    for (const { id } of (await list(agent(SECRETS.KEY_BOB, "other"))).tasks) await remove("other", id);
    assert.deepEqual(await forget(BOB, "other"), { ...NOTHING, usage: 3, usageTurns: 6, webhooks: 1, counters: 1 });
    assert.deepEqual(await rowsOf(BOB, "other"), { tasks: 0, task_counts: 0, usage: 0, usage_turns: 0, webhooks: 0, counters: 0 });
    assert.equal((await rowsOf(BLUE))["counters"], 1);
  });

  test("and is a caller like any other afterwards", async () => {
    const again = await agent(SECRETS.KEY_BOB).sendForTask("hello");
    const { tasks, totalSize } = await list(agent(SECRETS.KEY_BOB));
    assert.deepEqual([ids(tasks), totalSize], [[again.id], 1]);
  });

  test("also where there is nothing of the owner, and nothing is made then", async () => {
    for (const owner of ["key:nobody", "anonymous ' OR 1", "漢字"]) assert.deepEqual(await forget(owner), NOTHING);
    if (INDEX === "objects") assert.deepEqual(await run(await worker.index("key:nobody"), "SELECT name FROM sqlite_master WHERE name NOT LIKE '\\_cf%' ESCAPE '\\'"), []);
  });
});

test("an operator leaves a line in the audit log, which does not name the owner", async () => {
  await forget("key:whose-name-is-in-no-line");
  const line = JSON.parse(await logged(worker, "owner forgotten")) as Record<string, unknown>;
  assert.deepEqual([line["event"], line["agent"], line["caller"], line["outcome"]], ["owner forgotten", "guarded", "key:ops", "done"]);
  assert.ok(worker.logs.every(({ message }) => !message.includes("whose-name-is-in-no-line")));
});

describe("what is refused deletes nothing:", () => {
  const owner = `?owner=${encodeURIComponent(BLUE)}`;
  let before: Record<string, unknown>;
  const assertWhole = async () => assert.deepEqual(await rowsOf(BLUE), before);

  test("callers who are no operators, or do not say so", async () => {
    before = await rowsOf(BLUE);
    assert.ok(Number(before["usage_turns"]) > 0);
    const key = (name: "KEY_ALICE" | "KEY_BOB" | "KEY_OPS") => ({ "x-api-key": SECRETS[name] });
    assert.equal((await ask(owner, {})).status, 401);
    for (const headers of [key("KEY_BOB"), key("KEY_ALICE"), key("KEY_OPS"), { ...key("KEY_BOB"), "act-as": "operator" }, { ...key("KEY_ALICE"), "act-as": "operator" }]) {
      assert.equal((await ask(owner, headers)).status, 403);
    }
    await assertWhole();
  });

  test("a request that names no owner, or another one in Act-As", async () => {
    for (const query of ["", "?owner=", "?owner", `?owners=${BLUE}`]) {
      const response = await ask(query);
      assert.equal(response.status, 400, query);
      assert.match(await response.text(), /owner must name the caller or the group whose rows are deleted, as key:billing/);
    }
    assert.equal((await ask(owner, { ...OPS, "act-as": "operator; owner=key%3Abob" })).status, 400);
    assert.equal((await ask(owner, OPS, "/guarded", { method: "GET" })).status, 405);
    assert.equal((await ask(owner, OPS, "/nobody")).status, 404);
    await assertWhole();
  });

  test("an agent that anybody may call, outside of development", async () => {
    const deployed = await startWorker({ vars: { ...VARS, DEVELOPMENT: "false" } });
    try {
      for (const headers of [{}, OPS] as Record<string, string>[]) {
        const response = await ask("?owner=anonymous", headers, "/demo", {}, deployed);
        assert.equal(response.status, 403);
        assert.match(await response.text(), /no schemes by which it could know one/);
      }
    } finally {
      await deployed.stop();
    }
  });
});

describe("in all places of the index:", () => {
  test("in both, while it moves", async () => {
    for (const [kind, copy] of [["d1", "objects"], ["objects", "d1"]] as const) {
      const moving = await startWorker({ vars: { ...VARS, INDEX: kind, INDEX_COPY: copy } });
      try {
        const task = await agent(SECRETS.KEY_BOB, "guarded", moving).sendForTask("hi");
        for (const place of [kind, copy]) await addRows(await moving.index(BOB, place), BOB, "guarded", task.id);
        await remove("guarded", task.id, moving);
        assert.deepEqual(await forget(BOB, "guarded", moving), { ...NOTHING, usage: 3, usageTurns: 6, webhooks: 1 });
        for (const place of [kind, copy]) {
          assert.deepEqual(await rowsOf(BOB, "guarded", moving, place), { tasks: 0, task_counts: 0, usage: 0, usage_turns: 0, webhooks: 0, counters: 0 }, place);
        }
      } finally {
        await moving.stop();
      }
    }
  });

  test("in all shards of an owner that has several", async () => {
    const heavy = await startWorker({ vars: { ...VARS, INDEX: "objects", INDEX_SHARD_WRITES: "1" } });
    try {
      const bob = agent(SECRETS.KEY_BOB, "guarded", heavy);
      const tasks: Task[] = [];
      const inShard = async (shard: number) => run(await heavy.index(BOB, "objects", shard), "SELECT id FROM tasks").catch(() => []);
      // Until tasks are in the second shard: the number of shards is known from the first list after it has grown.
      while ((await inShard(1)).length === 0) {
        tasks.push(...(await Promise.all(Array.from({ length: 8 }, () => bob.sendForTask("hi")))));
        await list(bob);
      }
      await run(await heavy.index(BOB, "objects", 1), "INSERT INTO webhooks (task, id, owner, agent, health, given_up, since_ms, updated_ms, version, shown) VALUES ('gone', 'w', ?1, 'guarded', 1, 0, 1, 1, 1, '{}')", BOB);
      assert.deepEqual(await forget(BOB, "guarded", heavy), { ...NOTHING, webhooks: 1, hasTasks: true });
      for (const { id } of tasks) await remove("guarded", id, heavy);
      assert.deepEqual(await forget(BOB, "guarded", heavy), NOTHING);
      for (const shard of [0, 1]) assert.deepEqual(await rowsOf(BOB, "guarded", heavy, "objects", shard), { tasks: 0, task_counts: 0, usage: 0, usage_turns: 0, webhooks: 0, counters: 0 });
    } finally {
      await heavy.stop();
    }
  });
});
