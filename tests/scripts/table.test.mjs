// The table of tests/e2e/README.md: what it names is there, and nothing is left out.
import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { test } from "node:test";

const folder = new URL("../e2e/", import.meta.url);
const read = (name) => readFileSync(new URL(name, folder), "utf8");
const specs = new Map(
  readdirSync(folder)
    .filter((name) => name.endsWith(".spec.ts"))
    .map((name) => [name.replace(".spec.ts", ""), read(name)]),
);
const rows = read("README.md").split("\n").filter((line) => /^\| [^*]/.test(line)).map((line) => line.split("|")[3]);

test("the table names specs that exist, and titles that are in them", () => {
  for (const cell of rows) {
    for (const [, spec, titles] of cell.matchAll(/([a-z][\w-]*)((?:,? "[^"]+")+)/g)) {
      assert.ok(specs.has(spec), `there is no ${spec}.spec.ts, in: ${cell}`);
      for (const [, title] of titles.matchAll(/"([^"]+)"/g)) assert.ok(specs.get(spec).includes(title), `${spec}.spec.ts has no "${title}"`);
    }
  }
});

test("the table names every spec", () => {
  const named = new Set(rows.flatMap((cell) => cell.replace(/"[^"]*"/g, "").match(/[a-z][\w-]*/g) ?? []));
  assert.deepEqual([...specs.keys()].filter((spec) => !named.has(spec)), []);
});

test("no spec has more than 250 lines", () => {
  const long = [...specs].filter(([, text]) => text.trimEnd().split("\n").length > 250);
  assert.deepEqual(long.map(([spec]) => spec), []);
});
