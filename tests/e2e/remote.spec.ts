// An agent that is a front of a remote agent, over two and three Workers.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { Agent, followUp, isTerminal, message, received, textOf, until, type Task } from "./client.ts";
import { startWorker, type Worker } from "./harness.ts";
import { Relay } from "./relay.ts";
import { EventStream } from "./stream.ts";

/** The last Worker of the chain, whose agents work themselves; the Workers of the fronts. */
let last: Worker, middle: Worker, first: Worker;
/** The agent `demo` of the last Worker; its fronts over one hop and over two. */
let demo: Agent, near: Agent, far: Agent;

before(async () => {
  last = await startWorker({ hasDev: true });
  demo = new Agent(`${last.url}/demo`);
  middle = await startWorker({ vars: { NEXT_URL: `${last.url}/demo`, KEEP_ALIVE_MS: "1000" }, hasDev: true });
  near = new Agent(`${middle.url}/front`);
  first = await startWorker({ vars: { NEXT_URL: `${middle.url}/front` } });
  far = new Agent(`${first.url}/front`);
});
after(() => Promise.all([first, middle, last].map((worker) => worker?.stop())));

/**
 * The task of an agent that changed last, after waiting for a task that begins with this text and is not one of `others`.
 */
async function newest(agent: Agent, text: string, ...others: Task[]): Promise<Task> {
  const read = async (): Promise<Task | undefined> => {
    const [first] = (await agent.listTasks({ pageSize: 1 })).tasks;
    return first && agent.getTask(first.id);
  };
  const found = await until(read, (task) => textOf(task?.history?.[0]) === text && !others.some(({ id }) => id === task?.id));
  return found as Task;
}

const ended = (agent: Agent, id: string): Promise<Task> => until(() => agent.getTask(id), ({ status }) => isTerminal(status.state));

describe("a front of a remote agent", () => {
  test("answers as that does (§3.1.1)", async () => {
    const task = await near.sendForTask("hello");
    assert.equal(task.status.state, "TASK_STATE_COMPLETED", textOf(task.status.message));
    assert.deepEqual(task.artifacts?.map(({ artifactId, name, parts }) => [artifactId, name, parts]), [["echo", "echo", [{ text: "hello" }]]]);
    const remote = await newest(demo, "hello");
    assert.notEqual(remote.id, task.id);
    assert.deepEqual(remote.history?.map(textOf), ["hello"]);
  });

  test("streams what that streams, chunk by chunk (§3.1.2)", async () => {
    const stream = await EventStream.open(far.endpoint, "SendStreamingMessage", { message: message("chunks") });
    const events = (await stream.rest()).map(({ data }) => data.result);
    const chunks = events.flatMap((event) => event?.artifactUpdate ?? []);
    const own = await EventStream.open(demo.endpoint, "SendStreamingMessage", { message: message("chunks") });
    const expected = (await own.rest()).flatMap(({ data }) => data.result?.artifactUpdate ?? []);
    const told = (all: typeof chunks) => all.map(({ artifact, append, lastChunk }) => [artifact.artifactId, textOf(artifact), append, lastChunk]);
    assert.ok(chunks.length > 1);
    assert.deepEqual(told(chunks), told(expected));
  });

  test("keeps a conversation in one conversation there (§3.4.1)", async () => {
    const begun = await near.sendForTask("begin");
    const there = await newest(demo, "begin");
    await near.sendForTask({ contextId: begun.contextId, parts: [{ text: "again" }] });
    const again = await newest(demo, "again");
    assert.notEqual(again.id, there.id);
    assert.equal(again.contextId, there.contextId);
  });
});

describe("a chain of three Workers", () => {
  test("passes a question up and its answer down (§3.4.3)", async () => {
    const asked = await far.sendForTask("ask");
    assert.equal(asked.status.state, "TASK_STATE_INPUT_REQUIRED", textOf(asked.status.message));
    assert.equal(textOf(asked.status.message), "Which colour?");
    const { id, contextId } = await newest(demo, "ask");
    const task = await far.sendForTask(followUp(asked, "red"));
    assert.equal(task.status.state, "TASK_STATE_COMPLETED");
    assert.equal(textOf(task.status.message), "You chose red.");
    assert.deepEqual(task.history?.map(textOf), ["ask", "Which colour?", "red"]);
    const answered = await until(() => demo.listTasks({ contextId }), ({ tasks }) => tasks[0]?.status.state === "TASK_STATE_COMPLETED");
    assert.deepEqual(answered.tasks.map((one) => one.id), [id], "the answer goes to the same task");
    assert.deepEqual((await demo.getTask(id)).history?.map(textOf), ["ask", "Which colour?", "red"]);
  });

  const held: Task[] = [];
  for (const isParked of [false, true]) {
    test(`is ended by a cancel at its top${isParked ? ", also while it is parked" : ""} (§3.1.5)`, async () => {
      const { id } = await far.sendForTask("hold 600000", { returnImmediately: true });
      const tasks = await Promise.all([near, demo].map((agent) => newest(agent, "hold 600000", ...held)));
      held.push(...tasks);
      const ids = tasks.map((task, index) => [index === 0 ? near : demo, task.id] as const);
      await until(() => demo.getTask(ids[1]?.[1] ?? ""), ({ status }) => status.state === "TASK_STATE_WORKING");
      // Before a front is parked, it registers a webhook at the next agent, with the id of its own task.
      const hasWebhookOf = async ({ url }: Worker, id = ""): Promise<boolean> =>
        (await received(url)).some(({ operation, taskId }) => operation === "CreateTaskPushNotificationConfig" && taskId === id);
      if (isParked) await until(async () => (await hasWebhookOf(middle, id)) && (await hasWebhookOf(last, ids[0]?.[1])), Boolean);
      await far.cancelTask(id);
      for (const [agent, there] of ids) assert.equal((await ended(agent, there)).status.state, "TASK_STATE_CANCELED");
    });
  }

  test("is refused where it is a circle", async () => {
    // The relay leads back to the Worker itself.
    let self = "";
    const relay = await Relay.open(() => self);
    const circle = await startWorker({ vars: { MAX_DEPTH: "3", NEXT_URL: `${relay.url}/front` } });
    try {
      self = circle.url;
      const agent = new Agent(`${circle.url}/front`);
      const task = await agent.sendForTask("round and round");
      assert.equal(task.status.state, "TASK_STATE_FAILED");
      assert.match(textOf(task.status.message), /deep/);
      const { tasks } = await until(() => agent.listTasks(), (list) => list.tasks.filter(({ status }) => isTerminal(status.state)).length >= 4);
      assert.equal(tasks.length, 4, "the first, and three that were called");
      for (const { status } of tasks) assert.equal(status.state, "TASK_STATE_FAILED");
    } finally {
      await circle.stop();
      relay.close();
    }
  });
});

describe("a remote agent that is not there", () => {
  test("fails the task with the reason", async () => {
    const worker = await startWorker({ vars: { NEXT_URL: "http://127.0.0.1:9" } });
    try {
      const task = await new Agent(`${worker.url}/front`).sendForTask("hello");
      assert.equal(task.status.state, "TASK_STATE_FAILED");
      assert.match(textOf(task.status.message), /^the remote agent was not reached: /);
    } finally {
      await worker.stop();
    }
  });

  test("is named where a variable of it is not set", async () => {
    const worker = await startWorker();
    try {
      const task = await new Agent(`${worker.url}/front`).sendForTask("hello");
      assert.equal(task.status.state, "TASK_STATE_FAILED");
      assert.match(textOf(task.status.message), /next.*NEXT_URL is not set/);
    } finally {
      await worker.stop();
    }
  });
});
