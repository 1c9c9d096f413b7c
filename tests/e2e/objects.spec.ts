// The index tells which object holds a task, where that is not the object of the task's id.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, before, describe, test } from "node:test";
import { Agent, message, until, type Task } from "./client.ts";
import { startWorker, type Database, type Worker } from "./harness.ts";

const KEPT = 3;
let worker: Worker;
let demo: Agent;
let d1: Database;

/** Starts a Worker for the tests of a block. */
function withWorker(): void {
  before(async () => {
    worker = await startWorker({ vars: { MAX_FINISHED_TASKS: String(KEPT) } });
    demo = new Agent(`${worker.url}/demo`);
    d1 = await worker.d1();
  });
  after(() => worker.stop());
}

const sendIn = (contextId: string): Promise<Task> => demo.sendForTask(message({ contextId, parts: [{ text: "hello" }] }));

async function isGone({ id }: Task): Promise<boolean> {
  return demo.getTask(id).then(
    () => false,
    ({ code }: { code: number }) => code === -32001,
  );
}

async function assertPrunes(oldest: Task): Promise<void> {
  for (let count = 0; count < KEPT; count += 1) await sendIn(randomUUID());
  await worker.cron();
  await until(() => isGone(oldest), (gone) => gone);
}

describe("a task with another id than its object", () => {
  withWorker();
  let contextId: string;
  let task: Task;
  before(async () => {
    contextId = randomUUID();
    task = await sendIn(contextId);
    await d1.prepare("UPDATE tasks SET id = 'chosen', object = id WHERE id = ?").bind(task.id).run();
  });

  test("is listed with its artifacts (§3.1.4)", async () => {
    const { tasks } = await demo.listTasks({ contextId, includeArtifacts: true });
    assert.deepEqual(tasks, [task]);
  });

  test("is deleted by the cron trigger (§3.1.3)", () => assertPrunes(task));
});

describe("with a database that was not migrated yet, as in a deploy", () => {
  withWorker();
  before(async () => {
    await d1.prepare("ALTER TABLE tasks DROP COLUMN object").run();
  });

  test("tasks are listed, with and without artifacts (§3.1.4)", async () => {
    const contextId = randomUUID();
    const task = await sendIn(contextId);
    const { artifacts, ...rest } = task;
    assert.equal(artifacts?.length, 1);
    assert.deepEqual((await demo.listTasks({ contextId })).tasks, [rest]);
    assert.deepEqual((await demo.listTasks({ contextId, includeArtifacts: true })).tasks, [task]);
  });

  test("tasks are deleted by the cron trigger (§3.1.3)", async () => {
    await assertPrunes(await sendIn(randomUUID()));
  });

  test("after the migration the same goes on (§3.1.4)", async () => {
    const contextId = randomUUID();
    const { artifacts: _, ...task } = await sendIn(contextId);
    await d1.prepare("ALTER TABLE tasks ADD COLUMN object TEXT").run();
    assert.deepEqual((await demo.listTasks({ contextId })).tasks, [task]);
  });
});
