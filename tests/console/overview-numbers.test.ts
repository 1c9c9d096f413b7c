// What the numbers of an overview come to (console/src/pages/overview/numbers.ts).
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { ended, failedStepsRate, failureRate, groups, quantile, sumOf, unfinishedOf, webhooksOf, type Durations, type Hour, type Overview } from "../../console/src/pages/overview/numbers.ts";
import { ticks } from "../../console/src/parts/chart/ticks.ts";
import { quantileWord } from "../../console/src/pages/overview/words.ts";

const HOUR_MS = 3_600_000;
const bounds = [10, 100, 1000];
const hour = (from: number, states: Partial<Hour["states"]> = {}, buckets?: number[]): Hour => ({
  from,
  states: { completed: 0, canceled: 0, rejected: 0, failed: 0, ...states },
  withFailedSteps: states.failed ?? 0,
  durations: buckets === undefined ? {} : { completed: { totalMs: 50, buckets }, failed: { totalMs: 9999, buckets: [0, 0, 0, 9] } },
});

test("sums are over all hours and agents, with the durations of completed tasks alone", () => {
  const sums = sumOf([hour(HOUR_MS, { completed: 3, failed: 1 }, [1, 2, 0, 0]), hour(HOUR_MS, { canceled: 2 }), hour(0, { completed: 2, rejected: 1 }, [0, 0, 1, 1])]);
  assert.deepEqual(sums, { from: 0, hours: 2, states: { completed: 5, canceled: 2, rejected: 1, failed: 1 }, withFailedSteps: 1, durations: [{ totalMs: 50, buckets: [1, 2, 0, 0] }, { totalMs: 50, buckets: [0, 0, 1, 1] }] });
  assert.equal(ended(sums), 9);
  assert.equal(failureRate(sums), 1 / 9);
  assert.equal(failedStepsRate(sums), 1 / 9);
  assert.equal(failedStepsRate(sumOf([hour(0)])), undefined);
  assert.equal(failureRate(sumOf([hour(0)])), undefined, "nothing has ended");
});

describe("a duration out of buckets", () => {
  const of = (totalMs: number, ...buckets: number[]): Durations => ({ totalMs, buckets });

  test("lies in the bucket of the task that the part ends with", () => {
    for (const [all, part, expected] of [
      [[of(30, 4, 0, 0, 0)], 0.5, { from: 0, to: 10 }],
      [[of(60, 1, 1, 0, 0)], 0.5, { from: 0, to: 10 }],
      [[of(900, 0, 2, 2, 0)], 0.75, { from: 100, to: 780 }],
      [[of(500, 19, 0, 1, 0)], 0.95, { from: 0, to: 10 }],
      [[of(900, 18, 0, 2, 0)], 0.95, { from: 100, to: 800 }],
      [[of(9999, 0, 0, 0, 3)], 0.5, { from: 1000, to: 7999 }],
    ] as const) {
      assert.deepEqual(quantile(all, bounds, part), expected, `${JSON.stringify(all)} ${part}`);
    }
    assert.equal(quantile([of(0, 0, 0, 0, 0)], bounds, 0.5), undefined);
    assert.equal(quantile([], bounds, 0.5), undefined);
  });

  test("is what the sum leaves, of the hours that have such a task", () => {
    assert.deepEqual(quantile([of(350, 0, 0, 1, 0)], bounds, 0.95), { from: 350, to: 350 }, "one task is its sum");
    assert.deepEqual(quantile([of(350, 0, 0, 1, 0), of(800, 3, 0, 1, 0)], bounds, 0.95), { from: 350, to: 800 });
    assert.deepEqual(quantile([of(320, 1, 0, 1, 0), of(5, 1, 0, 0, 0)], bounds, 0.95), { from: 310, to: 320 });
    assert.deepEqual(quantile([of(50, 0, 0, 4, 0)], bounds, 0.5), { from: 100, to: 100 }, "a sum that cannot be leads out of no bucket");
  });

  test("is told with one unit where both ends have it", () => {
    for (const [found, expected] of [
      [{ from: 2000, to: 5000 }, "2 to 5 s"], [{ from: 500, to: 1000 }, "500 ms to 1 s"], [{ from: 0, to: 10 }, "under 10 ms"], [{ from: 350, to: 350 }, "350 ms"],
      [{ from: 60_000, to: 90_000 }, "1 to 1.5 min"], [{ from: 3210, to: 3230 }, "3.2 s"], [{ from: 0, to: 0 }, "0 ms"], [undefined, "–"],
    ] as const) {
      assert.equal(quantileWord(found), expected);
    }
  });
});

test("hours come in groups that begin at hours of the day which the size divides", () => {
  const hours = Array.from({ length: 14 }, (_, nth) => hour((nth + 3) * HOUR_MS, { completed: 1 }));
  const hourOfDay = (ms: number): number => (ms / HOUR_MS) % 24;
  assert.deepEqual(groups([hours], 6, hourOfDay).map(({ from, states, hours: size }) => [from / HOUR_MS, states.completed, size]), [[3, 3, 3], [6, 6, 6], [12, 5, 5]]);
  const two = groups([hours, hours], 1, hourOfDay);
  assert.equal(two.length, 14);
  assert.deepEqual([two[0]?.states.completed, two[0]?.hours], [2, 1], "both agents");
  // Where clocks are set forward, the hour that begins a group may be missing.
  const without = hours.filter(({ from }) => from !== 6 * HOUR_MS);
  assert.ok(groups([without], 6, hourOfDay).every(({ hours: size }) => size <= 6));
  assert.deepEqual(groups([], 1), []);
});

test("what is not finished, and webhooks in trouble, are summed over agents", () => {
  const overview = (isAtLeast: boolean): Overview => ({
    agent: "a", now: 0, hours: [], bucketsMs: bounds, counting: true,
    unfinished: { submitted: 1, working: 2, inputRequired: 3, authRequired: 4, isAtLeast },
    webhooks: { failing: 1, suspended: 2, deadLetters: 3, isAtLeast },
  });
  assert.deepEqual(unfinishedOf([overview(false), overview(true)]), { submitted: 2, working: 4, inputRequired: 6, authRequired: 8, isAtLeast: true });
  assert.equal(unfinishedOf([overview(false)]).isAtLeast, false);
  assert.deepEqual(webhooksOf([overview(false), overview(false)]), { failing: 2, suspended: 4, deadLetters: 6, isAtLeast: false });
});

test("an axis has round whole numbers and ends above all bars", () => {
  for (const [most, expected] of [[0, [0, 1]], [1, [0, 1]], [3, [0, 1, 2, 3]], [7, [0, 2, 4, 6, 8]], [41, [0, 20, 40, 60]], [1000, [0, 500, 1000]]] as const) {
    assert.deepEqual(ticks(most), expected, String(most));
  }
});
