// Rates, durations and hours of the overview in words.
import type { End, Quantile } from "./numbers.ts";

/** The labels of the final states. */
export const END_WORDS: Record<End, string> = { completed: "Completed", canceled: "Canceled", rejected: "Rejected", failed: "Failed" };

const rates = new Intl.NumberFormat(undefined, { maximumFractionDigits: 2 });
const hours = new Intl.DateTimeFormat(undefined, { hour: "numeric", minute: "2-digit" });
const days = new Intl.DateTimeFormat(undefined, { weekday: "short", day: "numeric" });
const both = new Intl.DateTimeFormat(undefined, { weekday: "short", day: "numeric", month: "short", hour: "numeric", minute: "2-digit" });

export const rateWord = (count: number): string => rates.format(count);
export const hourWord = (ms: number): string => hours.format(ms);
export const dayWord = (ms: number): string => days.format(ms);
export const whenWord = (ms: number): string => both.format(ms);

/** The range of a duration from buckets, for example `2 to 5 s`. */
export function quantileWord(found: Quantile | undefined): string {
  if (found === undefined) return "–";
  const [from, to] = [shortly(found.from), shortly(found.to)];
  if (from === to) return to;
  if (found.from === 0) return `under ${to}`;
  const unit = to.slice(to.indexOf(" "));
  return `${from.endsWith(unit) ? from.slice(0, -unit.length) : from} to ${to}`;
}

/** For example `10 ms`, `3.2 s` or `1 min`. */
export function shortly(ms: number): string {
  const [length, unit] = ms >= 3_600_000 ? [3_600_000, "h"] : ms >= 60_000 ? [60_000, "min"] : ms >= 1000 ? [1000, "s"] : [1, "ms"];
  return `${Number((ms / length).toFixed(length === 1 ? 0 : 1))} ${unit}`;
}
