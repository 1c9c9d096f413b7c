// The calculations for a usage: sums by day, agent or caller, and their CSV. Pure.

/** The numbers of a usage, with their column heads. */
export const COUNTS = { turns: "Turns", requests: "Requests", inputTokens: "Tokens read", outputTokens: "Tokens written", costMicros: "Cost" } as const;

export type Counts = Record<keyof typeof COUNTS, number>;

/** What a caller has used of an agent in a day. */
export interface Used extends Counts {
  agent: string;
  /** A day in UTC, for example `2026-01-05`. */
  day: string;
  /** Present if the usage is that of all callers. */
  owner?: string;
}

/** What sums are made by, with the column heads. */
export const BY = { day: "Day", agent: "Agent", owner: "Caller" } as const;
export type By = keyof typeof BY;

export interface Sum extends Counts {
  /** The day, the slug of the agent, or the caller. */
  key: string;
}

const NAMES = Object.keys(COUNTS) as (keyof Counts)[];
const DAY_MS = 86_400_000;

/** The sum of all. */
export function total(all: readonly Counts[]): Counts {
  const sum = { turns: 0, requests: 0, inputTokens: 0, outputTokens: 0, costMicros: 0 };
  for (const one of all) for (const name of NAMES) sum[name] += one[name];
  return sum;
}

/** The sums for each day (newest first), or for each agent or caller (those with the largest cost first, then those with the most tokens). */
export function sumsBy(by: By, all: readonly Used[]): Sum[] {
  const groups = new Map<string, Used[]>();
  for (const used of all) {
    const key = used[by] ?? "";
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [used]);
    else group.push(used);
  }
  const sums = [...groups].map(([key, group]) => ({ key, ...total(group) }));
  const byKey = (one: Sum, other: Sum): number => (one.key < other.key ? -1 : 1);
  if (by === "day") return sums.sort((one, other) => -byKey(one, other));
  return sums.sort((one, other) => other.costMicros - one.costMicros || tokens(other) - tokens(one) || byKey(one, other));
}

/** The number of tokens that were read and written. */
export const tokens = ({ inputTokens, outputTokens }: Counts): number => inputTokens + outputTokens;

/** All days from one to another, oldest first, those without usage too. */
export function everyDay(from: string, to: string, all: readonly Used[]): Sum[] {
  const sums = new Map(sumsBy("day", all).map((sum) => [sum.key, sum]));
  const days: Sum[] = [];
  for (let at = Date.parse(from); at <= Date.parse(to); at += DAY_MS) {
    const key = new Date(at).toISOString().slice(0, 10);
    days.push(sums.get(key) ?? { key, ...total([]) });
  }
  return days;
}

/** Sums as CSV (RFC 4180); costs are in units of the currency. */
export function csvOf(by: By, sums: readonly Sum[]): string {
  const heads = [by, ...NAMES.filter((name) => name !== "costMicros"), "cost"];
  const rows = sums.map(({ key, costMicros, ...counts }) => [cell(key), counts.turns, counts.requests, counts.inputTokens, counts.outputTokens, costMicros / 1e6]);
  return [heads, ...rows].map((row) => `${row.join(",")}\r\n`).join("");
}

/** A cell with a text. Spreadsheets take a text for a formula if it begins with one of these characters. */
function cell(text: string): string {
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
