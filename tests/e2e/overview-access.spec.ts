// Access to the overview of an agent, the parameters of a request for it, and its contents if tasks are not counted, or were
// deleted.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { Agent, logIsRead, until } from "./client.ts";
import { ONLY_D1, startWorker, type Database, type Worker } from "./harness.ts";
import { agents, HOUR_MS, hourOf, OPERATOR, overviewOf, SECRETS, sums } from "./overview.ts";

const NOTHING = { completed: 0, failed: 0, canceled: 0, rejected: 0 };

let worker: Worker;
before(async () => {
  worker = await startWorker({ vars: { ...SECRETS, AGENTS: agents("open") }, notes: true });
});
after(() => worker.stop());

const run = async <Row = Record<string, unknown>>(database: Database, sql: string, ...values: unknown[]): Promise<Row[]> =>
  (await database.prepare(sql).bind(...values).run<Row>()).results;
const statements = async (): Promise<number> => (await worker.statements()).length;

interface Refused { error: { code: number; status: string; message: string; details: { fieldViolations?: { field: string }[] }[] } }

/** Requests an overview that must be refused, without a statement. */
async function refused(path: string, headers: Record<string, string> = {}, method = "GET"): Promise<{ status: number; message: string; headers: Headers }> {
  const before = await statements();
  const response = await fetch(worker.url + path, { method, headers });
  const { error } = (await response.json()) as Refused;
  assert.equal(await statements(), before, "a refusal asks D1 nothing");
  assert.equal(error.code, response.status);
  return { status: response.status, message: error.message, headers: response.headers };
}

describe("an overview is shown", () => {
  test("to operators who ask as such, with the tasks of all callers", async () => {
    await new Agent(`${worker.url}/guarded`, { "x-api-key": SECRETS.KEY_BOB }).sendForTask("hello");
    await new Agent(`${worker.url}/guarded`, { "x-api-key": SECRETS.KEY_OPS }).sendForTask("ask");
    const shown = await overviewOf(worker, "guarded", "", OPERATOR);
    assert.deepEqual(sums(shown), { ...NOTHING, completed: 1 });
    assert.equal(shown.unfinished.inputRequired, 1);
  });

  test("not to strangers, not to callers without the permission, and not to operators who do not ask as such", async () => {
    const stranger = await refused("/guarded/overview", { "act-as": "operator" });
    assert.equal(stranger.status, 401);
    assert.match(stranger.headers.get("www-authenticate") ?? "", /ApiKey/i);
    for (const [headers, told] of [
      [{ "x-api-key": SECRETS.KEY_BOB, "act-as": "operator" }, /needs the permission operator/],
      [{ "x-api-key": SECRETS.KEY_BOB }, /send the header Act-As: operator/],
      [{ "x-api-key": SECRETS.KEY_OPS }, /send the header Act-As: operator/],
    ] as [Record<string, string>, RegExp][]) {
      const { status, message } = await refused("/guarded/overview", headers);
      assert.equal(status, 403);
      assert.match(message, told);
    }
    const line = await until(async () => worker.logs.find(({ message }) => message.includes("access denied")), (found) => found !== undefined);
    assert.match(line?.message ?? "", /"agent":"guarded","caller":/);
  });

  test("in development to everybody where an agent has no schemes, elsewhere to nobody", async () => {
    await overviewOf(worker, "open");
    await overviewOf(worker, "open", "", { "act-as": "operator" });
    const deployed = await startWorker({ vars: { ...SECRETS, AGENTS: agents("open"), DEVELOPMENT: "false" } });
    try {
      for (const headers of [{}, { "act-as": "operator" }] as Record<string, string>[]) {
        const response = await fetch(`${deployed.url}/open/overview`, { headers });
        assert.equal(response.status, 403);
        assert.match(((await response.json()) as Refused).error.message, /no schemes by which it could know one/);
      }
      await overviewOf(deployed, "guarded", "", OPERATOR);
    } finally {
      await deployed.stop();
    }
  });
});

