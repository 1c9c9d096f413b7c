// How the results of `npm run test:peers` come into docs/peers.md.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { results } from "../peers/page.ts";

const page = readFileSync(new URL("../../docs/peers.md", import.meta.url), "utf8");
const told = [
  { name: "one", language: "Rust", version: "1.0.0", what: "answers", passed: true },
  { name: "two", language: "Python", version: "2.0.0", what: "asks", passed: false },
];

test("results take the place of those of before, and all else stays", () => {
  const written = results(page, told);
  assert.match(written, /\| `one` 1\.0\.0 \| Rust \| answers \| passed \|\n\| `two` 2\.0\.0 \| Python \| asks \| \*\*failed\*\* \|\n/);
  assert.equal(results(written, told), written, "the same results give the same page");
  const [before, after] = page.split(/<!-- written[^]*<!-- end -->/);
  assert.ok(written.startsWith(before) && written.endsWith(after));
});

test("a page without marks is refused", () => {
  assert.throws(() => results("# Peers\n", told), /must have the lines/);
});
