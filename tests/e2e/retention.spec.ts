// The retention of ended tasks: the cron trigger finds expired tasks in the index, and the queue of deletions removes them.
import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { after, before, test } from "node:test";
import { randomUUID } from "node:crypto";
import { Agent, RpcError, followUp, until, type Task } from "./client.ts";
import { ONLY_D1, startWorker, testAgents, type Worker } from "./harness.ts";
import { blockObject } from "./sabotage.ts";

let storage: string;
let worker: Worker;
let demo: Agent;
before(async () => {
  storage = mkdtempSync(join(tmpdir(), "a2a-edge-retention-"));
  worker = await startWorker({ persist: storage, vars: { RETENTION_MS: "2000", KEEP_ALIVE_MS: "1000" } });
  demo = new Agent(`${worker.url}/demo`);
});
after(async () => {
  await worker.stop();
  rmSync(storage, { recursive: true, force: true });
});

/** The ids of the listed tasks. */
async function listed(): Promise<string[]> {
  const { tasks } = await demo.call<{ tasks: Task[] }>("ListTasks", { pageSize: 100 });
  return tasks.map(({ id }) => id);
}

/** Fires the trigger repeatedly until a task is not listed any more; listing does not wake it. */
async function untilGone(id: string): Promise<void> {
  await until(
    async () => {
      await worker.cron();
      return listed();
    },
    (ids) => !ids.includes(id),
  );
}

/** Sends a task and makes it expire. */
async function expired(text = "hello"): Promise<Task> {
  const task = await demo.sendForTask(text);
  await (await worker.index()).prepare("UPDATE tasks SET status_ms = 1 WHERE id = ?").bind(task.id).run();
  return task;
}

/** The number of rows of the index that match a condition. */
async function count(condition: string): Promise<number> {
  const counted = await (await worker.index()).prepare(`SELECT count(*) AS number FROM tasks WHERE ${condition}`).run<{ number: number }>();
  return counted.results[0]?.number ?? 0;
}

/** The tables in the file of an object, without those of the platform. */
function tablesOf(id: string): string[] {
  const files = readdirSync(storage, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(`${id}.sqlite`));
  return files.flatMap((file) => {
    if (!existsSync(join(storage, file))) return [];
    const database = new DatabaseSync(join(storage, file), { readOnly: true });
    const tables = database.prepare("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE '\\_cf\\_%' ESCAPE '\\' AND name NOT LIKE 'sqlite%'").all();
    database.close();
    return tables.map(({ name }) => String(name));
  });
}

const notFound = (error: unknown) => error instanceof RpcError && error.code === -32001;

test("a finished task is gone when its time is over, from everywhere (§3.1.3, §3.1.4)", async () => {
  const kinds = ["hello", "fail", "reject"];
  const tasks = await Promise.all(kinds.map((text) => demo.sendForTask(text)));
  const canceled = await demo.cancelTask((await demo.sendForTask("ask")).id);
  const asked = await demo.sendForTask("ask");
  const ended = [...tasks, canceled];
  const before = await listed();
  for (const { id } of [...ended, asked]) assert.ok(before.includes(id), "it is listed until then");
  assert.ok(ended.every(({ id }) => tablesOf(id).includes("log")), "and stored");
  for (const { id } of ended) await untilGone(id);
  for (const { id } of ended) {
    await assert.rejects(demo.getTask(id), notFound);
    await assert.rejects(demo.cancelTask(id), notFound);
    await until(async () => tablesOf(id), (tables) => tables.length === 0);
  }
  assert.deepEqual(await demo.getTask(asked.id), asked, "a task that waits for its client stays");
  assert.ok((await listed()).includes(asked.id));

  const answered = await demo.sendForTask(followUp(asked, "red"));
  assert.equal(answered.status.state, "TASK_STATE_COMPLETED");
  await untilGone(asked.id);
  await assert.rejects(demo.getTask(asked.id), notFound);
});

test("a restart does not forget the time of a task that nobody asks for", async () => {
  for (const lose of [() => worker.restart(), () => worker.kill9().then(() => worker.restart())]) {
    const { id } = await demo.sendForTask("hello");
    await lose();
    await untilGone(id);
    await assert.rejects(demo.getTask(id), notFound);
  }
});

test("tasks of any number of callers are found (§3.1.4)", ONLY_D1, async () => {
  const d1 = await worker.index();
  // Enough tasks for several pages, of more callers than one statement covers; no object contains them.
  await d1
    .prepare(
      "WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 2600) " +
        "INSERT INTO tasks (owner, agent, status_ms, id, context_id, state, generation, head, history) " +
        "SELECT 'caller ' || (n % 2200), 'demo', n, 'task ' || n, 'many', CASE WHEN n % 1300 = 0 THEN 6 ELSE 3 END, 1, '{}', '' FROM numbers",
    )
    .run();
  assert.equal(await count("context_id = 'many'"), 2600);
  await worker.cron();
  await until(() => count("context_id = 'many'"), (left) => left === 2);
  assert.equal(await count("context_id = 'many' AND state = 6"), 2, "those that wait for their clients stay");
  await d1.prepare("DELETE FROM tasks WHERE context_id = 'many'").run();
});

