// Runs that exceed a time limit: that of the client, that of the agent, or the idle limit; also if the process was not
// running at that time.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Agent, isTerminal, textOf, until, untilEnded, type Task } from "./client.ts";
import { startWorker, testAgents, type Worker } from "./harness.ts";
import { Sink } from "./sink.ts";
import { artifactOf, logOf, tell, undisturbed, wrongLog } from "./steps.ts";

let sink: Sink;
let worker: Worker;
let faults: Agent;
let hurried: Agent;
before(async () => {
  sink = await Sink.open();
  worker = await startWorker({ vars: { KEEP_ALIVE_MS: "1000", AGENTS: withTime() } });
  faults = new Agent(`${worker.url}/faults`);
  hurried = new Agent(`${worker.url}/hurried`);
});
after(async () => {
  sink.close();
  await worker.stop();
});

/** The agents of the tests; `hurried` gets enough time to reach its third step on a busy machine. */
function withTime(): string {
  const { agents, ...built } = JSON.parse(testAgents) as { agents: { slug: string; executor: { run: object } }[] };
  for (const { slug, executor } of agents) if (slug === "hurried") executor.run = { timeout_ms: 10_000, idle_timeout_ms: 4_000 };
  return JSON.stringify({ ...built, agents });
}

let paths = 0;

/** Begins a run of ten steps that is held in the third, and waits for that. */
async function beginHeld(agent: Agent, deeds: "hold"[] = ["hold"]): Promise<{ id: string; path: string }> {
  paths += 1;
  const path = `/run-${paths}`;
  sink.plan(`${path}/3`, ...deeds);
  const { id } = await agent.sendForTask(`steps 10 ${sink.url}${path}`, { returnImmediately: true });
  await sink.arrival(`${path}/3`);
  return { id, path };
}

/** Waits until a task is listed as ended; listing does not wake the task. */
async function untilListedAsEnded(agent: Agent, id: string): Promise<void> {
  const find = async () => (await agent.call<{ tasks: Task[] }>("ListTasks", { pageSize: 100 })).tasks.find((task) => task.id === id);
  await until(find, (task) => task !== undefined && isTerminal(task.status.state));
}

function patient(milliseconds: number): Agent {
  return new Agent(faults.endpoint, { "run-timeout-ms": String(milliseconds) });
}

test("a run that takes longer than its client wants fails and says so", async () => {
  const { id } = await beginHeld(patient(4_000));
  const ended = await untilEnded(faults, id);
  assert.equal(ended.status.state, "TASK_STATE_FAILED");
  assert.equal(textOf(ended.status.message), "task timed out after 4000 ms");
  assert.equal(textOf(ended.artifacts?.[0]), artifactOf(2), "what was done before stays");
  const log = await logOf(faults.endpoint, id);
  assert.deepEqual(log.map(tell), [...undisturbed(10).slice(0, 6), "FAILED task timed out after 4000 ms"]);
  assert.deepEqual(wrongLog(log), []);
});

test("a blocking send is answered with the task that took too long", async () => {
  const path = "/blocking";
  sink.plan(`${path}/1`, "hold");
  const task = await patient(700).sendForTask(`steps 10 ${sink.url}${path}`);
  assert.equal(task.status.state, "TASK_STATE_FAILED");
  assert.equal(textOf(task.status.message), "task timed out after 700 ms");
});

test("a run whose time was over while the process was down fails when it is back, asked for or not", async () => {
  const [asked, unasked] = await Promise.all([beginHeld(patient(4_000)), beginHeld(patient(4_000))]);
  await worker.kill9();
  const over = Date.now() + 4_000;
  await until(async () => Date.now(), (now) => now > over);
  await worker.restart();
  await untilEnded(faults, asked.id);
  await untilListedAsEnded(faults, unasked.id);
  for (const { id, path } of [asked, unasked]) {
    const task = await faults.getTask(id);
    assert.equal(task.status.state, "TASK_STATE_FAILED");
    assert.equal(textOf(task.status.message), "task timed out after 4000 ms");
    assert.equal(sink.arrivals(path).length, 3, "it was not taken up again");
  }
});

test("all attempts share the time of a run", async () => {
  const { id, path } = await beginHeld(patient(8_000), ["hold", "hold"]);
  await worker.kill9();
  await worker.restart();
  const ended = await untilEnded(faults, id);
  assert.equal(ended.status.state, "TASK_STATE_FAILED");
  assert.equal(textOf(ended.status.message), "task timed out after 8000 ms");
  assert.equal(sink.count(`${path}/4`), 0);
});

test("a run that takes longer than its agent may fails, whatever the client wants", async () => {
  const impatient = new Agent(hurried.endpoint, { "run-timeout-ms": "60000" });
  const begun = await Promise.all([hurried, impatient].map((agent) => agent.sendForTask("count 1000 every 100", { returnImmediately: true })));
  for (const { id } of begun) {
    const ended = await untilEnded(hurried, id);
    assert.equal(ended.status.state, "TASK_STATE_FAILED");
    assert.equal(textOf(ended.status.message), "task timed out after 10000 ms");
  }
});

test("a run that does nothing for too long fails and says so", async () => {
  const { id } = await beginHeld(hurried);
  const ended = await untilEnded(hurried, id);
  assert.equal(ended.status.state, "TASK_STATE_FAILED");
  assert.equal(textOf(ended.status.message), "the agent made no progress for 4000 ms");
  assert.equal(textOf(ended.artifacts?.[0]), artifactOf(2));
});
