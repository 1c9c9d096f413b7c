// What a benchmark gives, and the arithmetic behind it.

import type { Plot } from "./plots/svg.ts";

/** How long to measure. */
export interface Effort {
  /** How often each figure is taken; what is shown is the median. */
  rounds: number;
  /** How long one kind of request is repeated in one round. */
  sliceMs: number;
  /** The same as `rounds`, for streams, which take longer. */
  streamRounds: number;
  /** Whether what takes long by nature is left out. */
  isQuick: boolean;
}

/** Figures of one kind, as a table. */
export interface Section {
  title: string;
  /** What the figures mean, in Markdown. */
  text: string;
  columns: string[];
  rows: string[][];
  /** Pictures above the table. */
  plots?: Plot[];
}

/** Takes the figures of one kind. */
export type Benchmark = (effort: Effort) => Promise<Section>;

/** The value in the middle, or the mean of the two there. */
export function median(values: number[]): number {
  return (percentile(values, 50) - percentile(values.map((value) => -value), 50)) / 2;
}

/** The smallest value that at least `percent` of all do not exceed. */
export function percentile(values: number[], percent: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  const value = sorted[Math.max(0, Math.ceil((sorted.length * percent) / 100) - 1)];
  if (value === undefined) throw new Error("there are no values");
  return value;
}

export function sum(values: number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

/** A number with three significant digits, and never fewer than those before the point. */
export function digits(value: number): string {
  return value >= 100 ? grouped(Math.round(value)) : String(Number(value.toPrecision(3)));
}

export function grouped(value: number): string {
  return value.toLocaleString("en-US", { maximumFractionDigits: 0 });
}

/** How many times the baseline. */
export function times(value: number, baseline: number): string {
  return `${digits(value / baseline)}×`;
}

export function milliseconds(value: number): string {
  return `${digits(value)} ms`;
}
