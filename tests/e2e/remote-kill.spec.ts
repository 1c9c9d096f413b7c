// A front of a remote agent whose process is killed at the important points, while the remote agent continues. Afterwards the
// remote agent has exactly one task, and the front has all of its events.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { Agent, followUp, isTerminal, textOf, until, type Task } from "./client.ts";
import { startWorker, type Worker } from "./harness.ts";
import { Relay } from "./relay.ts";

let remote: Worker, worker: Worker, relay: Relay;
/** The remote agent, and its front. */
let demo: Agent, front: Agent;

before(async () => {
  remote = await startWorker();
  demo = new Agent(`${remote.url}/demo`);
  relay = await Relay.open(() => remote.url);
  worker = await startWorker({ vars: { NEXT_URL: `${relay.url}/demo`, KEEP_ALIVE_MS: "1000" } });
  front = new Agent(`${worker.url}/front`);
});
after(async () => {
  await Promise.all([worker?.stop(), remote?.stop()]);
  relay?.close();
});

async function killAndRestart(): Promise<void> {
  await worker.kill9();
  await worker.restart();
}

/** The tasks of the remote agent that began with this text. */
async function begunBy(text: string): Promise<Task[]> {
  const { tasks } = await demo.listTasks({ pageSize: 100 });
  const whole = await Promise.all(tasks.map(({ id }) => demo.getTask(id)));
  return whole.filter(({ history }) => textOf(history?.[0]) === text);
}

const begin = (text: string): Promise<Task> => front.sendForTask(text, { returnImmediately: true });
const ended = (agent: Agent, id: string): Promise<Task> => until(() => agent.getTask(id), ({ status }) => isTerminal(status.state));

/** Asserts that the task of the front equals the only task of the remote agent. */
async function assertMirrored(id: string, text: string): Promise<Task> {
  const task = await ended(front, id);
  const [there, ...others] = await until(() => begunBy(text), ([first]) => first?.status.state === task.status.state);
  assert.deepEqual(others, [], "one task there");
  assert.ok(there !== undefined);
  const told = ({ status, history, artifacts }: Task) => [status.state, textOf(status.message), history?.map(textOf), artifacts?.map(textOf)];
  assert.deepEqual(told(task), told(there));
  return task;
}

describe("a front whose process is killed", () => {
  test("before the send sends", async () => {
    const stopped = relay.stop("SendStreamingMessage", "request");
    const { id } = await begin("before the send");
    await stopped;
    await killAndRestart();
    const task = await assertMirrored(id, "before the send");
    assert.equal(task.status.state, "TASK_STATE_COMPLETED");
  });

  test("behind the send, and before it knows its task, finds that", async () => {
    const stopped = relay.stop("SendStreamingMessage", "answer");
    const sends = relay.count("SendStreamingMessage");
    const { id } = await begin("behind the send");
    await stopped;
    await killAndRestart();
    await assertMirrored(id, "behind the send");
    assert.equal(relay.count("SendStreamingMessage"), sends + 1, "it is not sent again");
  });

  test("in the middle of the stream goes on with it", async () => {
    const stopped = relay.stop("SendStreamingMessage", 4);
    const { id } = await begin("count 6 every 300");
    await stopped;
    await killAndRestart();
    await assertMirrored(id, "count 6 every 300");
  });

  test("at a question takes the answer to the task that asked", async () => {
    const { id } = await front.sendForTask("ask");
    await killAndRestart();
    const task = await front.getTask(id);
    assert.equal(task.status.state, "TASK_STATE_INPUT_REQUIRED");
    await front.sendForTask(followUp(task, "red"));
    assert.deepEqual((await assertMirrored(id, "ask")).artifacts?.map(textOf), ["red"]);
  });

  test("behind the answer does not answer twice", async () => {
    const tasks = (await begunBy("ask")).length;
    const asked = await front.sendForTask("ask");
    const stopped = relay.stop("SendStreamingMessage", "answer");
    await front.sendForTask(followUp(asked, "blue"), { returnImmediately: true });
    await stopped;
    await killAndRestart();
    const task = await ended(front, asked.id);
    assert.deepEqual(task.artifacts?.map(textOf), ["blue"]);
    const there = await until(() => begunBy("ask"), ({ length }) => length > tasks);
    assert.equal(there.length, tasks + 1);
    const answered = there.find(({ artifacts }) => textOf(artifacts?.[0]) === "blue");
    assert.deepEqual(answered?.history?.map(textOf), ["ask", "Which colour?", "blue"]);
    assert.deepEqual(task.history?.map(textOf), ["ask", "Which colour?", "blue"]);
  });

  test("behind the end there, and before its own is stored, ends likewise", async () => {
    const stopped = relay.stop("SendStreamingMessage", 1);
    const { id } = await begin("behind the end");
    await stopped;
    await until(() => begunBy("behind the end"), ([there]) => there !== undefined && isTerminal(there.status.state));
    await killAndRestart();
    await assertMirrored(id, "behind the end");
  });

  test("during a cancel cancels all the same", async () => {
    const { id } = await begin("hold 600001");
    await until(() => begunBy("hold 600001"), ([there]) => there?.status.state === "TASK_STATE_WORKING");
    await until(() => front.getTask(id), ({ status }) => status.state === "TASK_STATE_WORKING");
    const stopped = relay.stop("CancelTask", "request");
    await front.cancelTask(id);
    await stopped;
    await killAndRestart();
    const [there] = await until(() => begunBy("hold 600001"), ([task]) => task !== undefined && isTerminal(task.status.state));
    assert.equal(there?.status.state, "TASK_STATE_CANCELED");
    assert.equal((await front.getTask(id)).status.state, "TASK_STATE_CANCELED");
  });
});
