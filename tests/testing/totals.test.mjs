// What the index of tasks holds, by the whole engine and its SQL in the SQLite of Node: numbers and rows are those of a model at any time, over crashes
// and the deletion of old tasks. The rows of earlier versions are kept.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { test } from "node:test";
import { executor } from "a2a-edge";
import { testAgent } from "a2a-edge/testing";
import { insideOf } from "../../js/testing/agent.js";
import { Client } from "../../js/testing/client.js";

const CALLER = { id: "key:billing" };
const DAY_MS = 86_400_000;

/** Numbers from a seed, so that a failure can be repeated. */
function randomness(seed) {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
    return Math.floor((state / 0x80000000) * below);
  };
}

/** An agent that answers, or asks where the message is "ask", and its tasks as a model has them. */
class World {
  /** The ids of ended tasks, and the tasks that wait for an answer. */
  ended = [];
  waiting = [];

  static async open(random) {
    const agent = await testAgent(executor({ execute: (turn) => (turn.text === "ask" ? turn.ask("What?") : turn.text) }), { caller: CALLER });
    return new World(insideOf(agent).platform, random);
  }

  constructor(platform, random) {
    this.platform = platform;
    this.random = random;
    this.client = new Client(platform, CALLER);
  }

  rows(sql) {
    return this.platform.database.all(sql, []);
  }

  list(params = {}) {
    return this.client.call("ListTasks", params);
  }

  pass(ms) {
    return this.platform.pass(this.platform.clock.now + ms);
  }

  async send(text, more = {}) {
    const message = { messageId: this.client.nextMessageId(), role: "ROLE_USER", parts: [{ text }], ...more };
    const { task } = await this.client.call("SendMessage", { message });
    if (task.status.state === "TASK_STATE_COMPLETED") this.ended.push(task.id);
    else this.waiting.push(task);
  }

  async change() {
    const kind = this.random(8);
    if (kind < 3) return this.send("hello", this.random(3) === 0 ? { contextId: "shared" } : {});
    if (kind === 3) return this.send("ask");
    if (kind < 6 && this.waiting.length > 0) {
      const [{ id, contextId }] = this.waiting.splice(this.random(this.waiting.length), 1);
      return this.send(this.random(3) === 0 ? "ask" : "red", { taskId: id, contextId });
    }
    if (kind === 7) this.platform.crash();
    return this.pass(this.random(4_000));
  }

  async check(at) {
    const expected = [this.ended.length + this.waiting.length, this.waiting.length];
    const [all, waiting] = [await this.list({ pageSize: 1 }), await this.list({ pageSize: 1, status: "TASK_STATE_INPUT_REQUIRED" })];
    assert.deepEqual([all.totalSize, waiting.totalSize], expected, `after change ${at}`);
    const [{ rows, ids }] = this.rows("SELECT count(*) AS rows, count(DISTINCT id) AS ids FROM tasks");
    assert.deepEqual([rows, ids], [expected[0], expected[0]], `after change ${at}`);
    const sums = this.rows("SELECT c.bytes + (SELECT coalesce(sum(t.bytes), 0) FROM tasks AS t WHERE t.status_ms > c.counted_ms) AS counted, (SELECT coalesce(sum(bytes), 0) FROM tasks) AS stored FROM task_counts AS c");
    for (const { counted, stored } of sums) assert.equal(counted, stored, `bytes after change ${at}`);
    assert.deepEqual(this.rows("SELECT id FROM tasks WHERE bytes < 200"), [], "each row has the size of its task");
  }
}

for (const seed of [1, 2, 3, 4]) {
  test(`totals and rows are those of a model after each of 150 changes, and after the deletion of old tasks (seed ${seed})`, async () => {
    const world = await World.open(randomness(seed));
    for (let at = 0; at < 150; at++) {
      await world.change();
      await world.check(at);
    }
    const [{ total }] = world.rows("SELECT total FROM task_counts");
    assert.ok(total > 0, "tasks were counted together");
    assert.deepEqual(world.rows("SELECT sum(number) AS number FROM task_hours"), [{ number: world.ended.length }]);

    await world.pass(31 * DAY_MS);
    const { isolate } = world.platform;
    await isolate.within(() => isolate.handlers.scheduled({ cron: "17 * * * *", scheduledTime: world.platform.clock.now }, isolate.env, isolate.event));
    await world.pass(60_000);
    const [gone] = world.ended.splice(0);
    await world.check("of the clean-up");
    await assert.rejects(world.client.call("GetTask", { id: gone }), { code: -32001 });
    assert.deepEqual(world.rows("SELECT tasks FROM task_deletions"), []);
  });
}

test("rows of the first tables are the same after the migration, and are counted on", () => {
  const migration = (name) => readFileSync(new URL(`../../migrations/${name}`, import.meta.url), "utf8");
  const database = new DatabaseSync(":memory:");
  database.exec(migration("0001_schema.sql"));
  const insert = database.prepare(
    "INSERT INTO tasks (owner, agent, status_ms, id, context_id, state, generation, head, history, duration_ms) VALUES (?, ?, ?, ?, 'c', ?, 4, '{}', '', ?)",
  );
  const random = randomness(5);
  const add = (id) => insert.run(`owner ${random(3)}`, `agent ${random(2)}`, 1_000 + random(90_000), id, id % 7 === 0 ? 2 : 3, id % 7 === 0 ? null : random(5_000));
  for (let nth = 0; nth < 500; nth++) add(`${nth}`);
  database.exec("DELETE FROM tasks WHERE id LIKE '%3'");
  const all = (sql) => database.prepare(sql).all().map((row) => ({ ...row }));
  const contents = () => ["tasks ORDER BY owner, agent, status_ms, id", "task_hours ORDER BY agent, hour, state"].map((table) => all(`SELECT * FROM ${table}`));
  const before = contents();
  database.exec(`BEGIN; ${migration("0002_fewer_rows.sql")}; COMMIT`);
  assert.deepEqual(contents(), before);

  const counted = "SELECT owner, agent, total + (SELECT count(*) FROM tasks AS t WHERE t.owner = c.owner AND t.agent = c.agent AND t.status_ms > counted_ms) AS number FROM task_counts AS c ORDER BY owner, agent";
  const check = () => assert.deepEqual(all(counted), all("SELECT owner, agent, count(*) AS number FROM tasks GROUP BY owner, agent ORDER BY owner, agent"));
  check();
  for (let nth = 500; nth < 700; nth++) add(`${nth}`);
  check();
  const waiting = all("SELECT count(*) AS number FROM tasks WHERE state = 2")[0].number;
  database.exec("UPDATE tasks SET status_ms = 100000, state = 3, duration_ms = 7 WHERE state = 2");
  database.exec("DELETE FROM tasks WHERE id LIKE '%5'");
  check();
  // Of 700 tasks, 600 had ended with their first row.
  assert.deepEqual(all("SELECT sum(number) AS number FROM task_hours"), [{ number: 600 + waiting }]);
});