test("the object decides: a task that is not finished stays, whatever the index says (§3.1.3)", async () => {
  const asked = await demo.sendForTask("ask");
  const d1 = await worker.index();
  await d1.prepare("UPDATE tasks SET state = 3, status_ms = 1 WHERE id = ?").bind(asked.id).run();
  const { id } = await expired();
  await untilGone(id);
  assert.deepEqual(await demo.getTask(asked.id), asked);
  const answered = await demo.sendForTask(followUp(asked, "red"));
  assert.equal(answered.status.state, "TASK_STATE_COMPLETED");
});

test("jobs that come twice, too late or cannot be read do no harm (§3.1.3)", async () => {
  const [twice, late] = [await demo.sendForTask("hello"), await demo.sendForTask("hello")];
  const place = ({ id, status }: Task) => ({ task: id, owner: "anonymous", agent: "demo", statusMs: Date.parse(status.timestamp ?? "") });
  const job = (task: Task, until: number): string => JSON.stringify({ delete: [place(task), place(task), { ...place(task), task: randomUUID() }], until });
  await worker.enqueue("DELETIONS", "nonsense");
  await worker.enqueue("DELETIONS", job(late, Date.now() - 1));
  for (const _ of [1, 2]) await worker.enqueue("DELETIONS", job(twice, Date.now() + 60_000));
  await until(listed, (ids) => !ids.includes(twice.id));
  assert.deepEqual(await demo.getTask(late.id), late);
  await untilGone(late.id);
});

test("of a job that an older version has put into the queue, the row goes with the next trigger (§3.1.4)", async () => {
  const { id } = await demo.sendForTask("hello");
  await worker.enqueue("DELETIONS", JSON.stringify({ delete: [{ task: id }], until: Date.now() + 60_000 }));
  await until(() => demo.getTask(id).then(() => false, notFound), (isGone) => isGone);
  await untilGone(id);
});

test("while D1 does not answer nothing is deleted, and afterwards everything (§3.1.4)", async () => {
  const { id } = await expired();
  const d1 = await worker.index();
  await d1.prepare("ALTER TABLE tasks RENAME TO away").run();
  await worker.cron();
  await until(async () => worker.logs.filter(({ message }) => message.includes("old tasks cannot be deleted now")), (lines) => lines.length > 0);
  await demo.getTask(id);
  await d1.prepare("ALTER TABLE away RENAME TO tasks").run();
  await untilGone(id);
});

test("an object that cannot be reached keeps no other task from being deleted (§3.1.4)", async () => {
  const [blocked, other] = [await expired(), await expired()];
  await worker.kill9();
  blockObject(storage, blocked.id);
  await worker.restart();
  await untilGone(other.id);
  assert.ok((await listed()).includes(blocked.id), "it is tried again the next time");
});

test("a restart before the time changes nothing for a task", async () => {
  const keeper = await startWorker({ vars: { RETENTION_MS: "600000" } });
  try {
    const agent = new Agent(`${keeper.url}/demo`);
    const task = await agent.sendForTask("hello");
    await keeper.kill9();
    await keeper.restart();
    assert.deepEqual(await agent.getTask(task.id), task);
  } finally {
    await keeper.stop();
  }
});

test("the file of an agent names another time, or another number, than the settings (§3.1.3)", async () => {
  const embedded = JSON.parse(testAgents) as { agents: { slug: string; default?: boolean }[] };
  const demoAgent = embedded.agents.find(({ slug }) => slug === "demo");
  const agents = Object.entries({ short: { retention_ms: 1 }, kept: { retention_ms: 0 }, few: { max_finished: 2 }, all: { max_finished: 0 } })
    .map(([slug, retention]) => ({ ...demoAgent, slug, default: false, retention }));
  const AGENTS = JSON.stringify({ ...embedded, agents: [...embedded.agents, ...agents] });
  const own = await startWorker({ vars: { AGENTS, RETENTION_MS: "86400000", MAX_FINISHED_TASKS: "3" } });
  try {
    const of = (slug: string) => new Agent(`${own.url}/${slug}`);
    const send = async (slug: string, count: number) => {
      for (let nth = 0; nth < count; nth++) await of(slug).sendForTask("hello");
    };
    await Promise.all([send("short", 1), send("kept", 1), send("few", 4), send("all", 5), send("demo", 2)]);
    // A day is over for these.
    await (await own.index()).prepare("UPDATE tasks SET status_ms = 1 WHERE agent = 'kept'").run();
    const [old] = (await of("demo").listTasks()).tasks;
    await (await own.index()).prepare("UPDATE tasks SET status_ms = 1 WHERE id = ?").bind(old?.id ?? "").run();
    const totals = () => Promise.all(["short", "kept", "few", "all", "demo"].map(async (slug) => (await of(slug).listTasks()).totalSize));
    await until(async () => {
      await own.cron();
      return totals();
    }, (left) => left.join() === "0,1,2,5,1");
    assert.equal((await of("kept").listTasks()).tasks.length, 1, "it is kept for ever");
  } finally {
    await own.stop();
  }
});
