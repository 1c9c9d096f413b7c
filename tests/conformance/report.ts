// docs/conformance.json: what each suite of conformance tests said last, one entry per suite. Each command writes its own entry and keeps the others.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { writeSummary } from "./summary.ts";

/** The file, in docs/. */
export const REPORT = fileURLToPath(new URL("../../docs/conformance.json", import.meta.url));

/** What a test wants, and why this server does otherwise. */
export interface DeviationEntry {
  test: string;
  reason: string;
}

/** The last run of a suite. */
export interface SuiteEntry {
  /** Its name with what tells runs of it apart, such as `ACTS, JSON-RPC`; the key of the entry. */
  suite: string;
  /** The commit or version of the suite. */
  revision: string;
  /** The day of the run, `YYYY-MM-DD`. */
  date: string;
  /** How many tests had which outcome; a test that deviates is not counted as failed. */
  numbers: { passed: number; failed: number; skipped: number; deviating: number };
  deviations: DeviationEntry[];
}

/** All suites, by their names. */
export interface ConformanceReport {
  suites: SuiteEntry[];
}

/** The report; without suites if there is no file. */
export function readReport(path = REPORT): ConformanceReport {
  return existsSync(path) ? (JSON.parse(readFileSync(path, "utf8")) as ConformanceReport) : { suites: [] };
}

/** The report with this entry in place of the one of the same suite, sorted by name. */
export function withSuite({ suites }: ConformanceReport, entry: SuiteEntry): ConformanceReport {
  const others = suites.filter(({ suite }) => suite !== entry.suite);
  return { suites: [...others, entry].sort((one, other) => (one.suite < other.suite ? -1 : 1)) };
}

/** Writes the entry of a suite, and what is said of all suites elsewhere: the summary of the page, the badge, the figure in README.md. */
export function writeSuite(entry: SuiteEntry, path = REPORT): void {
  const report = withSuite(readReport(path), entry);
  writeFileSync(path, `${JSON.stringify(report, null, 2)}\n`);
  if (path === REPORT) writeSummary(report);
}
