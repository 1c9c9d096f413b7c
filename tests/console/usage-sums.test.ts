// What the rows of a usage come to (console/src/pages/usage/sums.ts).
import assert from "node:assert/strict";
import { test } from "node:test";
import { csvOf, everyDay, sumsBy, total, type Used } from "../../console/src/pages/usage/sums.ts";
import { costWord } from "../../console/src/parts/numbers.ts";

const used = (day: string, agent: string, owner: string, inputTokens: number, costMicros = 0): Used => ({ day, agent, owner, turns: 1, requests: 2, inputTokens, outputTokens: 10, costMicros });
const ALL = [used("2026-02-28", "a", "key:x", 100, 7), used("2026-03-01", "b", "key:y", 300), used("2026-03-01", "a", "key:x", 50, 5), used("2026-03-01", "c", "key:z", 300)];
const keys = (sums: readonly { key: string }[]): string[] => sums.map(({ key }) => key);

test("sums by day have the newest day first, others the largest cost, then the most tokens", () => {
  assert.deepEqual(keys(sumsBy("day", ALL)), ["2026-03-01", "2026-02-28"]);
  assert.deepEqual(keys(sumsBy("agent", ALL)), ["a", "b", "c"]);
  assert.deepEqual(keys(sumsBy("owner", ALL)), ["key:x", "key:y", "key:z"]);
  assert.deepEqual(sumsBy("agent", ALL)[0], { key: "a", turns: 2, requests: 4, inputTokens: 150, outputTokens: 20, costMicros: 12 });
  assert.deepEqual(total(ALL), { turns: 4, requests: 8, inputTokens: 750, outputTokens: 40, costMicros: 12 });
  assert.deepEqual(sumsBy("owner", []), []);
});

test("days without usage are days too, over the ends of months", () => {
  const days = everyDay("2026-02-27", "2026-03-02", ALL);
  assert.deepEqual(days.map(({ key, inputTokens }) => [key, inputTokens]), [["2026-02-27", 0], ["2026-02-28", 100], ["2026-03-01", 650], ["2026-03-02", 0]]);
});

test("a table as CSV quotes what it must, and holds no formulas", () => {
  const lines = csvOf("owner", sumsBy("owner", [used("2026-03-01", "a", "=1+1", 1, 1_500_000), used("2026-03-01", "a", 'who, "me"', 1)]));
  assert.equal(lines, "owner,turns,requests,inputTokens,outputTokens,cost\r\n'=1+1,1,2,1,10,1.5\r\n\"who, \"\"me\"\"\",1,2,1,10,0\r\n");
});

test("a cost is in units of its currency, and a dash where nobody told one", () => {
  assert.equal(costWord(0), "–");
  assert.match(costWord(1495), /^0[.,]001495$/);
  assert.match(costWord(2_500_000), /^2[.,]50$/);
});
