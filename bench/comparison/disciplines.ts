// The comparisons, with their goals.

import type { Effort } from "../figures.ts";
import { send } from "../http.ts";
import type { Cores } from "../processor.ts";
import { chunkEntrants } from "./chunks.ts";
import type { Figure, Goal } from "./compared.ts";
import { contest, type Entrant, type Outcome } from "./contest.ts";
import { agents, finishedTask, floor, getTask, pageOf, LISTS, READS, repeating, sdk, SENDS, shortened, speakers } from "./entrants.ts";
import type { DisciplineKey } from "../results/keys.ts";
import { residents } from "./residents.ts";
import { isolates, processes } from "./starts.ts";
import { fanOut, fanOutFloor, firstEventFloor, firstEvents } from "./streams.ts";

/** What all entrants do, and what is measured of it. */
export interface Discipline {
  title: string;
  /** Figures are compared with those of the first entrant of each role. */
  figures: Figure[];
  hold: (cores: Cores) => Promise<Outcome>;
}

const TASKS = 1_000;
const PAGE = 20;
const STREAMS = 200;

/** The time until most of WebAssembly and JavaScript is compiled: the first second is twice as slow as later ones. */
const WARM_UP_MS = 6_000;

export function disciplines({ rounds, sliceMs, streamRounds, isQuick }: Effort, against: string | undefined): Record<DisciplineKey, Discipline> {
  const all = speakers(against);
  // Collects changes for as long as a2a-edge does.
  const lazy = sdk("TypeScript, changes within 300 ms listed at once", { INDEX_DELAY_MS: "300" });
  const sends = shortened(SENDS, isQuick);
  const reads = shortened(READS, isQuick);
  const lists = shortened(LISTS, isQuick);
  // Rounds of these are short, so that more of them make the intervals of their ratios narrower.
  const many = 3 * rounds;
  const cpu = (title: string, goal: Goal): Figure => ({ name: "cpuMs", title, unit: " ms", goal });
  const held = (entrants: Entrant[], times: number) => (cores: Cores) => contest(entrants, times, cores);
  return {
    send: {
      title: `SendMessage, echo; ${SENDS.connections} connections`,
      figures: [
        cpu("CPU of a request", { to: "alternative", limit: 0.65 }),
        { name: "perSecond", title: "requests per second", unit: "", goal: { to: "alternative", limit: 1.5, isRate: true } },
      ],
      hold: held([
        ...[...all, lazy].map((speaker) => repeating(speaker, async (worker) => send(speaker.endpoint(worker), () => "hello"), sends)),
        floor("new object with a row, and a row in D1", "/object-new-listed", sends),
        floor("new object with a row", "/object-new", sends),
        floor("the same with an alarm", "/object-new-alarm", sends),
        floor("one D1 write", "/d1-write", sends),
      ], many),
    },
    get: {
      title: `GetTask; ${READS.connections} connections`,
      figures: [cpu("CPU of a request", { to: "floor", limit: 1.25 })],
      hold: held([
        ...all.map((speaker) =>
          repeating(speaker, async (worker) => getTask(speaker.endpoint(worker), await finishedTask(speaker.endpoint(worker))), reads),
        ),
        floor("warm object by RPC", "/object-rpc", reads),
        floor("warm object by fetch", "/object-fetch", reads),
        floor("plain Worker", "/plain", reads),
      ], many),
    },
    list: {
      title: `ListTasks, ${PAGE} of ${TASKS.toLocaleString("en-US")}; 1 connection`,
      figures: [cpu("CPU of a request", { to: "floor", limit: 1.15 })],
      hold: held([
        ...all.map((speaker) =>
          repeating(
            speaker,
            async (worker) => {
              const endpoint = speaker.endpoint(worker);
              await speaker.fill(worker, await finishedTask(endpoint), TASKS);
              return pageOf(endpoint, PAGE, TASKS);
            },
            lists,
          ),
        ),
        floor(`one D1 read of ${PAGE} rows and their total`, "/d1-page", lists, TASKS),
      ], many),
    },
    "first-event": {
      title: "SendStreamingMessage, echo; 1 connection",
      figures: [
        { name: "firstMs", title: "first event, p50", unit: " ms", goal: { to: "alternative", limit: 1 } },
        { name: "cpuMs", title: "CPU of a stream", unit: " ms" },
      ],
      hold: held([...all, lazy, agents, firstEventFloor].map((speaker) => firstEvents(speaker, 2 * sliceMs, WARM_UP_MS)), rounds),
    },
    "fan-out": {
      title: `${STREAMS} streams on one task`,
      figures: [
        { name: "lastMs", title: "delivery of the last event, p50", unit: " ms", goal: { to: "floor", limit: 1.05 } },
        cpu("CPU of a stream", { to: "floor", limit: 1.2 }),
      ],
      hold: held([
        ...[...all, agents].map((speaker) => fanOut(speaker, STREAMS)),
        fanOutFloor("hibernating sockets, written by the front", "/sockets", STREAMS),
        fanOutFloor("an object that holds the streams", "/streams", STREAMS),
      ], streamRounds),
    },
    chunks: {
      title: "A streamed answer of 500 chunks, 50 a second; 8 at once",
      figures: [
        { name: "rowsPerChunk", title: "rows of the object for each chunk", unit: "", goal: { limit: 0.1 } },
        // The second chunk is given 20 ms later.
        { name: "firstMs", title: "first chunk, p50", unit: " ms", goal: { limit: 20 } },
        { name: "longestMs", title: "longest hold of a chunk", unit: " ms", goal: { limit: 200 } },
        cpu("CPU of a stream", { to: "alternative", limit: 1 }),
      ],
      hold: held(chunkEntrants(against), isQuick ? 1 : streamRounds),
    },
    memory: {
      title: "Memory",
      figures: [
        { name: "taskKb", title: "a task at work", unit: " KB", goal: { to: "floor", limit: 1.2 } },
        { name: "streamKb", title: "an idle stream", unit: " KB", goal: { to: "floor", limit: 1.2 } },
      ],
      hold: () => residents(against, isQuick ? 1 : streamRounds, isQuick ? 300 : 1_000),
    },
    start: {
      title: "A new process",
      figures: [{ name: "firstMs", title: "first answer", unit: " ms", goal: { to: "floor", by: "difference", limit: 70 } }],
      hold: () => processes(against, rounds),
    },
    isolate: {
      title: "A further isolate in a running process",
      figures: [{ name: "firstMs", title: "first answer", unit: " ms" }],
      hold: () => isolates(against, rounds),
    },
  };
}
