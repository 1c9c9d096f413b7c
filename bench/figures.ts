// The results of a benchmark, and their arithmetic.

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
}

/** The median of several rounds, and the interval that contains the true median with a probability of 90 %; few rounds have no interval. */
export interface Spread {
  value: number;
  low?: number;
  high?: number;
  rounds: number;
}

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

/**
 * The median of the values of all rounds, with its 90 % interval; undefined without values. The interval is that of the sign test, which assumes nothing about the
 * distribution: from the k-th smallest to the k-th largest value, with the largest k that leaves at most 5 % on either side.
 */
export function spreadOf(values: number[]): Spread | undefined {
  const sorted = [...values].sort((a, b) => a - b);
  const rounds = sorted.length;
  if (rounds === 0) return undefined;
  let [rank, tail, chance] = [0, 0, 0.5 ** rounds];
  while (tail + chance <= 0.05) {
    tail += chance;
    chance = (chance * (rounds - rank)) / (rank + 1);
    rank += 1;
  }
  const [low, high] = [sorted[rank - 1], sorted[rounds - rank]];
  return { value: median(sorted), rounds, ...(low !== undefined && high !== undefined && { low, high }) };
}

export function sum(values: number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

/** A number with three significant digits; all digits before the point are kept. */
export function digits(value: number): string {
  return Math.abs(value) >= 100 ? grouped(Math.round(value)) : String(Number(value.toPrecision(3)));
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
