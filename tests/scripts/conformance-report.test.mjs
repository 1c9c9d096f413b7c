// docs/conformance.json keeps one entry per suite.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { readReport, withSuite, writeSuite } from "../conformance/report.ts";

const entry = (suite, passed) => ({ suite, revision: "abc", date: "2026-01-02", numbers: { passed, failed: 0, skipped: 0, deviating: 0 }, deviations: [] });

test("a suite replaces its own entry and keeps those of others, sorted by name", () => {
  const before = { suites: [entry("a", 1), entry("c", 2)] };
  assert.deepEqual(withSuite(before, entry("b", 3)).suites.map(({ suite }) => suite), ["a", "b", "c"]);
  assert.deepEqual(withSuite(before, entry("c", 4)).suites, [entry("a", 1), entry("c", 4)]);
});

test("what is written is read again; without a file there are no suites", (t) => {
  const folder = mkdtempSync(join(tmpdir(), "a2a-edge-report-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, "conformance.json");
  assert.deepEqual(readReport(path), { suites: [] });
  writeSuite(entry("b", 1), path);
  writeSuite(entry("a", 2), path);
  assert.deepEqual(readReport(path), { suites: [entry("a", 2), entry("b", 1)] });
});
