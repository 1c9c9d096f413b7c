// How long runs waited from the end of one Worker to what they did next in the other one.

import { tableOf } from "../../bench/markdown.ts";
import type { Deployment } from "./deploy.ts";
import type { Run } from "./run.ts";
import { KINDS, type Kind } from "./runs.ts";

const TITLES: Record<Kind, string> = {
  parked: "parked; from the end of its time",
  steps: "in a step; until it repeats the step",
  stream: "streaming; until its client sees the next event",
  callback: "waiting for a callback; until the step behind it",
  lead: "coordinating; until its model has the result of another agent's task, which was in a step",
};

/** A line about the start of the Worker, and a table with a row for each kind: the number of runs, the median and the longest wait. */
export function waitsOf({ startedAfterMs }: Deployment, runs: Run[]): string {
  const rows = KINDS.map((kind) => {
    const waits = runs.filter((run) => run.kind === kind).map(({ waitedMs }) => waitedMs).sort((one, other) => one - other);
    return [TITLES[kind], String(waits.length), shown(waits[Math.floor(waits.length / 2)]), shown(waits.at(-1))];
  });
  const table = tableOf(["runs at the kill", "number", "median", "longest"], rows);
  return `The new process listened ${shown(startedAfterMs)} after the old one was killed; waits count from the kill:\n\n${table}`;
}

const shown = (ms = Number.NaN): string => `${(ms / 1_000).toFixed(1)} s`;
