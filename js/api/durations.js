// Lengths of time, as authors write them.

const UNITS_MS = { ms: 1, second: 1_000, minute: 60_000, hour: 3_600_000, day: 86_400_000, week: 604_800_000 };

/**
 * The milliseconds of a duration.
 *
 * @param {unknown} time Milliseconds, or a text such as "30 seconds".
 * @returns {number} A whole number, 0 or more.
 * @throws {TypeError} If it is neither.
 */
export function millis(time) {
  if (typeof time === "number" && time >= 0 && Number.isFinite(time)) return Math.ceil(time);
  const [, count, unit] = /^(\d+(?:\.\d+)?) (ms|second|minute|hour|day|week)s?$/.exec(String(time)) ?? [];
  if (unit === undefined) {
    const given = JSON.stringify(time) ?? String(time);
    throw new TypeError(`${given} is no duration: give milliseconds, or a text such as "30 seconds", "5 minutes" or "7 days"`);
  }
  return Math.ceil(Number(count) * UNITS_MS[/** @type {keyof typeof UNITS_MS} */ (unit)]);
}
