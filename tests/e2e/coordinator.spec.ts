// A coordinator of agents of its own Worker and elsewhere, with the scripted model of development (reference/client.md, section 5).
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Agent, isTerminal, textOf, until, type Task } from "./client.ts";
import { withCoordinators } from "./coordinators.ts";
import { startWorker, testAgents, type Worker } from "./harness.ts";
import type { Timeline } from "./timelines.ts";

let worker: Worker;
before(async () => {
  // No server listens at this URL.
  worker = await startWorker({ vars: { AGENTS: withCoordinators(testAgents), NEXT_URL: "http://127.0.0.1:9" }, hasDev: true });
});
after(() => worker.stop());

const of = (slug: string): Agent => new Agent(`${worker.url}/${slug}`);
const said = ({ artifacts }: Task): string => textOf(artifacts?.find(({ artifactId }) => artifactId === "answer"));
const tasksOf = async (slug: string): Promise<Task[]> => (await of(slug).listTasks({ includeArtifacts: true })).tasks;

test("two agents are asked at once, the question of one is handed to the user, and the answer goes back", async () => {
  const asked = await of("planner").sendForTask("Will it rain in Rome, and book a train to Rome");
  assert.equal(asked.status.state, "TASK_STATE_INPUT_REQUIRED", textOf(asked.status.message));
  assert.equal(textOf(asked.status.message), "On which day?");
  const ended = await of("planner").sendForTask({ taskId: asked.id, parts: [{ text: "Monday" }] });
  assert.equal(ended.status.state, "TASK_STATE_COMPLETED", textOf(ended.status.message));
  assert.match(said(ended), /It is sunny\./);
  assert.match(said(ended), /Booked for Monday\./);
  const [weather, trains] = [await until(() => tasksOf("weather"), ({ length }) => length > 0), await until(() => tasksOf("trains"), ({ length }) => length > 0)];
  assert.deepEqual([weather.length, trains.length], [1, 1]);
  assert.notEqual(weather[0]?.contextId, trains[0]?.contextId, "each agent has a conversation of its own");
  const timelineOf = (slug: string, id: string) => of(slug).call<Timeline>("GetTaskTimeline", { id, pageSize: 100 });
  const given = (await timelineOf("planner", asked.id)).entries.flatMap(({ task }) => (task === undefined ? [] : [`${task.agent} ${task.id}`]));
  assert.deepEqual(given.sort(), [`trains ${trains[0]?.id}`, `trains ${trains[0]?.id}`, `weather ${weather[0]?.id}`], "the timeline leads to the tasks");
  const askedBy = (await timelineOf("trains", trains[0]?.id ?? "")).entries.flatMap(({ kind, askedBy }) => (kind === "run" ? [askedBy] : []));
  assert.deepEqual(askedBy, [{ agent: "planner", id: asked.id }, { agent: "planner", id: asked.id }], "and theirs lead back");
});

test("a cancel reaches the task that an agent was given", async () => {
  const begun = await of("dreamer").sendForTask("Dream of something", { returnImmediately: true });
  const [given] = await until(() => tasksOf("sleeper"), (tasks) => tasks.length > 0);
  await of("dreamer").cancelTask(begun.id);
  const canceled = await until(() => of("sleeper").getTask(given?.id ?? "none"), ({ status }) => isTerminal(status.state));
  assert.equal(canceled.status.state, "TASK_STATE_CANCELED");
});

test("a circle of agents ends with a refusal that says why", async () => {
  const task = await of("circle").sendForTask("Turn round");
  assert.equal(task.status.state, "TASK_STATE_COMPLETED", textOf(task.status.message));
  assert.match(said(task), /agents may call each other 8 deep/);
});

test("an agent that is down is left out, and the others work", async () => {
  const task = await of("lame").sendForTask("Will it rain?");
  assert.equal(task.status.state, "TASK_STATE_COMPLETED", textOf(task.status.message));
  assert.match(said(task), /It is sunny\./);
});
