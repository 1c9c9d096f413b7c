// The overview for operators: finished tasks by hour and state, and unfinished tasks. Each task raises the counters in D1 once,
// even if the statements that write its row are lost or repeated.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { Agent, followUp, until, type Task } from "./client.ts";
import { ONLY_D1, startWorker, type Database, type NotedStatement, type Worker } from "./harness.ts";
import { agents, HOUR_MS, hourOf, overviewOf, sums, type Overview } from "./overview.ts";

const NOTHING = { completed: 0, failed: 0, canceled: 0, rejected: 0 };
const slugs = ["states", "turns", "slow", "rows", "hours", "late", "killed", "costs"];

let worker: Worker;
let database: Database;
before(async () => {
  worker = await startWorker({ vars: { AGENTS: agents(...slugs), KEEP_ALIVE_MS: "1000" }, notes: true });
  database = await worker.index();
});
after(() => worker.stop());

const agentOf = (slug: string): Agent => new Agent(`${worker.url}/${slug}`);
const of = (slug: string, query = ""): Promise<Overview> => overviewOf(worker, slug, query);
const run = async <Row = Record<string, unknown>>(sql: string, ...values: unknown[]): Promise<Row[]> => (await database.prepare(sql).bind(...values).run<Row>()).results;


/** The statements that are run during some work. */
async function causedBy(work: () => Promise<unknown>): Promise<NotedStatement[]> {
  const before = (await worker.statements()).length;
  await work();
  return (await worker.statements()).slice(before);
}

describe("counts", () => {
  test("say how tasks ended, and what is not finished, as soon as a send is answered", async () => {
    const agent = agentOf("states");
    assert.deepEqual(sums(await of("states")), NOTHING);
    for (const text of ["hello", "hello again", "fail", "reject", "auth", "message"]) await agent.send(text);
    const { id } = await agent.sendForTask("ask");
    const asked = await of("states");
    assert.deepEqual(sums(asked), { completed: 2, failed: 1, canceled: 0, rejected: 1 });
    assert.deepEqual(asked.unfinished, { submitted: 0, working: 0, inputRequired: 1, authRequired: 1, isAtLeast: false });
    await agent.cancelTask(id);
    const shown = await of("states");
    assert.deepEqual(sums(shown), { completed: 2, failed: 1, canceled: 1, rejected: 1 });
    assert.equal(shown.unfinished.inputRequired, 0);
    assert.deepEqual([shown.agent, shown.counting, shown.hours.length], ["states", true, 24]);
    assert.ok(Math.abs(shown.now - Date.now()) < 60_000);
    for (const { states, durations } of shown.hours) {
      for (const [name, { buckets }] of Object.entries(durations)) {
        const sum = buckets.reduce((all, bucket) => all + bucket, 0);
        assert.equal(sum, states[name as keyof typeof states], `the buckets of ${name} have each task once`);
        assert.equal(buckets.length, shown.bucketsMs.length + 1);
      }
    }
    assert.deepEqual(sums(await of("turns")), NOTHING, "those of other agents do not count");
  });

  test("say which webhooks are in trouble", async () => {
    const insert = "INSERT INTO webhooks (task, id, owner, agent, health, given_up, since_ms, updated_ms, version, shown) VALUES (?1, 'w', 'o', ?2, ?3, ?4, 1, 1, 1, '{}')";
    const rows = [["states", 1, 0], ["states", 1, 2], ["states", 2, 3], ["states", 0, 4], ["turns", 2, 9]] as const;
    for (const [nth, row] of rows.entries()) await run(insert, `t${nth}`, ...row);
    assert.deepEqual((await of("states")).webhooks, { failing: 2, suspended: 1, deadLetters: 9, isAtLeast: false });
    assert.deepEqual((await of("slow")).webhooks, { failing: 0, suspended: 0, deadLetters: 0, isAtLeast: false });
  });

  test("have a task of several turns once, at its end", async () => {
    const agent = agentOf("turns");
    const asked = await agent.sendForTask("ask");
    const again = await agent.sendForTask(followUp(asked, "mauve"));
    assert.deepEqual(sums(await of("turns")), NOTHING);
    await agent.sendForTask(followUp(again, "red"));
    assert.deepEqual(sums(await of("turns")), { ...NOTHING, completed: 1 });
  });

  test("tell how long tasks took from their begin to their end", async () => {
    const [agent, begun] = [agentOf("slow"), Date.now()];
    await agent.sendForTask("hold 600");
    await agent.sendForTask("hello");
    const { hours, bucketsMs } = await of("slow");
    const durations = hours.flatMap((hour) => hour.durations.completed ?? []);
    const total = durations.reduce((sum, { totalMs }) => sum + totalMs, 0);
    assert.ok(total >= 600 && total <= Date.now() - begun, String(total));
    const from = bucketsMs.indexOf(500) + 1;
    const slow = durations.flatMap(({ buckets }) => buckets.slice(from)).reduce((sum, bucket) => sum + bucket, 0);
    assert.ok(slow >= 1, JSON.stringify(durations));
  });
});

