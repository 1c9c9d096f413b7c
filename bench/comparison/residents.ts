// The memory of tasks at work and of idle streams: how much the process of workerd grows for each of many.

import { readFileSync } from "node:fs";
import { Agent } from "../../tests/e2e/client.ts";
import { startFloors } from "../baselines/start.ts";
import type { Worker } from "../workers.ts";
import { inTurn, persistent, type Measured, type Named, type Outcome } from "./contest.ts";
import { speakers } from "./entrants.ts";
import { openStream, type Stream } from "./streams.ts";

/** As long as a task can be held; longer than the measurement. */
const HOLD = "hold 90000";

/** The time until the begun work has come to rest. */
const REST_MS = 1_000;

/** The memory of the first ones includes shared data, which must not be counted. */
const FIRST = 50;

/** A Worker that has tasks and streams. */
interface Host extends Named {
  start: () => Promise<Worker>;
  prepare: (worker: Worker) => Promise<{ begin: () => Promise<unknown>; follow: () => Promise<Stream> }>;
}

/** Each round has processes of its own. Measured on Linux only. */
export async function residents(against: string | undefined, rounds: number, count: number): Promise<Outcome> {
  if (process.platform !== "linux") return [];
  return inTurn([...speaking(against), floor], rounds, (host) => persistent(host.name, () => grown(host, count)));
}

const speaking = (against: string | undefined): Host[] =>
  speakers(against).map(({ role, name, start, endpoint }) => ({
    role,
    name,
    start,
    async prepare(worker) {
      const agent = new Agent(endpoint(worker));
      const begin = () => agent.sendForTask(HOLD, { returnImmediately: true });
      const { id } = await begin();
      return { begin, follow: () => openStream(endpoint(worker), "SubscribeToTask", { id }) };
    },
  }));

/** What a task at work needs without any protocol (`hold` in floors.js); and a hibernating socket of one object, whose other end is a stream. */
const floor: Host = {
  role: "floor",
  name: "an object with a row, an alarm and a row in D1; a hibernating socket",
  start: startFloors,
  prepare: async ({ url }) => ({
    begin: () => fetch(`${url}/object-hold`, { method: "POST", body: "hold" }).then((answer) => answer.text()),
    follow: () => openStream(`${url}/sockets?memory`, "SubscribeToTask", { id: "memory" }),
  }),
};

/** The kilobytes of a task and of a stream. */
async function grown({ start, prepare }: Host, count: number): Promise<Measured> {
  const worker = await start();
  try {
    const { begin, follow } = await prepare(worker);
    await inTens(FIRST, begin);
    const streams = await inTens(FIRST, follow);
    const before = await resident(worker);
    await inTens(count, begin);
    const withTasks = await resident(worker);
    streams.push(...(await inTens(count, follow)));
    const withStreams = await resident(worker);
    for (const { leave } of streams) leave();
    return { taskKb: (withTasks - before) / count, streamKb: (withStreams - withTasks) / count };
  } finally {
    await worker.stop();
  }
}

async function inTens<Made>(count: number, make: () => Promise<Made>): Promise<Made[]> {
  const made: Made[] = [];
  while (made.length < count) made.push(...(await Promise.all(Array.from({ length: 10 }, make))));
  return made;
}

/** The resident memory of a Worker's process in kilobytes, when it is at rest. */
async function resident({ pid }: Worker): Promise<number> {
  await new Promise((resolve) => setTimeout(resolve, REST_MS));
  const [, kibibytes] = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
  return (Number(kibibytes) * 1024) / 1000;
}
