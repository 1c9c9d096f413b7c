// The curve of deliveries: after how many milliseconds how many of the streams had the last event.

/** The points of the curve. */
export const PERCENTILES = [1, 5, 10, 20, 30, 40, 50, 60, 70, 80, 90, 95, 100];

/** The name of the figure at one of the `PERCENTILES`. */
export function curveKey(percent: number): string {
  return `delivered${percent}`;
}
