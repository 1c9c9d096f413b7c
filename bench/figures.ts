// The results of a benchmark, and their arithmetic.

import type { Plot } from "./plots/svg.ts";

/** The effort of a measurement. */
export interface Effort {
  /** The number of measurements of each figure; the median is shown. */
  rounds: number;
  /** How long one kind of request is repeated in one round, in milliseconds. */
  sliceMs: number;
  /** Like `rounds`, for streams, which take longer. */
  streamRounds: number;
  /** True if slow measurements are left out. */
  isQuick: boolean;
}

/** Figures of one kind, as a table. */
export interface Section {
  title: string;
  /** An explanation of the figures, in Markdown. */
  text: string;
  columns: string[];
  rows: string[][];
  /** Plots above the table. */
  plots?: Plot[];
}

/** Measures the figures of one kind. */
export type Benchmark = (effort: Effort) => Promise<Section>;

/** The middle value, or the mean of the two middle values. */
export function median(values: number[]): number {
  return (percentile(values, 50) - percentile(values.map((value) => -value), 50)) / 2;
}

/** The smallest value that is not exceeded by at least `percent` of all values. */
export function percentile(values: number[], percent: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  const value = sorted[Math.max(0, Math.ceil((sorted.length * percent) / 100) - 1)];
  if (value === undefined) throw new Error("there are no values");
  return value;
}

export function sum(values: number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

/** A number with three significant digits; all digits before the point are kept. */
export function digits(value: number): string {
  return value >= 100 ? grouped(Math.round(value)) : String(Number(value.toPrecision(3)));
}

export function grouped(value: number): string {
  return value.toLocaleString("en-US", { maximumFractionDigits: 0 });
}

/** The ratio to the baseline. */
export function times(value: number, baseline: number): string {
  return `${digits(value / baseline)}×`;
}

export function milliseconds(value: number): string {
  return `${digits(value)} ms`;
}
