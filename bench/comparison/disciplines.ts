// The comparisons, with their goals.

import type { Effort } from "../figures.ts";
import { send } from "../http.ts";
import type { Entrant } from "./contest.ts";
import { finishedTask, floor, getTask, pageOf, repeating, sdk, speakers, type Repetition } from "./entrants.ts";
import { fanOut, fanOutFloor, firstEvents } from "./streams.ts";

/** A figure, and the goal for its ratio to the alternative. */
export interface Goal {
  /** The name of the measured figure. */
  figure: string;
  /** The title in the table, for example `CPU of a request`. */
  title: string;
  unit: "ms" | "per second";
  /** True if larger figures are better. */
  isRate?: boolean;
  ratio: number;
}

/** The work of all entrants. */
export interface Discipline {
  /** The name of the discipline for `--only`. */
  key: string;
  title: string;
  goals: Goal[];
  rounds: number;
  /** Figures are compared with the first floor. */
  entrants: Entrant[];
}

const CONNECTIONS = 16;
const TASKS = 1_000;
const PAGE = 20;
const STREAMS = 200;

/** The time until WebAssembly and JavaScript are fully compiled: the first second is twice as slow as later ones. */
const WARM_UP_MS = 6_000;

export function disciplines({ rounds, sliceMs, streamRounds }: Effort, against: string | undefined): Discipline[] {
  const all = speakers(against);
  // Collects changes for as long as a2a-edge does.
  const lazy = sdk("TypeScript, changes within 300 ms listed at once", { INDEX_DELAY_MS: "300" });
  const many: Repetition = { connections: CONNECTIONS, sliceMs: 2 * sliceMs, warmUpMs: WARM_UP_MS };
  const one: Repetition = { ...many, connections: 1 };
  const cpu = (ratio: number, title = "CPU of a request"): Goal => ({ figure: "cpuMs", title, unit: "ms", ratio });
  return [
    {
      key: "send",
      title: `SendMessage, echo; ${CONNECTIONS} connections`,
      goals: [cpu(0.65), { figure: "perSecond", title: "requests per second", unit: "per second", isRate: true, ratio: 1.5 }],
      rounds,
      entrants: [
        ...[...all, lazy].map((speaker) => repeating(speaker, async (worker) => send(speaker.endpoint(worker), () => "hello"), many)),
        floor("new object with a row", "/object-new", many),
        floor("the same with an alarm", "/object-new-alarm", many),
        floor("one D1 write", "/d1-write", many),
      ],
    },
    {
      key: "get",
      title: `GetTask; ${CONNECTIONS} connections`,
      goals: [cpu(0.8)],
      rounds,
      entrants: [
        ...all.map((speaker) =>
          repeating(speaker, async (worker) => getTask(speaker.endpoint(worker), await finishedTask(speaker.endpoint(worker))), many),
        ),
        floor("warm object by RPC", "/object-rpc", many),
        floor("warm object by fetch", "/object-fetch", many),
        floor("plain Worker", "/plain", many),
      ],
    },
    {
      key: "list",
      title: `ListTasks, ${PAGE} of ${TASKS.toLocaleString("en-US")}; 1 connection`,
      goals: [cpu(1)],
      rounds,
      entrants: [
        ...all.map((speaker) =>
          repeating(
            speaker,
            async (worker) => {
              const endpoint = speaker.endpoint(worker);
              await speaker.fill(worker, await finishedTask(endpoint), TASKS);
              return pageOf(endpoint, PAGE, TASKS);
            },
            one,
          ),
        ),
        floor(`one D1 read of ${PAGE} rows`, "/d1-page", one, TASKS),
      ],
    },
    {
      key: "first-event",
      title: "SendStreamingMessage, echo; 1 connection",
      goals: [{ figure: "firstMs", title: "first event, p50", unit: "ms", ratio: 0.8 }],
      rounds,
      entrants: [...all, lazy].map((speaker) => firstEvents(speaker, 2 * sliceMs, WARM_UP_MS)),
    },
    {
      key: "fan-out",
      title: `${STREAMS} streams on one task`,
      goals: [{ figure: "lastMs", title: "delivery of the last event, p50", unit: "ms", ratio: 0.8 }, cpu(0.9, "CPU of a stream")],
      rounds: streamRounds,
      entrants: [...all.map((speaker) => fanOut(speaker, STREAMS)), fanOutFloor(STREAMS)],
    },
  ];
}
