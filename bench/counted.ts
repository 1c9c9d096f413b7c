// A copy of the build that counts its interactions with the platform, and the counts of single operations.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { until, type Task } from "../tests/e2e/client.ts";
import { around } from "./around.ts";
import { bundled, checked } from "../tests/e2e/product.ts";
import { builtFolder, root, startVariant, type Worker } from "./workers.ts";

/** The counts; see counting.js. */
export interface Counts {
  /** Requests to task objects, by `fetch` or by RPC. */
  objectRequests: number;
  /** WebSocket messages that objects receive. */
  webSocketMessages: number;
  /** Alarms that fired. */
  alarms: number;
  alarmsSet: number;
  /** Rows written by the SQLite of objects, including each alarm that is set. */
  objectRowsWritten: number;
  /** Statements of D1, and the rows that D1 reports. */
  statements: number;
  rowsRead: number;
  rowsWritten: number;
  /** Messages put into queues. */
  queueSends: number;
  /** Messages received by the consumer, including repetitions. */
  queueMessages: number;
  /** Requests to receivers of webhooks. */
  attempts: number;
  /** Calls from JavaScript into WebAssembly. */
  callsIn: number;
  /** Calls from WebAssembly to JavaScript. */
  callsOut: number;
  /** Bytes copied between the two. */
  bytesCopied: number;
}

/** An operation, the number of repetitions, and its preparation. */
export interface Operation {
  name: string;
  count: number;
  /** The number of tasks of each repetition, if not one. */
  tasks?: number;
  /** True if the operation is not run once for warm-up: it would take too long, and would not become cheaper. */
  isLong?: boolean;
  prepare?: () => Promise<Task>;
  work: (task: Task) => Promise<unknown>;
}

/** The cost of an operation for each task, the mean of several. */
export async function measure(worker: Worker, { count, tasks = 1, isLong, prepare, work }: Operation): Promise<Counts> {
  if (isLong !== true) await work((await prepare?.()) as Task);
  const prepared: Task[] = [];
  for (let index = 0; index < count; index++) prepared.push((await prepare?.()) as Task);
  const before = await settled(worker);
  for (const task of prepared) await work(task);
  const after = await settled(worker);
  const names = Object.keys(after) as (keyof Counts)[];
  return Object.fromEntries(names.map((name) => [name, (after[name] - before[name]) / (count * tasks)])) as unknown as Counts;
}

/** The counts as soon as they have stopped changing. */
export async function settled({ url }: Worker): Promise<Counts> {
  let [last, same] = ["", 0];
  const text = await until(
    async () => {
      await new Promise((resolve) => setTimeout(resolve, 50));
      return (await fetch(`${url}/_bench/counts`)).text();
    },
    (text) => {
      same = text === last ? same + 1 : 0;
      last = text;
      return same === 2;
    },
  );
  return JSON.parse(text) as Counts;
}

/** Starts a counting copy of a build, which also records the statements of D1. Default entry module: that of this repository. */
export async function startCounting(vars: Record<string, string> = {}, entry?: string, folder = builtFolder): Promise<Worker> {
  const glue = await bundled(join(root, folder), entry, entry === undefined ? undefined : checked(root));
  const instance = "new WebAssembly.Instance(";
  if (!glue.includes(instance)) throw new Error(`${folder}/engine.js is not made as it used to be`);
  return startVariant({
    "index.js": around(glue.replaceAll(instance, "new CountedInstance("), "counting.js", "countedFront", "countedObject"),
    "index_bg.wasm": readFileSync(join(root, folder, "index_bg.wasm")),
  }, vars, { notes: true });
}
