// The calculations for an overview: sums, rates, and durations from buckets. Pure.

/** The states in which tasks end, in the order in which charts stack them. */
export const ENDS = ["completed", "canceled", "rejected", "failed"] as const;
export type End = (typeof ENDS)[number];

export interface Durations {
  totalMs: number;
  buckets: number[];
}

export interface Hour {
  /** The beginning of the hour, in ms since 1970. */
  from: number;
  states: Record<End, number>;
  /** How many of them had steps that failed. */
  withFailedSteps: number;
  durations: Partial<Record<End, Durations>>;
}

/** The answer of `GET /<agent>/overview` (docs/overview.md). */
export interface Overview {
  agent: string;
  now: number;
  hours: Hour[];
  bucketsMs: number[];
  unfinished: { submitted: number; working: number; inputRequired: number; authRequired: number; isAtLeast: boolean };
  webhooks: { failing: number; suspended: number; deadLetters: number; isAtLeast: boolean };
  counting: boolean;
}

/** The tasks that ended within some hours. */
export interface Sums {
  /** The beginning of the first hour, in ms since 1970. */
  from: number;
  /** The number of hours. */
  hours: number;
  states: Record<End, number>;
  /** How many of them had steps that failed. */
  withFailedSteps: number;
  /** The durations of completed tasks, by hour and agent. */
  durations: Durations[];
}

const HOUR_MS = 3_600_000;

/** The number of tasks that ended. */
export function ended({ states }: Pick<Sums, "states">): number {
  return ENDS.reduce((sum, end) => sum + states[end], 0);
}

/** The failed part of the tasks that ended; undefined if no task has ended. */
export function failureRate(sums: Pick<Sums, "states">): number | undefined {
  const all = ended(sums);
  return all === 0 ? undefined : sums.states.failed / all;
}

/** The part of the tasks that ended whose steps have failed, however they ended; undefined if no task has ended. */
export function failedStepsRate(sums: Pick<Sums, "states" | "withFailedSteps">): number | undefined {
  const all = ended(sums);
  return all === 0 ? undefined : sums.withFailedSteps / all;
}

/** The sums over these hours, which may belong to several agents. */
export function sumOf(hours: readonly Hour[], from = Math.min(...hours.map((hour) => hour.from))): Sums {
  const sums: Sums = { from, hours: new Set(hours.map((hour) => hour.from)).size, states: { completed: 0, canceled: 0, rejected: 0, failed: 0 }, withFailedSteps: 0, durations: [] };
  for (const { states, withFailedSteps, durations } of hours) {
    sums.withFailedSteps += withFailedSteps;
    for (const end of ENDS) sums.states[end] += states[end];
    if (durations.completed !== undefined) sums.durations.push(durations.completed);
  }
  return sums;
}

/** The range of a duration, in ms. */
export interface Quantile {
  from: number;
  to: number;
}

/** The range of the duration that this part of the tasks do not exceed (0.5 for the median); undefined without tasks. */
export function quantile(all: readonly Durations[], bounds: readonly number[], part: number): Quantile | undefined {
  const counts = [...bounds, Infinity].map((_, nth) => all.reduce((sum, { buckets }) => sum + (buckets[nth] ?? 0), 0));
  let left = Math.max(1, Math.ceil(part * counts.reduce((sum, count) => sum + count, 0)));
  const bucket = counts.findIndex((count) => (left -= count) <= 0);
  if (bucket < 0) return undefined;
  const ranges = all.filter(({ buckets }) => (buckets[bucket] ?? 0) > 0).map((durations) => rangeOf(durations, bounds, bucket));
  return { from: Math.min(...ranges.map(({ from }) => from)), to: Math.max(...ranges.map(({ to }) => to)) };
}

/**
 * The range of a task in a bucket: the bounds of the bucket, narrowed by the total. The other tasks are assumed to be as short or as long as their buckets allow,
 * and the rest of the total is left for this task.
 */
function rangeOf({ totalMs, buckets }: Durations, bounds: readonly number[], bucket: number): Quantile {
  const lower = (nth: number): number => bounds[nth - 1] ?? 0;
  const upper = (nth: number): number => bounds[nth] ?? Infinity;
  const others = buckets.map((count, nth) => (nth === bucket ? count - 1 : count));
  const sumOfOthers = (bound: (nth: number) => number): number => others.reduce((sum, count, nth) => (count === 0 ? sum : sum + count * bound(nth)), 0);
  const within = (ms: number): number => Math.min(upper(bucket), Math.max(lower(bucket), ms));
  return { from: within(totalMs - sumOfOthers(upper)), to: within(totalMs - sumOfOthers(lower)) };
}

/**
 * Groups the hours of one or several agents, oldest first, with `size` hours in each group. Groups begin at hours of the day that are divisible by `size`, in the
 * time zone of `hourOfDay`.
 */
export function groups(all: readonly (readonly Hour[])[], size: number, hourOfDay = (ms: number) => new Date(ms).getHours()): Sums[] {
  const byHour = new Map<number, Hour[]>();
  for (const hour of all.flat()) byHour.set(hour.from, [...(byHour.get(hour.from) ?? []), hour]);
  const grouped: { from: number; hours: Hour[] }[] = [];
  for (const from of [...byHour.keys()].sort((one, other) => one - other)) {
    const newest = grouped.at(-1);
    const begins = newest === undefined || size === 1 || hourOfDay(from) % size === 0 || from - newest.from >= size * HOUR_MS;
    if (begins) grouped.push({ from, hours: byHour.get(from) ?? [] });
    else newest.hours.push(...(byHour.get(from) ?? []));
  }
  return grouped.map(({ from, hours }) => sumOf(hours, from));
}

/** The number of unfinished tasks of all agents. */
export function unfinishedOf(overviews: readonly Overview[]): Overview["unfinished"] {
  const sum = { submitted: 0, working: 0, inputRequired: 0, authRequired: 0, isAtLeast: false };
  for (const { unfinished } of overviews) {
    for (const state of ["submitted", "working", "inputRequired", "authRequired"] as const) sum[state] += unfinished[state];
    sum.isAtLeast ||= unfinished.isAtLeast;
  }
  return sum;
}

/** The number of webhooks in trouble of all agents. */
export function webhooksOf(overviews: readonly Overview[]): Overview["webhooks"] {
  const sum = { failing: 0, suspended: 0, deadLetters: 0, isAtLeast: false };
  for (const { webhooks } of overviews) {
    for (const name of ["failing", "suspended", "deadLetters"] as const) sum[name] += webhooks[name];
    sum.isAtLeast ||= webhooks.isAtLeast;
  }
  return sum;
}
