// What the rows of a usage come to (console/src/pages/usage/sums.ts).
import assert from "node:assert/strict";
import { test } from "node:test";
import { csvOf, everyDay, sumsBy, total, type Used } from "../../console/src/pages/usage/sums.ts";
import { currency } from "../../console/src/api/currency.ts";
import { againstLimits, partOf } from "../../console/src/pages/usage/against.ts";
import { costText, costWord } from "../../console/src/parts/numbers.ts";

const used = (day: string, agent: string, owner: string, inputTokens: number, costMicros = 0): Used => ({ day, agent, owner, turns: 1, requests: 2, inputTokens, outputTokens: 10, costMicros, models: [] });
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

test("sums by model are of the named ones, and of what has no name", () => {
  const part = (model: string, inputTokens: number) => ({ model, turns: 1, requests: 1, inputTokens, outputTokens: 5, costMicros: 1 });
  const one = { ...used("2026-03-01", "a", "key:x", 100, 7), models: [part("m", 60), part("n", 10)] };
  const whole = { ...used("2026-03-01", "a", "key:y", 60, 2), models: [{ ...part("m", 60), requests: 2, outputTokens: 10, costMicros: 2 }] };
  const found = sumsBy("model", [one, whole, used("2026-03-01", "b", "key:x", 9)]);
  assert.deepEqual(found.map(({ key, turns, requests, inputTokens, costMicros }) => [key, turns, requests, inputTokens, costMicros]), [["", 1, 2, 39, 5], ["m", 2, 3, 120, 3], ["n", 1, 1, 10, 1]]);
  assert.deepEqual(sumsBy("model", []), []);
});

test("limits are compared with what was used today, the nearest first", () => {
  const today = used("2026-03-01", "a", "key:x", 80, 7);
  const page = { from: "2026-02-01", to: "2026-03-01", isAtLeast: false, agent: "a", used: [today, used("2026-02-28", "a", "key:x", 900), used("2026-03-01", "a", "key:y", 90)], limits: { tokensPerDay: 100, costMicrosPerDay: 10 } };
  assert.deepEqual(againstLimits([page], true).map((one) => [one.owner, one.of, partOf(one)]), [["key:y", "tokens", 1], ["key:x", "tokens", 0.9], ["key:x", "cost", 0.7], ["key:y", "cost", 0]]);
  const { limits: _, ...free } = page;
  const own = againstLimits([{ ...page, used: [today] }, { ...page, agent: "b", used: [], limits: { tokensPerDay: 0 } }, free], false);
  assert.deepEqual(own.map((one) => [one.agent, one.owner, one.of, one.used, partOf(one)]), [["b", undefined, "tokens", 0, 1], ["a", undefined, "tokens", 90, 0.9], ["a", undefined, "cost", 7, 0.7]]);
});

test("days without usage are days too, over the ends of months", () => {
  const days = everyDay("2026-02-27", "2026-03-02", ALL);
  assert.deepEqual(days.map(({ key, inputTokens }) => [key, inputTokens]), [["2026-02-27", 0], ["2026-02-28", 100], ["2026-03-01", 650], ["2026-03-02", 0]]);
});

test("a table as CSV quotes what it must, and holds no formulas", () => {
  const lines = csvOf("owner", sumsBy("owner", [used("2026-03-01", "a", "=1+1", 1, 1_500_000), used("2026-03-01", "a", 'who, "me"', 1)]), "EUR");
  assert.equal(lines, "owner,turns,requests,inputTokens,outputTokens,cost,currency\r\n'=1+1,1,2,1,10,1.5,EUR\r\n\"who, \"\"me\"\"\",1,2,1,10,0,EUR\r\n");
});

test("a cost is in units of its currency, and a dash where nobody told one", () => {
  assert.equal(costWord(0), "–");
  assert.match(costWord(1495), /^0[.,]001495$/);
  assert.match(costWord(2_500_000), /^2[.,]50$/);
  currency.value = "EUR";
  assert.match(costWord(1495), /^€0[.,]001495$|^0[.,]001495\s€$/);
  assert.match(costWord(2_500_000), /^€2[.,]50$|^2[.,]50\s€$/);
  assert.deepEqual([costText({ costMicros: 0 }), costText({ costMicros: 1495 })], ["", `cost ${costWord(1495)}`]);
  currency.value = undefined;
});
