// What the runs of a suite come to: for docs/conformance.json, for the page, and in the form that ACTS gives to reports (§13).
import type { SuiteEntry } from "../report.ts";
import type { Level } from "./document.ts";
import type { TestRun } from "./run.ts";

/** What became of a test. "deviating": it fails as written and passes as A2A 1.0.1 wants it. */
export type Verdict = "passed" | "failed" | "deviating" | "skipped";

export function verdictOf({ result, deviation }: TestRun): Verdict {
  if (result === "skip") return "skipped";
  if (deviation === undefined) return result === "pass" ? "passed" : "failed";
  return result === "fail" && deviation.result === "pass" ? "deviating" : "failed";
}

/** Why a test counts as failed. */
export function reasonOf({ result, failure, deviation }: TestRun): string {
  if (deviation === undefined) return `${failure?.step_id ?? "the test"}: ${failure?.message ?? result}`;
  if (result === "pass") return "it passes as written, though corrections.ts says that it cannot";
  return `as corrected (${deviation.correction.corrected}): ${deviation.failure?.message ?? deviation.result}`;
}

/** The tests of a run with this verdict, of one level or of all. */
export const having = (runs: TestRun[], verdict: Verdict, level?: Level): TestRun[] =>
  runs.filter((run) => verdictOf(run) === verdict && (level === undefined || run.test.level === level));

/** The entry of docs/conformance.json. */
export function entryOf(suite: string, revision: string, date: string, runs: TestRun[]): SuiteEntry {
  const count = (verdict: Verdict): number => having(runs, verdict).length;
  const deviations = having(runs, "deviating").map(({ test: { id }, deviation }) => {
    const { wants, section, sentence } = deviation?.correction ?? { wants: "", section: "", sentence: "" };
    return { test: id, reason: `it wants ${wants}; A2A 1.0.1 §${section}: "${sentence}"` };
  });
  return { suite, revision, date, numbers: { passed: count("passed"), failed: count("failed"), skipped: count("skipped"), deviating: count("deviating") }, deviations };
}

/** Facts about this server and the run, for `sdk` and `environment` of a report. */
export interface About {
  version: string;
  generatedAt: string;
  specVersion: string;
  actsVersion: string;
}

/** The report over one binding (ACTS §13.1), with the results of the tests as they are written. */
export function actsReport(transport: string, runs: TestRun[], { version, generatedAt, specVersion, actsVersion }: About): object {
  const summaryOf = (some: TestRun[]) => {
    const count = (result: TestRun["result"]): number => some.filter((run) => run.result === result).length;
    return { total: some.length, passed: count("pass"), failed: count("fail"), skipped: count("skip"), errors: count("error") };
  };
  const ofLevel = (level: Level) => summaryOf(runs.filter(({ test }) => test.level === level));
  const suites = [...new Set(runs.map(({ suite }) => suite))].map((id) => ({
    id,
    name: id,
    tests: runs.filter(({ suite }) => suite === id).map(({ suite: _, test, deviation: __, ...run }) => ({ id: test.id, name: test.name, level: test.level, ...run })),
  }));
  return {
    acts_version: actsVersion,
    spec_version: specVersion,
    generated_at: generatedAt,
    sdk: { name: "a2a-edge", version, language: "rust" },
    transport,
    environment: { runner: "a2a-edge", runtime: `node ${process.versions.node}` },
    summary: {
      ...summaryOf(runs),
      duration_ms: runs.reduce((sum, { duration_ms }) => sum + duration_ms, 0),
      by_level: { must: ofLevel("must"), should: ofLevel("should"), may: ofLevel("may") },
    },
    suites,
  };
}

/** The name of a report's file (ACTS §13.5). */
export const reportName = (transport: string, generatedAt: string): string =>
  `acts-report-a2a-edge-${transport}-${generatedAt.replace(/[-:]|\.\d+/g, "")}.json`;
