// A coordinator of agents of its own Worker and elsewhere, with the scripted model of development (reference/client.md, section 5).
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Agent, isTerminal, textOf, until, type Task } from "./client.ts";
import { startWorker, testAgents, type Worker } from "./harness.ts";

type Embedded = { slug: string; card: string } & Record<string, unknown>;

/** Agents in addition to those of tests/agents: copies of `demo` with other cards and executors. */
function agents(): string {
  const { agents, ...built } = JSON.parse(testAgents) as { agents: Embedded[] };
  const demo = agents.find(({ slug }) => slug === "demo");
  assert.ok(demo);
  const made = (slug: string, description: string, executor: object): Embedded => {
    const card = JSON.parse(demo.card.replaceAll("/demo", `/${slug}`)) as object;
    const shown = { ...card, name: slug, description, skills: [{ id: "do", name: "Do", description, tags: [] }] };
    return { ...demo, slug, default: false, card: JSON.stringify(shown), executor: { run: {}, ...executor } };
  };
  const script = (rules: object[]): object => ({ kind: "script", table: { rules } });
  const model = (names: string[]): object => ({ kind: "model", table: { model: "scripted", base_url: "dev:model", agents: names } });
  const asks = {
    then: [{ do: "working" }, { do: "input_required", text: "On which day?" }],
    follow_up: [{ then: [{ do: "artifact", text: "Booked for {text}." }, { do: "complete" }] }],
  };
  const more = [
    made("weather", "Forecasts rain.", script([{ then: [{ do: "artifact", text: "It is sunny." }, { do: "complete" }] }])),
    made("trains", "Books seats.", script([asks])),
    made("sleeper", "Dreams.", script([{ then: [{ do: "working" }, { do: "wait", ms: 600000 }, { do: "complete" }] }])),
    made("planner", "Plans.", model(["weather", "trains"])),
    made("dreamer", "Sleeps.", model(["sleeper", "weather"])),
    made("circle", "Turns round.", model(["circle"])),
    made("lame", "Plans, too.", model(["weather", "next"])),
  ];
  return JSON.stringify({ ...built, agents: [...agents, ...more] });
}

let worker: Worker;
before(async () => {
  // No server listens at this URL.
  worker = await startWorker({ vars: { AGENTS: agents(), NEXT_URL: "http://127.0.0.1:9" }, hasDev: true });
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
