// The lines of a chart's axis. Pure.

/** The lines of an axis from 0 to `most`: up to five round whole numbers, the last one not below `most`. */
export function ticks(most: number): number[] {
  const magnitudes = Array.from({ length: 16 }, (_, power) => 10 ** power);
  const steps = magnitudes.flatMap((magnitude) => [magnitude, 2 * magnitude, 5 * magnitude]);
  const step = steps.find((candidate) => most / candidate <= 4) ?? most;
  return Array.from({ length: Math.max(1, Math.ceil(most / step)) + 1 }, (_, nth) => nth * step);
}
