// Numbers and hours of the overview in words.
import { duration } from "../../parts/time.tsx";
import type { End, Quantile } from "./numbers.ts";

/** How the states in which tasks end are told. */
export const END_WORDS: Record<End, string> = { completed: "Completed", canceled: "Canceled", rejected: "Rejected", failed: "Failed" };

const numbers = new Intl.NumberFormat();
const percents = new Intl.NumberFormat(undefined, { style: "percent", maximumFractionDigits: 1 });
const rates = new Intl.NumberFormat(undefined, { maximumFractionDigits: 2 });
const hours = new Intl.DateTimeFormat(undefined, { hour: "numeric", minute: "2-digit" });
const days = new Intl.DateTimeFormat(undefined, { weekday: "short", day: "numeric" });
const both = new Intl.DateTimeFormat(undefined, { weekday: "short", day: "numeric", month: "short", hour: "numeric", minute: "2-digit" });

export const numberWord = (count: number): string => numbers.format(count);
export const percentWord = (part: number | undefined): string => (part === undefined ? "–" : percents.format(part));
export const rateWord = (count: number): string => rates.format(count);
export const hourWord = (ms: number): string => hours.format(ms);
export const dayWord = (ms: number): string => days.format(ms);
export const whenWord = (ms: number): string => both.format(ms);

/** A duration that is known as well as a bucket is wide. */
export function quantileWord(found: Quantile | undefined): string {
  if (found === undefined) return "–";
  if (found.under !== undefined) return `under ${duration(found.under)}`;
  return found.isMore ? `over ${duration(found.ms)}` : duration(round(found.ms));
}

/** Two digits: the buckets tell no more. */
function round(ms: number): number {
  if (ms < 1) return ms;
  const magnitude = 10 ** (Math.floor(Math.log10(ms)) - 1);
  return Math.round(ms / magnitude) * magnitude;
}

/** As `1 task` and `2 tasks`. */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${numberWord(count)} ${count === 1 ? one : many}`;
}
