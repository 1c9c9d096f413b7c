// The operations whose costs are kept in costs.json, and how measured costs are compared with that file.
//
// `npm test` fails when one of them differs, be it for the better: what was gained is kept. `npm run costs` writes the file.

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Agent, followUp, message } from "../tests/e2e/client.ts";
import { Sink } from "../tests/e2e/sink.ts";
import { sendStreaming, subscribe } from "../tests/e2e/stream.ts";
import { measure, startCounting, type Counts, type Operation } from "./counted.ts";
import { startEffects } from "./effects.ts";
import { root, type Worker } from "./workers.ts";

/** What is kept of an operation's counts. */
export const KEPT = [
  "objectRequests", "objectRowsWritten", "alarmsSet", "statements", "rowsRead", "rowsWritten", "queueSends", "queueMessages",
  "callsIn", "callsOut",
] as const satisfies (keyof Counts)[];

export type Kept = Record<(typeof KEPT)[number], number>;

/** Costs by the names of operations. */
export type Table = Record<string, Kept>;

/** How many streams follow a task in the operation that is about them. */
export const STREAMS = 10;

/** Operations whose counts are not the same every time. */
const LOOSE = ["a task of 10 steps with a webhook"];

const FILE = join(root, "bench", "costs.json");

/** How often an operation is measured whose costs differ: a busy machine makes a task so slow that a row more is written. */
const TRIES = 3;

/** By which part counts may differ, where notifications and what is done meanwhile come in any order. */
const LOOSE_MARGIN = 0.15;

/** The table that is kept. */
export function readTable(): Table {
  return JSON.parse(readFileSync(FILE, "utf8")) as Table;
}

/** Keeps another one, with an operation in each line. */
export function writeTable(table: Table): void {
  const lines = Object.entries(table).map(([name, kept]) => `  ${JSON.stringify(name)}: ${JSON.stringify(kept).replaceAll(",", ", ").replaceAll(":", ": ")}`);
  writeFileSync(FILE, `{\n${lines.join(",\n")}\n}\n`);
}

/** What differs between two lines of the table, in words; empty where nothing does. `left` names what is not compared. */
export function differences(name: string, expected: Kept, measured: Kept, left: readonly string[] = []): string[] {
  const margin = LOOSE.includes(name) ? LOOSE_MARGIN : 0;
  return KEPT.filter((kept) => !left.includes(kept)).flatMap((kept) => {
    const [before, now] = [expected[kept], measured[kept]];
    if (Math.abs(now - before) <= before * margin) return [];
    return `${kept} ${now > before ? "grew" : "shrank"} from ${before} to ${now}`;
  });
}

/** Carries all operations out; those that are not as expected, again. */
export async function measureAll(expected: Table = {}): Promise<Table> {
  const sink = await Sink.open();
  const effects = await startEffects();
  const workers: Worker[] = [];
  const inTurn = async (worker: Worker, operations: Operation[]): Promise<[string, Kept][]> => {
    const taken: [string, Kept][] = [];
    for (const operation of operations) taken.push([operation.name, await measureOne(worker, operation, expected[operation.name])]);
    return taken;
  };
  try {
    // One starts after the other: the harness tells by the order whose process is whose. Then both work at the same time.
    for (let count = 0; count < 2; count++) workers.push(await startCounting());
    const [short, long] = workers as [Worker, Worker];
    const taken = await Promise.all([inTurn(short, operations(short, effects.url, sink)), inTurn(long, longOperations(long))]);
    return Object.fromEntries(taken.flat());
  } finally {
    for (const worker of workers) await worker.stop();
    await effects.close();
    sink.close();
  }
}

async function measureOne(worker: Worker, operation: Operation, expected: Kept | undefined): Promise<Kept> {
  let least: Kept | undefined;
  for (let tries = 0; tries < TRIES; tries++) {
    const counts = await measure(worker, operation);
    const kept = Object.fromEntries(KEPT.map((name) => [name, Number(Math.min(counts[name], least?.[name] ?? Infinity).toFixed(1))])) as Kept;
    if (expected === undefined ? tries > 0 : differences(operation.name, expected, kept).length === 0) return kept;
    least = kept;
  }
  return least as Kept;
}

/** What takes seconds, on a Worker of its own. */
function longOperations({ url }: Worker): Operation[] {
  const work = async (): Promise<unknown> => (await sendStreaming(`${url}/demo`, "count 20 every 400")).rest();
  const prepare = () => new Agent(`${url}/demo`).sendForTask("hello");
  return [{ name: "a streamed task of 20 chunks", count: 1, isLong: true, prepare, work }];
}

function operations(worker: Worker, effectsUrl: string, sink: Sink): Operation[] {
  const demo = new Agent(`${worker.url}/demo`);
  const faults = new Agent(`${worker.url}/faults`);
  const count = 3;
  const notified = async (agent: Agent, text: string, events: number): Promise<void> => {
    const path = `/${crypto.randomUUID()}`;
    await agent.call("SendMessage", { message: message(text), configuration: { taskPushNotificationConfig: { url: sink.url + path } } });
    await sink.arrival(path, events);
  };
  const followed = async (): Promise<void> => {
    const { id } = await demo.sendForTask("hold 400", { returnImmediately: true });
    const streams = await Promise.all(Array.from({ length: STREAMS }, () => subscribe(demo.endpoint, id)));
    await Promise.all(streams.map((stream) => stream.rest()));
  };
  return [
    { name: "the card", count, work: () => fetch(`${worker.url}/.well-known/agent-card.json`).then((response) => response.text()) },
    { name: "SendMessage, answered with a message", count, work: () => demo.send("message") },
    { name: "SendMessage, a task of 4 events", count, work: () => demo.sendForTask("hello") },
    { name: "SendMessage, a task that asks", count, work: () => demo.sendForTask("ask") },
    { name: "SendMessage, the answer to it", count, prepare: () => demo.sendForTask("ask"), work: (task) => demo.sendForTask(followUp(task, "red")) },
    { name: "GetTask", count, prepare: () => demo.sendForTask("hello"), work: ({ id }) => demo.getTask(id) },
    {
      name: "GetTask, object not in memory",
      count,
      prepare: async () => {
        const task = await demo.sendForTask("hello");
        await worker.evict(task.id);
        return task;
      },
      work: ({ id }) => demo.getTask(id),
    },
    { name: "CancelTask", count, prepare: () => demo.sendForTask("ask"), work: ({ id }) => demo.cancelTask(id) },
    { name: "ListTasks, a page of 20", count, work: () => demo.listTasks({ pageSize: 20 }) },
    { name: "SendStreamingMessage, a task of 4 events", count, work: async () => (await sendStreaming(demo.endpoint, "hello")).rest() },
    { name: `a task with ${STREAMS} streams`, count: 2, work: followed },
    { name: "a task of 10 steps", count, work: () => faults.sendForTask(`steps 10 ${effectsUrl}`) },
    { name: "a task of 4 events with a webhook", count, work: () => notified(demo, "hello", 4) },
    { name: "a task of 10 steps with a webhook", count, work: () => notified(faults, `steps 10 ${effectsUrl}`, 2) },
  ];
}
