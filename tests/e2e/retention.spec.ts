// How long a task is kept after it has ended.
import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { after, before, test } from "node:test";
import { Agent, RpcError, followUp, until, type Task } from "./client.ts";
import { startWorker, type Worker } from "./harness.ts";

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

/** The ids of the tasks that are listed. */
async function listed(): Promise<string[]> {
  const { tasks } = await demo.call<{ tasks: Task[] }>("ListTasks", { pageSize: 100 });
  return tasks.map(({ id }) => id);
}

/** Waits until a task is not listed any more, which does not wake it. */
async function untilGone(id: string): Promise<void> {
  await until(listed, (ids) => !ids.includes(id));
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
