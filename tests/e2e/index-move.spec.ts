// The index moves from D1 to objects while tasks go on (INDEX_COPY), and back; the process is killed in between. Nothing is missing afterwards, and nothing is there twice.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { Agent, followUp, until, type Task } from "./client.ts";
import { startWorker, testAgents, type Database, type Worker } from "./harness.ts";
import { agentsOf, SECRETS } from "./isolation.ts";
import { ids, list } from "./listing.ts";
import { linesOf, Operator, withSchemes } from "./operate.ts";

const ROWS = 50_000;
const folder = mkdtempSync(join(tmpdir(), "a2a-edge-move-"));
const AGENTS = withSchemes(agentsOf(testAgents));

let worker: Worker;
/** Starts the Worker with the index in other places, with what it has stored. */
async function startWith(settings: Record<string, string>): Promise<void> {
  await worker?.stop();
  worker = await startWorker({ persist: folder, vars: { ...SECRETS, AGENTS, RETENTION_MS: "0", ...settings } });
}
before(() => startWith({ INDEX: "d1" }));
after(async () => {
  await worker?.stop();
  rmSync(folder, { recursive: true, force: true });
});

const demo = () => new Agent(`${worker.url}/demo`);
const alice = () => new Agent(`${worker.url}/guarded`, { "x-api-key": SECRETS.KEY_ALICE });
const rowsOf = async (database: Database, sql: string, ...values: unknown[]) => (await database.prepare(sql).bind(...values).run()).results;

const INSERT = `WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ?1)
  INSERT INTO tasks (owner, agent, status_ms, id, context_id, state, generation, head, history, duration_ms)
  SELECT ?2, ?3, 1000000 + n / 3, ?2 || ' ' || n, 'context ' || n % 100, CASE WHEN n % 10 = 0 THEN 6 ELSE 3 END, 2,
    json_object('id', ?2 || ' ' || n, 'contextId', 'context ' || n % 100, 'status', json_object('state', 'TASK_STATE_COMPLETED')), '', CASE WHEN n % 10 = 0 THEN NULL ELSE n END FROM numbers`;

const ALL = "SELECT owner, agent, status_ms, id, context_id, state, generation, head, history, duration_ms FROM tasks WHERE owner = ?1 ORDER BY agent, status_ms, id";

/** Copies a part of the rows of an agent. */
async function copy(agent: string, query = ""): Promise<{ copied: number; done: boolean }> {
  const response = await fetch(`${worker.url}/${agent}/index:copy${query}`, { method: "POST" });
  assert.equal(response.status, 200, await response.clone().text());
  return (await response.json()) as { copied: number; done: boolean };
}

describe("an index", () => {
  let asked: Task[];

  test("is copied to objects while tasks begin, change and end, over kills", async () => {
    const d1 = await worker.d1();
    await rowsOf(d1, INSERT, ROWS, "anonymous", "demo");
    for (let number = 0; number < 5; number++) await rowsOf(d1, INSERT, 20, `caller ${number}`, "demo");
    await rowsOf(d1, "INSERT INTO webhooks (task, id, owner, agent, health, given_up, since_ms, updated_ms, version, shown) VALUES ('t', 'w', 'anonymous', 'demo', 1, 0, 1, ?1, 1, '{}')", Date.now());
    const today = new Date().toISOString().slice(0, 10);
    await rowsOf(d1, "INSERT INTO usage_turns VALUES (?1, 't', 1, 'anonymous', 'demo', 1, 20, 3, 4, '{\"m\":[1,20,3,4]}')", today);
    await rowsOf(d1, "INSERT INTO usage VALUES ('2026-01-01', 'anonymous', 'demo', 5, 6, 7, 8, 9, '{\"m\":[3,4,5,6,2]}')");
    asked = await Promise.all(Array.from({ length: 8 }, () => demo().sendForTask("ask")));

    await startWith({ INDEX: "d1", INDEX_COPY: "objects" });
    let parts = 0;
    for (let part = await copy("demo"); !part.done; part = await copy("demo")) {
      parts += 1;
      await demo().sendForTask(`text ${parts}`);
      const next = asked[parts % 12];
      if (parts < 8 && next !== undefined) Object.assign(next, await demo().sendForTask(followUp(next, "blue")));
      if (parts % 9 === 4) {
        // In the middle of a part.
        const cut = copy("demo").catch(() => undefined);
        await worker.kill9();
        await cut;
        await worker.restart();
      }
    }
    assert.ok(parts >= 20, `${parts} parts`);
    const { copied, done } = await copy("demo");
    assert.ok(done && copied >= ROWS + 100 + asked.length, `${copied} tasks`);
    const cursors = await rowsOf(await worker.index(undefined, "directory"), "SELECT owner, id FROM index_copies WHERE agent = 'demo'");
    assert.deepEqual(cursors, [{ owner: "", id: "" }], "a copy that is complete keeps no name");
  });

  test("has the same rows in both places, each once", async () => {
    // What a kill has interrupted is owed to both.
    await until(async () => {
      const [d1, objects] = [await worker.d1(), await worker.index("anonymous", "objects")];
      const both = await Promise.all([d1, objects].map((one) => rowsOf(one, "SELECT count(*) AS number, sum(generation) AS sum FROM tasks WHERE owner = 'anonymous'")));
      return both.map((rows) => JSON.stringify(rows));
    }, ([one, other]) => one === other);
    for (const owner of ["anonymous", "caller 3"]) {
      const [d1, objects] = [await rowsOf(await worker.d1(), ALL, owner), await rowsOf(await worker.index(owner, "objects"), ALL, owner)];
      assert.ok(d1.length >= 20);
      assert.deepEqual(objects, d1);
    }
    for (const table of ["webhooks", "usage", "usage_turns", "task_hours"]) {
      const sql = `SELECT * FROM ${table} WHERE agent = 'demo' ${table === "task_hours" ? "AND hour > 3600000" : ""}`;
      assert.deepEqual(await rowsOf(await worker.index("anonymous", "objects"), sql), await rowsOf(await worker.d1(), sql), table);
    }
  });

  test("is read in objects after the change of INDEX, and written to D1 as long as INDEX_COPY says so", async () => {
    const total = (await list(demo(), { pageSize: 1 })).totalSize;
    const [page, waiting] = [await list(demo(), { pageSize: 50 }), await list(demo(), { status: "TASK_STATE_INPUT_REQUIRED", pageSize: 20 })];
    await startWith({ INDEX: "objects", INDEX_COPY: "d1" });
    assert.deepEqual(await list(demo(), { pageSize: 50 }), page);
    assert.deepEqual(await list(demo(), { status: "TASK_STATE_INPUT_REQUIRED", pageSize: 20 }), waiting);
    const begun = await demo().sendForTask("hello");
    const still = asked.find(({ status }) => status.state === "TASK_STATE_INPUT_REQUIRED");
    if (still !== undefined) Object.assign(still, await demo().cancelTask(still.id));
    assert.equal((await list(demo(), { pageSize: 1 })).totalSize, total + 1);
    const known = await rowsOf(await worker.d1(), "SELECT id, state FROM tasks WHERE id IN (?1, ?2) ORDER BY state", begun.id, still?.id ?? "");
    assert.deepEqual(known.map(({ state }) => state), [3, 5]);
  });

  test("moves back to a D1 that has been emptied", async () => {
    await worker.d1().then((d1) => rowsOf(d1, "DELETE FROM tasks"));
    await rowsOf(await worker.d1(), "DELETE FROM task_counts");
    const before = await list(demo(), { pageSize: 50 });
    await copy("demo", "?anew=true");
    while (!(await copy("demo")).done);
    await startWith({ INDEX: "d1" });
    assert.deepEqual(await list(demo(), { pageSize: 50 }), before);
  });
});