describe("each task counts once", () => {
  /** The statement that writes the row of a finished task. */
  async function statement(): Promise<string> {
    const ran = await causedBy(() => agentOf("rows").sendForTask("hello"));
    const sql = ran.map((it) => it.sql).find((it) => it.includes("duration_ms"));
    assert.ok(sql, JSON.stringify(ran));
    return sql;
  }

  /** The statement that writes the row of a finished task in place of another one, whose instant is known. */
  async function replacingStatement(): Promise<string> {
    const asked = await agentOf("rows").sendForTask("ask");
    const ran = await causedBy(() => agentOf("rows").sendForTask(followUp(asked, "red")));
    const sql = ran.map((it) => it.sql).find((it) => it.includes("json_each") && it.includes("duration_ms"));
    assert.ok(sql, JSON.stringify(ran));
    return sql;
  }

  const row = (id: string, { agent = "late", at = Date.now(), state = 3, generation = 4, ms = 70 as number | null } = {}) =>
    ["anonymous", agent, at, id, "c", state, generation, "{}", "", 900, ms];

  test("whether its row is written twice, late, or after it was there unfinished", ONLY_D1, async () => {
    const [sql, replacing] = [await statement(), await replacingStatement()];
    const [begun, ended] = [Date.now() - 70, Date.now()];
    await run(sql, ...row("twice", { at: ended }));
    await run(sql, ...row("twice", { at: ended }));
    await run(sql, ...row("twice", { at: ended, generation: 5 }));
    const unfinished = row("late", { at: begun, generation: 2, state: 2, ms: null });
    const finished = row("late", { at: ended });
    for (let time = 0; time < 2; time++) {
      await run(sql, ...unfinished);
      await run(replacing, ...finished.slice(0, 10), JSON.stringify([begun]), finished[10]);
    }
    const shown = await of("late");
    assert.deepEqual(sums(shown), { ...NOTHING, completed: 2 });
    const durations = shown.hours.flatMap((hour) => hour.durations.completed ?? []);
    assert.equal(durations.reduce((sum, { totalMs }) => sum + totalMs, 0), 140);
    assert.equal(shown.unfinished.working, 0);
  });

  test("not if the statement of a version without counters has written it", ONLY_D1, async () => {
    const sql = (await statement()).replace(/, duration_ms(?: = excluded\.duration_ms)?/g, "").replace(", ?11", "");
    assert.doesNotMatch(sql, /duration_ms|\?11/);
    const before = sums(await of("late"));
    await run(sql, ...row("older").slice(0, 10));
    assert.deepEqual(sums(await of("late")), before);
  });

  test("in the hour in which it ended", ONLY_D1, async () => {
    const sql = await statement();
    const border = hourOf(Date.now());
    const at = { last: border - 1, first: border, before: border - HOUR_MS - 1 };
    for (const [id, time] of Object.entries(at)) await run(sql, ...row(id, { agent: "hours", at: time }));
    const numbers = async (query: string) => (await of("hours", query)).hours.map(({ from, states }) => [from - border, states.completed]);
    // The hour may have ended meanwhile.
    if (hourOf(Date.now()) !== border) return;
    assert.deepEqual(await numbers("?hours=2"), [[-HOUR_MS, 1], [0, 1]]);
    assert.deepEqual(await numbers("?hours=1"), [[0, 1]]);
    assert.deepEqual(sums(await of("hours", "?hours=3")), { ...NOTHING, completed: 3 });
    const week = await of("hours", "?hours=168");
    assert.equal(week.hours.length, 168);
    assert.deepEqual(week.hours.map(({ from }) => from - border), Array.from({ length: 168 }, (_, nth) => (nth - 167) * HOUR_MS));
  });

  test("over a kill while D1 is down, once it is back", async () => {
    const agent = agentOf("killed");
    await run("ALTER TABLE tasks RENAME TO hidden");
    let made: Task[];
    try {
      made = await Promise.all(["hello", "fail", "hello"].map((text) => agent.sendForTask(text)));
      await worker.kill9();
      await worker.restart();
      database = await worker.index();
    } finally {
      await run("ALTER TABLE hidden RENAME TO tasks");
    }
    await until(async () => (await agent.listTasks({})).totalSize, (total) => total === 3);
    assert.deepEqual(sums(await of("killed")), { ...NOTHING, completed: 2, failed: 1 });
    // Rows that are written again, like after a crash right after the statement, are not counted again.
    await worker.kill9();
    await worker.restart();
    database = await worker.index();
    for (const { id } of made) await agent.getTask(id);
    assert.deepEqual(sums(await of("killed")), { ...NOTHING, completed: 2, failed: 1 });
  });
});

