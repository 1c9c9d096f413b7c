// The memory of idle tasks and streams.

import { readFileSync } from "node:fs";
import { Agent } from "../tests/e2e/client.ts";
import { speakers, type Speaker } from "./comparison/entrants.ts";
import { openStream } from "./comparison/streams.ts";
import { digits, median, type Effort, type Section } from "./figures.ts";
import type { Worker } from "./workers.ts";

/** As long as a task can be held; longer than the measurement. */
const HOLD = "hold 90000";

/** The time until the begun work has come to rest. */
const REST_MS = 1_000;

export async function residents({ isQuick }: Effort): Promise<Section> {
  const [count, rounds] = isQuick ? [300, 1] : [1_000, 2];
  const rows: string[][] = [];
  for (const speaker of process.platform === "linux" ? speakers(undefined) : []) {
    const taken: [number, number][] = [];
    for (let round = 0; round < rounds; round++) taken.push(await grown(speaker, count));
    rows.push([speaker.name, ...[0, 1].map((kind) => digits(median(taken.map((pair) => pair[kind] as number)) / 1000))]);
  }
  return {
    title: "Memory of tasks and streams",
    text:
      `How much the resident memory of the process of workerd grows, in KB, for each of ${count} tasks that are at work and wait, and ` +
      `for each of ${count} streams that follow one such task without any event. Front Worker, objects, D1 and storage are in it, on both ` +
      "sides of each connection, and garbage that was not collected yet. Measured on Linux only.",
    columns: ["", "a task", "a stream"],
    rows,
  };
}

/** The bytes of a task and of a stream. */
async function grown({ start, endpoint }: Speaker, count: number): Promise<[number, number]> {
  const worker = await start();
  try {
    const agent = new Agent(endpoint(worker));
    const begin = () => agent.sendForTask(HOLD, { returnImmediately: true });
    const { id } = await begin();
    const follow = () => openStream(endpoint(worker), "SubscribeToTask", { id });
    // The memory of the first ones includes shared data, which must not be counted.
    const begun = await inTens(50, begin);
    const leave = (await inTens(50, follow)).map((stream) => stream.leave);
    const before = await resident(worker);
    begun.push(...(await inTens(count, begin)));
    const withTasks = await resident(worker);
    leave.push(...(await inTens(count, follow)).map((stream) => stream.leave));
    const withStreams = await resident(worker);
    for (const stream of leave) stream();
    return [(withTasks - before) / count, (withStreams - withTasks) / count];
  } finally {
    await worker.stop();
  }
}

async function inTens<Made>(count: number, make: () => Promise<Made>): Promise<Made[]> {
  const made: Made[] = [];
  while (made.length < count) made.push(...(await Promise.all(Array.from({ length: 10 }, make))));
  return made;
}

async function resident({ pid }: Worker): Promise<number> {
  await new Promise((resolve) => setTimeout(resolve, REST_MS));
  const [, kilobytes] = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
  return Number(kilobytes) * 1024;
}
