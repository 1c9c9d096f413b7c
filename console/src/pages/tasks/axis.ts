// The time axis of a trace: the time in which something happened, with long pauses squeezed. Pure.

export interface Interval {
  from: number;
  until: number;
}

export interface Axis {
  /** The place of an instant, from 0 to 1. Instants outside of the axis are at its ends. */
  at(ms: number): number;
  /** Places with the time since the beginning of the axis, in ms. */
  ticks: { at: number; ms: number }[];
  /** The squeezed pauses: their places, and their lengths in ms. */
  pauses: { from: number; until: number; ms: number }[];
}

/** A pause is squeezed if it is longer than this part of the time in which something happened, and than `MIN_PAUSE_MS`. */
const MIN_PAUSE = 0.25;
const MIN_PAUSE_MS = 1000;
/** The width of a squeezed pause, and of all of them, as parts of the time in which something happened. */
const PAUSE_WIDTH = 0.05;
const ALL_PAUSES_WIDTH = 0.4;
const TICKS = [0, 0.25, 0.5, 0.75, 1];

/** A piece of the axis: its interval, and the place at which it begins, in ms of the drawn axis. */
interface Piece extends Interval {
  begins: number;
  width: number;
  isPause: boolean;
}

/** The axis over these intervals, in any order. */
export function axisOf(intervals: readonly Interval[]): Axis {
  const busy = merged(intervals);
  const pauses = busy.slice(1).map((one, nth) => one.from - (busy[nth] as Interval).until);
  const total = Math.max(1, busy.reduce((sum, { from, until }) => sum + until - from, 0));
  const isLong = (ms: number) => ms > MIN_PAUSE_MS && ms > total * MIN_PAUSE;
  const width = total * Math.min(PAUSE_WIDTH, ALL_PAUSES_WIDTH / Math.max(1, pauses.filter(isLong).length));
  const pieces: Piece[] = [];
  let begins = 0;
  const add = (from: number, until: number, drawn: number, isPause: boolean) => {
    pieces.push({ from, until, begins, width: drawn, isPause });
    begins += drawn;
  };
  for (const [nth, one] of busy.entries()) {
    const pause = nth === 0 ? 0 : (pauses[nth - 1] ?? 0);
    if (pause > 0) add(one.from - pause, one.from, isLong(pause) ? width : pause, isLong(pause));
    add(one.from, one.until, one.until - one.from, false);
  }
  const whole = Math.max(1, begins);
  const start = busy[0]?.from ?? 0;
  const at = (ms: number): number => {
    const piece = pieces.find(({ until }) => ms <= until) ?? pieces.at(-1);
    if (piece === undefined) return 0;
    const length = piece.until - piece.from;
    const part = length === 0 ? 0 : Math.min(1, Math.max(0, (ms - piece.from) / length));
    return (piece.begins + part * piece.width) / whole;
  };
  const msAt = (place: number): number => {
    const piece = pieces.find(({ begins, width: drawn }) => place * whole <= begins + drawn) ?? pieces.at(-1);
    if (piece === undefined) return 0;
    const part = piece.width === 0 ? 0 : (place * whole - piece.begins) / piece.width;
    return piece.from + part * (piece.until - piece.from) - start;
  };
  return {
    at,
    ticks: TICKS.map((place) => ({ at: place, ms: msAt(place) })),
    pauses: pieces.filter(({ isPause }) => isPause).map((piece) => ({ from: piece.begins / whole, until: (piece.begins + piece.width) / whole, ms: piece.until - piece.from })),
  };
}

/** The intervals in order, with those that touch as one. */
function merged(intervals: readonly Interval[]): Interval[] {
  const all: Interval[] = [];
  for (const { from, until } of intervals.toSorted((one, other) => one.from - other.from)) {
    const last = all.at(-1);
    if (last !== undefined && from <= last.until) last.until = Math.max(last.until, until);
    else all.push({ from, until: Math.max(from, until) });
  }
  return all;
}