describe("the command", () => {
  test("copies for operators, tells how many tasks there were, and goes on where it was", async () => {
    const made = await Promise.all(["one", "two", "ask"].map((text) => alice().sendForTask(text)));
    await startWith({ INDEX: "d1", INDEX_COPY: "objects" });
    const ops = new Operator(worker.url);
    try {
      assert.equal((await ops.run(["login"], { input: `${SECRETS.KEY_OPS}\n` })).code, 0);
      const refused = await ops.run(["index", "away"]);
      assert.equal(refused.code, 2);
      assert.match(refused.stderr, /it is: move/);
      for (const more of [[], ["--anew"], []]) {
        const { code, stdout, stderr } = await ops.run(["index", "move", "--agent", "guarded", "--json", ...more]);
        assert.equal(code, 0, stderr);
        assert.deepEqual(linesOf({ stdout, stderr, code }), [{ agent: "guarded", copied: 3 }]);
      }
      await startWith({ INDEX: "objects" });
      assert.deepEqual(ids((await list(alice())).tasks).sort(), ids(made).sort());
      const alone = await new Operator(worker.url).run(["index", "move", "--agent", "demo"]);
      assert.match(alone.stderr, /INDEX_COPY/);
      assert.notEqual(alone.code, 0);
    } finally {
      ops.remove();
    }
  });

  test("the trigger copies what nobody has copied", async () => {
    await startWith({ INDEX: "objects" });
    const { id } = await demo().sendForTask("only in objects");
    await startWith({ INDEX: "objects", INDEX_COPY: "d1" });
    await copy("demo", "?anew=true");
    await worker.cron();
    assert.equal((await rowsOf(await worker.d1(), "SELECT id FROM tasks WHERE id = ?1", id)).length, 1);
  });
});

describe("a copy is refused", () => {
  test("to callers who are no operators, by other methods, and without a second place", async () => {
    const ask = (path: string, init: RequestInit = {}) => fetch(worker.url + path, { method: "POST", ...init });
    assert.equal((await ask("/guarded/index:copy")).status, 401);
    assert.equal((await ask("/guarded/index:copy", { headers: { "x-api-key": SECRETS.KEY_BOB, "act-as": "operator" } })).status, 403);
    assert.equal((await ask("/guarded/index:copy", { headers: { "x-api-key": SECRETS.KEY_OPS } })).status, 403);
    assert.equal((await ask("/demo/index:copy", { method: "GET" })).status, 405);
    assert.equal((await ask("/nobody/index:copy")).status, 404);
    await startWith({ INDEX: "objects" });
    const alone = await ask("/demo/index:copy");
    assert.equal(alone.status, 400);
    assert.match(await alone.text(), /the index is in objects alone; set INDEX_COPY/);
  });
});
