// Instants and durations as text.

const relative = new Intl.RelativeTimeFormat(undefined, { numeric: "auto" });

const UNITS: [Intl.RelativeTimeFormatUnit, number][] = [["day", 86_400_000], ["hour", 3_600_000], ["minute", 60_000], ["second", 1000]];

/** For example `2 minutes ago` or `in 5 seconds`. */
export function agoOf(ms: number, present: number): string {
  const gone = ms - present;
  if (Math.abs(gone) < 1000) return "just now";
  const [unit, length] = UNITS.find(([, length]) => Math.abs(gone) >= length) ?? ["second", 1000];
  return relative.format(Math.trunc(gone / length), unit);
}

/** A duration, for example `12 ms`, `3.4 s` or `2 min 5 s`. */
export function duration(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1000);
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
  return `${Math.floor(seconds / 3600)} h ${Math.floor((seconds % 3600) / 60)} min`;
}
