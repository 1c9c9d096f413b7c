// `totalSize` of ListTasks is exact at any time (spec §3.1.4): D1 counts tasks in groups, while others are written late, get new
// statuses, and are deleted one by one and together.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Agent } from "./client.ts";
import type { Database } from "./harness.ts";
import { withWorker, worker } from "./listing.ts";

withWorker();

/** Names an agent whose only tasks are those of a test. */
const AGENT = "assistant";
const OWNERS = ["anonymous", "key:one", "key:two"];

/** A task of the model, as its row has to be. */
interface Row {
  id: string;
  owner: string;
  statusMs: number;
  state: number;
}

/** Numbers from a seed, so that a failure can be repeated. */
function randomness(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
    return Math.floor((state / 0x80000000) * below);
  };
}

/** The index of D1 beside a model of it: a list of rows. */
class Index {
  readonly rows = new Map<string, Row>();
  readonly #database: Database;
  readonly #random: (below: number) => number;
  #now = 1_000_000;
  #made = 0;

  constructor(database: Database, random: (below: number) => number) {
    this.#database = database;
    this.#random = random;
  }

  async insert(isLate: boolean): Promise<void> {
    this.#now += this.#random(300);
    const owner = OWNERS[this.#random(OWNERS.length)] ?? "";
    const statusMs = isLate ? this.#now - this.#random(60_000) : this.#now;
    const state = this.#random(4) === 0 ? 2 : 3;
    const row = { id: `task ${this.#made++}`, owner, statusMs, state };
    this.rows.set(row.id, row);
    const sql = "INSERT INTO tasks (owner, agent, status_ms, id, context_id, state, generation, head, history) VALUES (?, ?, ?, ?, 'c', ?, 1, ?, '')";
    const head = JSON.stringify({ id: row.id, contextId: "c", status: { state: "TASK_STATE_WORKING" } });
    await this.#run(sql, owner, AGENT, statusMs, row.id, state, head);
  }

  /** Gives a task another status, now or at any time. */
  async move(): Promise<void> {
    const row = this.#any();
    if (row === undefined) return;
    row.statusMs = this.#random(3) === 0 ? this.#now - this.#random(60_000) : this.#now;
    row.state = 3;
    await this.#run("UPDATE tasks SET status_ms = ?, state = 3 WHERE id = ?", row.statusMs, row.id);
  }

  async delete(): Promise<void> {
    const row = this.#any();
    if (row === undefined) return;
    this.rows.delete(row.id);
    await this.#run("DELETE FROM tasks WHERE id = ?", row.id);
  }

  /** Deletes some of the oldest tasks together. Some places are named twice, and at some there is no row. */
  async deleteTogether(): Promise<void> {
    const oldest = [...this.rows.values()].slice(0, this.#random(20));
    const places = oldest.flatMap(({ owner, statusMs, id }) => {
      const place = [owner, AGENT, statusMs, id];
      return [place, [owner, AGENT, statusMs + 1, id], ...(this.#random(3) === 0 ? [place] : [])];
    });
    for (const { id } of oldest) this.rows.delete(id);
    await this.#run("INSERT INTO task_deletions (tasks) VALUES (?)", JSON.stringify(places));
  }

  #any(): Row | undefined {
    return [...this.rows.values()][this.#random(this.rows.size)];
  }

  async #run(sql: string, ...values: unknown[]): Promise<void> {
    await this.#database.prepare(sql).bind(...values).run();
  }
}

for (const seed of [1, 2]) {
  test(`totals are those of a model after each of 600 random changes (seed ${seed})`, async () => {
    const database = await worker.d1();
    const random = randomness(seed);
    const index = new Index(database, random);
    const agent = new Agent(worker.url);
    for (let step = 0; step < 600; step++) {
      const kind = random(20);
      if (kind < 11) await index.insert(false);
      else if (kind < 13) await index.insert(true);
      else if (kind < 17) await index.move();
      else if (kind < 19) await index.delete();
      else await index.deleteTogether();
      const own = [...index.rows.values()].filter(({ owner }) => owner === "anonymous");
      const { totalSize, tasks } = await agent.listTasks({ pageSize: 1 });
      const newest = own.sort((one, other) => other.statusMs - one.statusMs || (one.id < other.id ? 1 : -1))[0];
      assert.deepEqual([totalSize, tasks[0]?.id], [own.length, newest?.id], `after change ${step}`);
    }
    const counted = await database
      .prepare("SELECT owner, total FROM task_counts WHERE agent = ? AND total > 0")
      .bind(AGENT)
      .run<{ owner: string; total: number }>();
    assert.ok(counted.results.length > 0, "tasks were counted together");
    await database.prepare("DELETE FROM tasks WHERE agent = ?").bind(AGENT).run();
    const left = await database.prepare("SELECT total FROM task_counts WHERE agent = ?").bind(AGENT).run<{ total: number }>();
    assert.deepEqual(left.results.map(({ total }) => total), OWNERS.map(() => 0));
    assert.equal((await agent.listTasks({})).totalSize, 0);
  });
}

test("tasks that are counted together cost two rows each, and those deleted together one", async () => {
  const database = await worker.d1();
  const sql = "INSERT INTO tasks (owner, agent, status_ms, id, context_id, state, generation, head, history) VALUES ('key:three', 'demo', ?, ?, 'c', 3, 1, '{}', '')";
  let written = 0;
  const count = 400;
  for (let nth = 0; nth < count; nth++) {
    const { meta } = await database.prepare(sql).bind(1_000_000 + nth * 100, `counted ${nth}`).run();
    written += meta.rows_written;
  }
  assert.ok(written >= 2 * count && written <= 2.05 * count, `${written} rows for ${count} tasks`);
  const places = Array.from({ length: 100 }, (_, nth) => ["key:three", "demo", 1_000_000 + nth * 100, `counted ${nth}`]);
  const { meta } = await database.prepare("INSERT INTO task_deletions (tasks) VALUES (?)").bind(JSON.stringify(places)).run();
  assert.equal(meta.rows_written, 103);
});
