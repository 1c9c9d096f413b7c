// The calculations for a usage: sums by day, agent, model or caller, and their CSV. Pure.

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
  /** The parts of it by models whose names are known. */
  models: readonly PartOfModel[];
}

/** What a model has used. A turn with several models counts for each of them. */
export interface PartOfModel extends Counts {
  model: string;
}

/** What sums are made by, with the column heads. */
export const BY = { day: "Day", agent: "Agent", model: "Model", owner: "Caller" } as const;
export type By = keyof typeof BY;

export interface Sum extends Counts {
  /** The day, the slug of the agent, the model (empty for those without a known name), or the caller. */
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

/** The sums for each day (newest first), or for each agent, model or caller (those with the largest cost first, then those with the most tokens). */
export function sumsBy(by: By, all: readonly Used[]): Sum[] {
  const groups = new Map<string, Counts[]>();
  for (const used of all) {
    const parts = by === "model" ? partsOf(used).map((part) => [part.model, part] as const) : [[used[by] ?? "", used] as const];
    for (const [key, counts] of parts) {
      const group = groups.get(key);
      if (group === undefined) groups.set(key, [counts]);
      else group.push(counts);
    }
  }
  const sums = [...groups].map(([key, group]) => ({ key, ...total(group) }));
  const byKey = (one: Sum, other: Sum): number => (one.key < other.key ? -1 : 1);
  if (by === "day") return sums.sort((one, other) => -byKey(one, other));
  return sums.sort((one, other) => other.costMicros - one.costMicros || tokens(other) - tokens(one) || byKey(one, other));
}

/** The parts of a usage by models; what is of no model with a known name is the part of a model without one. */
function partsOf({ models, ...used }: Used): PartOfModel[] {
  const rest = { model: "", ...total([used]) };
  for (const part of models) for (const name of NAMES) rest[name] = Math.max(0, rest[name] - part[name]);
  return rest.requests + tokens(rest) + rest.costMicros > 0 || models.length === 0 ? [...models, rest] : [...models];
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

/** Sums as CSV (RFC 4180); costs are in units of the currency, which is empty if it is not known. */
export function csvOf(by: By, sums: readonly Sum[], currency = ""): string {
  const heads = [by, ...NAMES.filter((name) => name !== "costMicros"), "cost", "currency"];
  const rows = sums.map(({ key, costMicros, ...counts }) => [cell(key), counts.turns, counts.requests, counts.inputTokens, counts.outputTokens, costMicros / 1e6, currency]);
  return [heads, ...rows].map((row) => `${row.join(",")}\r\n`).join("");
}

/** A cell with a text. Spreadsheets take a text for a formula if it begins with one of these characters. */
function cell(text: string): string {
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
