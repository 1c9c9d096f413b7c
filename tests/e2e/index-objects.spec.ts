// The index in objects (INDEX = "objects") where an owner is heavy: it gets more shards while tasks begin and change, and every list stays whole. That lists,
// totals, quotas and overviews are those of D1 is shown by their own specs, which run with either (npm test -- e2e-objects).
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { Agent, followUp, message, until, type Task } from "./client.ts";
import { startWorker, testAgents, type Worker } from "./harness.ts";
import { agentsOf, SECRETS } from "./isolation.ts";
import { everyPage, ids, inOrder, list } from "./listing.ts";

let worker: Worker;
before(async () => {
  // More than ten writes in ten seconds are too many for one shard.
  worker = await startWorker({ vars: { ...SECRETS, AGENTS: agentsOf(testAgents), INDEX: "objects", INDEX_SHARD_WRITES: "1", MAX_FINISHED_TASKS: "40" } });
});
after(() => worker.stop());

const alice = () => new Agent(`${worker.url}/guarded`, { "x-api-key": SECRETS.KEY_ALICE });
const bob = () => new Agent(`${worker.url}/guarded`, { "x-api-key": SECRETS.KEY_BOB });
const operator = () => new Agent(`${worker.url}/guarded`, { "x-api-key": SECRETS.KEY_OPS, "act-as": "operator" });

/** Sends texts, some at the same time. */
async function sendAll(agent: Agent, texts: string[]): Promise<Task[]> {
  const tasks: Task[] = [];
  for (let first = 0; first < texts.length; first += 6) tasks.push(...(await Promise.all(texts.slice(first, first + 6).map((text) => agent.sendForTask(text)))));
  return tasks;
}

const statesOf = (tasks: Task[]) => Object.fromEntries(tasks.map(({ id, status }) => [id, status.state]));

/** The list of an agent is exactly these tasks, page by page, with their states and their total. */
async function listsExactly(agent: Agent, tasks: Task[]): Promise<void> {
  const found = await everyPage(agent, { pageSize: 7 });
  assert.deepEqual(ids(found), ids(inOrder(found)), "in order");
  assert.deepEqual(statesOf(found), statesOf(tasks), "each once, with its newest state");
  assert.equal(found.length, tasks.length);
  assert.equal((await list(agent, { pageSize: 1 })).totalSize, tasks.length);
}

describe("a heavy owner", () => {
  const begun: Task[] = [];

  test("keeps a whole list while it gets more shards, and others have their own", async () => {
    const asking = await sendAll(alice(), Array.from({ length: 5 }, () => "ask"));
    const texts = Array.from({ length: 70 }, (_, number) => (number % 7 === 0 ? "ask" : `text ${number}`));
    const others = await sendAll(bob(), ["one", "two"]);
    begun.push(...asking, ...(await sendAll(alice(), texts)));
    await listsExactly(alice(), begun);
    await listsExactly(bob(), others);
    assert.deepEqual(statesOf(await everyPage(operator(), { pageSize: 50 })), statesOf([...begun, ...others]));
    assert.equal((await list(operator(), { pageSize: 1 })).totalSize, begun.length + others.length);
  });

  test("has each task once after changes of tasks that began with fewer shards, also across a crash", async () => {
    const asking = begun.filter(({ status }) => status.state === "TASK_STATE_INPUT_REQUIRED");
    const half = asking.slice(0, 5);
    for (const task of half) Object.assign(task, await alice().sendForTask(followUp(task, "blue")));
    await worker.kill9();
    await worker.restart();
    for (const task of asking.slice(5, 8)) Object.assign(task, await alice().cancelTask(task.id));
    await listsExactly(alice(), begun);
    const state = "TASK_STATE_CANCELED";
    assert.equal((await list(alice(), { status: state })).totalSize, 3);
    assert.equal((await list(operator(), { status: state })).totalSize, 3);
  });

  test("spreads new tasks over its shards after a restart, and lists those of one context", async () => {
    const contextId = "of many shards";
    const said = Array.from({ length: 24 }, (_, number) => message({ contextId, parts: [{ text: `text ${number}` }] }));
    // The first list tells the instance how many shards there are.
    await list(alice());
    const tasks = await Promise.all(said.map((one) => alice().sendForTask(one)));
    begun.push(...tasks);
    const listed = await everyPage(alice(), { contextId, pageSize: 5 });
    assert.deepEqual(ids(listed).sort(), ids(tasks).sort());
    assert.equal((await list(alice(), { contextId, pageSize: 1 })).totalSize, tasks.length);
    const said1 = ids(tasks.filter((_, number) => String(number).startsWith("1")));
    const waiting = begun.filter(({ status }) => status.state === "TASK_STATE_INPUT_REQUIRED");
    for (const agent of [alice(), operator()]) {
      assert.deepEqual(ids(await everyPage(agent, { contextId, text: "TEXT 1", pageSize: 4 })).sort(), said1.sort(), "a search is over all shards");
      assert.equal((await list(agent, { text: "text 1", contextId })).totalSize, said1.length);
      assert.equal((await list(agent, { waiting: true, pageSize: 1 })).totalSize, waiting.length);
    }
    assert.equal((await list(bob(), { text: "text 1" })).totalSize, 0);
    await listsExactly(alice(), begun);
  });

  test("loses its oldest finished tasks from all shards", async () => {
    await worker.cron();
    const isFinished = ({ status }: Task) => /COMPLETED|CANCELED|FAILED|REJECTED/.test(status.state);
    const unfinished = begun.filter((task) => !isFinished(task));
    const all = await until(() => everyPage(operator(), { pageSize: 100 }), (tasks) => tasks.filter(isFinished).length <= 40);
    assert.equal(all.filter(isFinished).length, 40);
    assert.deepEqual(all.filter((task) => !isFinished(task)).map(({ id }) => id).sort(), ids(unfinished).sort());
    const newest = inOrder([...begun].filter(isFinished)).slice(0, 30);
    const left = new Set(ids(all));
    assert.deepEqual(newest.filter(({ id }) => !left.has(id)), [], "the newest are kept");
    await assert.rejects(alice().getTask(inOrder(begun.filter(isFinished)).at(-1)?.id ?? ""), ({ code }: { code: number }) => code === -32001);
  });
});