test("a request that means something else is told what", async () => {
  for (const hours of ["0", "169", "-1", "1.5", "", "day", "9".repeat(30)]) {
    const { status, message } = await refused(`/open/overview?hours=${hours}`);
    assert.equal(status, 400);
    assert.match(message, /hours must be a whole number from 1 to 168/);
  }
  assert.match((await refused("/open/overview", { "act-as": "admin" })).message, /Act-As must be operator/);
  assert.match((await refused("/open/overview", { "act-as": "operator; owner=key:bob" })).message, /takes no owner/);
  assert.equal((await refused("/nobody/overview")).status, 404);
  const { status, headers } = await refused("/open/overview", {}, "POST");
  assert.deepEqual([status, headers.get("allow")], [405, "GET, HEAD, OPTIONS"]);
  const preflight = await fetch(`${worker.url}/open/overview`, { method: "OPTIONS" });
  assert.deepEqual([preflight.status, preflight.headers.get("allow")], [204, "GET, HEAD, OPTIONS"]);
  const head = await fetch(`${worker.url}/open/overview`, { method: "HEAD" });
  assert.deepEqual([head.status, await head.text(), head.headers.get("cache-control")], [200, "", "no-store"]);
});

test("with TASK_STATISTICS off nothing is counted, and a row costs one less", ONLY_D1, async () => {
  const quiet = await startWorker({ vars: { ...SECRETS, AGENTS: agents("open"), TASK_STATISTICS: "off" }, notes: true });
  try {
    await new Agent(`${quiet.url}/open`).sendForTask("hello");
    await new Agent(`${quiet.url}/open`).sendForTask("ask");
    const shown = await overviewOf(quiet, "open");
    assert.deepEqual([shown.counting, sums(shown), shown.unfinished.inputRequired], [false, NOTHING, 1]);
    const ran = await quiet.statements();
    assert.ok(ran.every(({ sql }) => !sql.includes("duration_ms")));
    // The first one begins the entry of its caller in task_counts.
    assert.deepEqual(ran.filter(({ sql }) => sql.startsWith("INSERT INTO tasks")).map(({ rowsWritten }) => rowsWritten), [3, 3]);
  } finally {
    await quiet.stop();
  }
});

test("counts outlive their tasks, and the cron trigger deletes hours after eight days", async () => {
  const forgetful = await startWorker({ vars: { ...SECRETS, AGENTS: agents("open"), RETENTION_MS: "1" } });
  try {
    const agent = new Agent(`${forgetful.url}/open`);
    await agent.sendForTask("hello");
    const database = await forgetful.index();
    const now = hourOf(Date.now());
    for (const days of [9, 7]) {
      await run(database, "CREATE TABLE old AS SELECT * FROM task_hours LIMIT 1");
      await run(database, "UPDATE old SET hour = ?1", now - days * 24 * HOUR_MS);
      await run(database, "INSERT INTO task_hours SELECT * FROM old");
      await run(database, "DROP TABLE old");
    }
    await forgetful.cron();
    await until(async () => (await agent.listTasks({})).totalSize, (total) => total === 0);
    assert.deepEqual(sums(await overviewOf(forgetful, "open")), { ...NOTHING, completed: 1 });
    const left = await run<{ hour: number }>(database, "SELECT hour FROM task_hours WHERE hour > 0 ORDER BY hour");
    assert.deepEqual(left.map(({ hour }) => (hour <= now - 6 * 24 * HOUR_MS)), [true, false], "that of seven days ago, and this one");
  } finally {
    await forgetful.stop();
  }
});

test("without its table, rows are written at once, and the overview says that it is not available", async () => {
  const early = await startWorker({ vars: { ...SECRETS, AGENTS: agents("open") } });
  try {
    const database = await early.index();
    for (const sql of ["DROP TRIGGER tasks_ended", "DROP TRIGGER tasks_ended_at_once", "DROP TABLE task_hours"]) await run(database, sql);
    const agent = new Agent(`${early.url}/open`);
    await agent.sendForTask("hello");
    assert.equal((await agent.listTasks({})).totalSize, 1);
    await logIsRead(early, "/open");
    assert.ok(!early.logs.some(({ message }) => /attempt \d/.test(message)), "no row was owed");
    const response = await fetch(`${early.url}/open/overview`);
    assert.equal(response.status, 503);
    assert.match(response.headers.get("retry-after") ?? "", /^\d+$/);
    assert.match(((await response.json()) as Refused).error.message, /is not available at the moment/);
  } finally {
    await early.stop();
  }
});
