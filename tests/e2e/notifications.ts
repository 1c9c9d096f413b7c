// Tasks with webhooks, and the notifications to a sink. Each block of tests has its own Worker and sink.

import assert from "node:assert/strict";
import { after, before } from "node:test";
import { Agent, message, until, untilEnded, type Task } from "./client.ts";
import { startWorker, type Worker } from "./harness.ts";
import { Sink, type Arrival } from "./sink.ts";
import { subscribe } from "./stream.ts";

/** A webhook in the form of its management. */
export interface Config {
  id: string;
  taskId: string;
  url: string;
}

/** One POST of a notification. */
export interface Attempt {
  generation: number;
  attempt: number;
  status?: number;
  outcome: "delivered" | "retry" | "givenUp";
  error?: string;
  durationMs: number;
}

/** The state of a webhook's notifications. */
export interface Deliveries {
  health: "active" | "failing" | "suspended";
  deliveredGeneration: number;
  lastError: string | null;
  attempts: Attempt[];
}

// The next three belong to the latest block: see `withWorker`.
/** The server behind the webhooks. */
export let sink: Sink;
export let worker: Worker;
export let demo: Agent;

/** Runs the tests of a block with their own Worker, which has these variables. */
export function withWorker(vars: Record<string, string>): void {
  before(async () => {
    sink = await Sink.open();
    worker = await startWorker({ vars: { KEEP_ALIVE_MS: "1000", WEBHOOK_RETRY_MS: "100", ...vars } });
    demo = new Agent(`${worker.url}/demo`);
  });
  after(async () => {
    await worker.stop();
    sink.close();
  });
}

let paths = 0;

/** An unused path of the sink. */
export function freshPath(): string {
  paths += 1;
  return `/hook-${paths}`;
}

/** A webhook with this path of the sink. */
export const target = (path: string, rest: object = {}): object => ({ url: `${sink.url}${path}`, ...rest });

/** A task whose first webhook is registered with the message that begins it. */
export async function begin(text: string, path: string, rest: object = {}): Promise<Task> {
  const configuration = { returnImmediately: true, taskPushNotificationConfig: target(path, rest) };
  const { task } = await demo.call<{ task: Task }>("SendMessage", { message: message(text), configuration });
  return task;
}

export const register = (taskId: string, path: string, rest: object = {}): Promise<Config> =>
  demo.call("CreateTaskPushNotificationConfig", { taskId, ...target(path, rest) });
export const configsOf = async (taskId: string): Promise<Config[]> =>
  (await demo.call<{ configs: Config[] }>("ListTaskPushNotificationConfigs", { taskId })).configs;
export const deliveries = ({ taskId, id }: Config): Promise<Deliveries> => demo.call("ListTaskPushNotificationDeliveries", { taskId, id });
export const redeliver = ({ taskId, id }: Config, fromGeneration: number): Promise<Config> =>
  demo.call("RedeliverTaskPushNotifications", { taskId, id, fromGeneration });

/** The oldest webhook of a task. */
export async function firstConfig(task: Task): Promise<Config> {
  const [config] = await configsOf(task.id);
  assert.ok(config);
  return config;
}

export const generationOf = (arrival: Arrival): number => Number(arrival.headers["a2a-generation"]);
export const generations = (path: string): number[] => sink.arrivals(path).map(generationOf);

/** Each event once: the view of a receiver that recognizes repeated deliveries by their ids. */
export function once(path: string): Arrival[] {
  const seen = new Map<string, Arrival>();
  for (const arrival of sink.arrivals(path)) {
    const id = String(arrival.headers["webhook-id"]);
    const known = seen.get(id);
    if (known === undefined) seen.set(id, arrival);
    else assert.equal(arrival.body, known.body, "the same delivery is the same event");
  }
  return [...seen.values()];
}

/** Waits until the newest event of the task has arrived, and checks that all have, in order. */
export async function assertComplete(task: Task, path: string, from = 1): Promise<Arrival[]> {
  const ended = await untilEnded(demo, task.id);
  const log = await (await subscribe(demo.endpoint, task.id, 0)).rest();
  const expected = log.filter(({ id }) => (id ?? 0) >= from);
  const arrived = await until(async () => once(path), (list) => list.length >= expected.length);
  assert.deepEqual(arrived.map(generationOf), expected.map(({ id }) => id), "every event, in order");
  for (const [index, arrival] of arrived.entries()) assert.deepEqual(arrival.json(), expected[index]?.data.result);
  const last = arrived.at(-1)?.json<{ statusUpdate?: { status: Task["status"] } }>();
  assert.deepEqual(last?.statusUpdate?.status, ended.status);
  return arrived;
}