test("a finished task costs one row more, and an overview three statements that read ranges", ONLY_D1, async () => {
  // No other statement writes to this database.
  await worker.stop();
  worker = await startWorker({ vars: { AGENTS: agents(...slugs) }, notes: true });
  database = await worker.index();
  const agent = agentOf("costs");
  const written = async (work: () => Promise<unknown>) => (await causedBy(work)).map(({ rowsWritten }) => rowsWritten);
  // The first task begins the entry of its caller in task_counts.
  assert.deepEqual(await written(() => agent.sendForTask("hello")), [4]);
  assert.deepEqual(await written(() => agent.sendForTask("hello")), [3]);
  let asked = await agent.sendForTask("ask");
  assert.deepEqual(await written(() => agent.sendForTask("ask")), [3], "one that is not finished is in the index of those, and not counted");
  assert.deepEqual(await written(async () => { asked = await agent.sendForTask(followUp(asked, "red")); }), [3]);

  const ran = await causedBy(() => of("costs", "?hours=168"));
  assert.equal(ran.length, 3, JSON.stringify(ran));
  assert.ok(ran.every(({ rowsWritten }) => rowsWritten === 0));
  const hours = ran.find(({ sql }) => sql.includes("task_hours"));
  assert.ok((hours?.rowsRead ?? 9) <= 4, "the rows of this agent alone");
  const plan = async (sql: string, ...values: unknown[]) => (await run<{ detail: string }>(`EXPLAIN QUERY PLAN ${sql}`, ...values)).map(({ detail }) => detail);
  assert.deepEqual(await plan(hours?.sql ?? "", "costs", 0), ["SEARCH task_hours USING PRIMARY KEY (agent=? AND hour>?)"]);
  const unfinished = ran.find(({ sql }) => sql.includes("tasks_unfinished"))?.sql ?? "";
  const details = await plan(unfinished, "costs", 10);
  assert.ok(details.some((detail) => /SCAN tasks USING COVERING INDEX tasks_unfinished/.test(detail)), details.join());
});
