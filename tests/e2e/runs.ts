// Runs of ten steps that specs begin and interrupt. Each block of tests has its own Worker and sink.

import assert from "node:assert/strict";
import { after, afterEach, before } from "node:test";
import { Agent, isTerminal, textOf, until, type Task } from "./client.ts";
import { startWorker, type Worker } from "./harness.ts";
import { Sink } from "./sink.ts";
import { Speaker, speakingAll, type Version } from "./speech.ts";
import { artifactOf, logOf, tell, undisturbed, wrongLog, wrongSteps, wrongWords } from "./steps.ts";
import type { StreamEvent } from "./stream.ts";

export const STEPS = 10;

/** The numbers of the steps, from 1 on. */
export const numbers = Array.from({ length: STEPS }, (_, index) => index + 1);

// The next three belong to the latest block: see `withWorker`.
/** The server that the steps call. */
export let sink: Sink;
export let worker: Worker;
/** The agent `faults`, whose runs work in steps. */
export let faults: Agent;

/** Runs the tests of a block with their own Worker, which has these variables. */
export function withWorker(vars: Record<string, string>): void {
  before(async () => {
    sink = await Sink.open();
    worker = await startWorker({ vars: { AGENTS: speakingAll(), KEEP_ALIVE_MS: "1000", ...vars } });
    faults = new Agent(`${worker.url}/faults`);
  });
  afterEach(() => sink.forgetPlans());
  after(async () => {
    await worker.stop();
    sink.close();
  });
}

/** Ends the process like a crash of the machine, and starts it again. */
export async function killAndRestart(): Promise<void> {
  await worker.kill9();
  await worker.restart();
}

let paths = 0;

/** An unused path of the sink. */
export function freshPath(): string {
  paths += 1;
  return `/run-${paths}`;
}

/** A task that works in steps, and the path of the sink that its steps call. */
export interface Run {
  id: string;
  path: string;
  /** The version of the run's client, if not 1.0. */
  version?: Version;
}

/** Begins a run of ten steps; the sink holds the steps in `held` when they arrive the first time. */
export async function begin({ held, agent = faults, version }: { held: number[]; agent?: Agent; version?: Version }): Promise<Run> {
  const path = freshPath();
  for (const step of held) sink.plan(`${path}/${step}`, "hold");
  const speaker = version === undefined ? agent : new Speaker(agent.endpoint, version);
  const { id } = await speaker.sendForTask(`steps ${STEPS} ${sink.url}${path}`, { returnImmediately: true });
  return { id, path, ...(version === undefined ? {} : { version }) };
}

/** Waits until all these tasks are listed as ended; listing does not wake them. */
export async function untilListedAsEnded(ids: string[], agent = faults): Promise<void> {
  // If a panic ends the isolate, an open request in it is never answered.
  const list = () => agent.call<{ tasks: Task[] }>("ListTasks", { pageSize: 100 }, AbortSignal.timeout(2_000));
  const ended = () => list().then(({ tasks }) => tasks.filter(({ status }) => isTerminal(status.state)).map(({ id }) => id), (): string[] => []);
  await until(ended, (found) => ids.every((id) => found.includes(id)));
}

/** Asserts that a run has the result of an undisturbed run, and that no event that was seen is lost. */
export async function assertWhole({ id, path, version = "1.0" }: Run, ...seen: StreamEvent[][]): Promise<Task> {
  const task = await faults.getTask(id);
  assert.equal(task.status.state, "TASK_STATE_COMPLETED", textOf(task.status.message));
  assert.equal(textOf(task.artifacts?.[0]), artifactOf(STEPS));
  assert.equal(task.artifacts?.length, 1);
  assert.deepEqual(wrongSteps(sink.arrivals(path), STEPS), []);
  const log = await logOf(faults.endpoint, id);
  assert.deepEqual(log.map(tell), undisturbed(STEPS));
  assert.deepEqual(wrongLog(log, ...(version === "1.0" ? seen : [])), []);
  if (version !== "1.0") {
    assert.deepEqual(wrongWords(log, seen.flat()), []);
    const speaker = new Speaker(faults.endpoint, version);
    const { status, artifacts } = await speaker.getTask(id);
    assert.deepEqual([status.state, textOf(artifacts?.[0])], [task.status.state, artifactOf(STEPS)]);
  }
  // Streams of 0.1 have no event ids.
  if (version === "0.3") {
    const heard = await (await new Speaker(faults.endpoint, version).stream("SubscribeToTask", { id }, 0)).rest();
    assert.deepEqual([heard.length, wrongWords(log, heard)], [log.length, []]);
  }
  return task;
}
