// With MAX_FINISHED_TASKS, only the newest finished tasks of an agent are kept. The cron trigger finds the others, and the queue
// of deletions removes them from their objects and from the index.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { Agent, followUp, logIsRead, until, type Task } from "./client.ts";
import { startWorker, type Worker } from "./harness.ts";

const KEPT = 5;
let worker: Worker;
let demo: Agent;
let tools: Agent;
before(async () => {
  worker = await startWorker({ vars: { MAX_FINISHED_TASKS: String(KEPT) } });
  demo = new Agent(`${worker.url}/demo`);
  tools = new Agent(worker.url);
});
after(() => worker.stop());

/** For each task, true if it can be read. */
async function present(agent: Agent, tasks: Task[]): Promise<boolean[]> {
  return Promise.all(
    tasks.map(({ id }) =>
      agent.getTask(id).then(
        () => true,
        (error: { code: number }) => {
          assert.equal(error.code, -32001, "deleted is not found");
          return false;
        },
      ),
    ),
  );
}

/** Fires the trigger, and waits until the agent has this number of tasks left. */
async function cleanUp(left: number): Promise<void> {
  await worker.cron();
  await until(async () => (await demo.listTasks({})).totalSize, (total) => total === left);
}

/** The number of tasks that the triggers have found so far. */
async function found(): Promise<number> {
  await logIsRead(worker, "");
  const lines = worker.logs.map(({ message }) => /^(\d+) finished tasks are to be deleted/.exec(message)?.[1]);
  return lines.reduce((sum, count) => sum + Number(count ?? 0), 0);
}

async function sendInTurn(texts: string[]): Promise<Task[]> {
  const tasks = [];
  for (const text of texts) tasks.push(await demo.sendForTask(text));
  return tasks;
}

describe("the cron trigger", () => {
  test("deletes the oldest finished tasks of an agent, never unfinished ones (§3.1.3)", async () => {
    const asked = await sendInTurn(["ask", "ask"]);
    const finished = await sendInTurn(Array.from({ length: 12 }, (_, index) => `task ${index}`));
    const others = await Promise.all([1, 2, 3].map(() => tools.sendForTask("hello")));
    await cleanUp(asked.length + KEPT);

    assert.deepEqual(await present(demo, finished), [...Array(7).fill(false), ...Array(KEPT).fill(true)]);
    assert.deepEqual(await present(demo, asked), [true, true]);
    assert.deepEqual(await present(tools, others), [true, true, true], "other agents have their own limit");
    const { tasks, totalSize } = await demo.listTasks({});
    const left = [...asked, ...finished.slice(7)].map(({ id }) => id);
    assert.deepEqual(tasks.map(({ id }) => id).sort(), left.sort());
    assert.equal(totalSize, left.length);

    const gone = finished[0] as Task;
    await assert.rejects(demo.send(followUp(gone, "more")), { code: -32001 });
    await assert.rejects(demo.cancelTask(gone.id), { code: -32001 });
    const ended = await demo.sendForTask(followUp(asked[0] as Task, "red"));
    assert.equal(ended.status.state, "TASK_STATE_COMPLETED");
  });

  test("deletes nothing more when it fires again, nor after a restart (§3.1.3)", async () => {
    await cleanUp(KEPT + 1);
    const { tasks } = await demo.listTasks({});
    const before = await found();
    await worker.cron();
    assert.equal(await found(), before);
    await worker.restart();
    await worker.cron();
    assert.equal(await found(), before);
    assert.deepEqual((await demo.listTasks({})).tasks.map(({ id }) => id), tasks.map(({ id }) => id));
  });

  test("takes the row of a task away that is gone already (§3.1.4)", async () => {
    const gone = await unusedId();
    const database = await worker.index();
    const { id } = await demo.sendForTask("newest");
    await cleanUp(KEPT + 1);
    // A row of a task that its object does not contain, older than all others.
    await database
      .prepare(
        "INSERT INTO tasks (owner, agent, status_ms, id, context_id, state, generation, head, history) SELECT owner, agent, 1, ?1, context_id, state, generation, head, history FROM tasks WHERE id = ?2",
      )
      .bind(gone, id)
      .run();
    const before = (await demo.listTasks({})).totalSize ?? 0;
    await cleanUp(before - 1);
  });

  test("of an index that does not answer does no harm (§3.1.4)", async () => {
    const finished = await sendInTurn(Array.from({ length: KEPT + 2 }, (_, index) => `later ${index}`));
    const database = await worker.index();
    await database.prepare("ALTER TABLE tasks RENAME TO away").run();
    await worker.cron();
    assert.deepEqual(await present(demo, finished), Array(KEPT + 2).fill(true));
    await database.prepare("ALTER TABLE away RENAME TO tasks").run();
    await cleanUp(KEPT + 1);
    assert.deepEqual(await present(demo, finished), [false, false, ...Array(KEPT).fill(true)]);
  });
});

/** The id of an object whose task was deleted. */
async function unusedId(): Promise<string> {
  const { id } = await demo.sendForTask("to be deleted");
  await sendInTurn(Array.from({ length: KEPT + 1 }, (_, index) => `filler ${index}`));
  await cleanUp(KEPT + 1);
  await assert.rejects(demo.getTask(id), { code: -32001 });
  return id;
}
