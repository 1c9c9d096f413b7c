// docs/conformance.md, its badge and README.md say what docs/conformance.json says.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { PAGE, marks, sectionIn, withSection } from "../conformance/sections.ts";
import { BADGE, README, SUMMARY, badge, figureOf, summary, total } from "../conformance/summary.ts";
import { readReport } from "../conformance/report.ts";

const read = (path) => readFileSync(path, "utf8");
const report = readReport();

test("the page, the badge and README.md have the figures of docs/conformance.json", () => {
  assert.ok(report.suites.length > 0, "there is no suite");
  assert.equal(sectionIn(read(PAGE), SUMMARY), summary(report));
  assert.equal(read(BADGE), badge(report));
  assert.equal(sectionIn(read(README), SUMMARY), figureOf(report));
});

test("each suite that runs by itself has a section with its revision", () => {
  const sections = { "a2a-tck 1.0-dev": "a2a-tck 1.0-dev", "a2a-tck 0.3.x": "a2a-tck 0.3.x", ITK: "ITK" };
  for (const [suite, section] of Object.entries(sections)) {
    const entries = report.suites.filter((one) => one.suite.split(",")[0] === suite);
    assert.ok(entries.length > 0, suite);
    for (const { revision, numbers } of entries) {
      const text = sectionIn(read(PAGE), marks(section));
      assert.ok(text.includes(revision), `${suite}: ${revision}`);
      assert.ok(text.includes(`**${numbers.passed} passed, ${numbers.failed} failed**`), `${suite}: ${numbers.passed} passed`);
    }
  }
});

test("no suite has a failure, and every test that deviates has a reason", () => {
  for (const { suite, numbers, deviations } of report.suites) {
    assert.equal(numbers.failed, 0, suite);
    assert.equal(deviations.length, numbers.deviating, suite);
    for (const { test: name, reason } of deviations) assert.ok(name !== "" && reason !== "", `${suite}: ${name}`);
  }
});

const entry = (suite, passed, failed) => ({ suite, revision: "abc", date: "2026-01-02", numbers: { passed, failed, skipped: 3, deviating: 1 }, deviations: [{ test: "t", reason: "r" }] });

test("a figure is the sum of all suites", () => {
  const two = { suites: [entry("a, x", 2, 0), entry("a, y", 5, 1), entry("b", 1, 0)] };
  assert.deepEqual(total(two), { passed: 8, failed: 1, skipped: 9, deviating: 3 });
  assert.ok(figureOf(two).includes("(a, b), over each transport, **8 tests passed and 1 failed**; 3 deviate"), figureOf(two));
  assert.ok(summary(two).split("\n").includes("| a, y | `abc` | 2026-01-02 | 5 | 1 | 1 | 3 |"), summary(two));
  assert.ok(badge(two).includes("8 passed, 1 failed") && badge(two).includes("#c62828"));
});

test("a section is replaced between its lines, and a page without them is refused", () => {
  const lines = marks("x");
  const page = `a\n\n${lines.begin}\n\nold\n\n${lines.end}\n\nb\n`;
  assert.equal(withSection(page, lines, "new\n"), page.replace("old", "new"));
  assert.equal(sectionIn(page, lines), "old");
  assert.throws(() => withSection("a\n", lines, "new"), /there is no line/);
});
