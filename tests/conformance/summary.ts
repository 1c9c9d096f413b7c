// What all suites said, in one place each: a section of docs/conformance.md, the badge docs/conformance.svg, and the figure in README.md. All
// are made of docs/conformance.json. Pure but for `writeSummary`.
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { table } from "./page.ts";
import type { ConformanceReport, SuiteEntry } from "./report.ts";
import { PAGE, marks, withSection } from "./sections.ts";

/** The badge. */
export const BADGE = fileURLToPath(new URL("../../docs/conformance.svg", import.meta.url));

/** The page with the figure. */
export const README = fileURLToPath(new URL("../../README.md", import.meta.url));

/** The lines that the summary stands between in the page, and the figure in README.md. */
export const SUMMARY = marks("all suites");

/** Writes the summary, the badge and the figure of this report. */
export function writeSummary(report: ConformanceReport): void {
  writeFileSync(PAGE, withSection(readFileSync(PAGE, "utf8"), SUMMARY, summary(report)));
  writeFileSync(README, withSection(readFileSync(README, "utf8"), SUMMARY, figureOf(report)));
  writeFileSync(BADGE, badge(report));
}

/** The numbers of all suites together. */
export function total({ suites }: ConformanceReport): SuiteEntry["numbers"] {
  const sum = (name: keyof SuiteEntry["numbers"]): number => suites.reduce((one, { numbers }) => one + numbers[name], 0);
  return { passed: sum("passed"), failed: sum("failed"), skipped: sum("skipped"), deviating: sum("deviating") };
}

/** A row for each suite. */
export function summary(report: ConformanceReport): string {
  const row = ({ passed, failed, deviating, skipped }: SuiteEntry["numbers"]): (string | number)[] => [passed, failed, deviating, skipped];
  const rows = report.suites.map(({ suite, revision, date, numbers }) => [suite, `\`${revision.slice(0, 14)}\``, date, ...row(numbers)]);
  return table(["suite", "revision", "run on", "passed", "failed", "deviate", "skipped"], [...rows, ["**all**", "", "", ...row(total(report))]]);
}

/** The badge, and the figure as a sentence. */
export function figureOf(report: ConformanceReport): string {
  const { passed, failed, deviating } = total(report);
  const names = [...new Set(report.suites.map(({ suite }) => suite.split(/[ ,]/)[0] ?? ""))];
  return `[![Conformance: ${passed} passed, ${failed} failed](docs/conformance.svg)](docs/conformance.md)

In the public suites of conformance tests (${names.join(", ")}), over each transport, **${passed} tests passed and ${failed} failed**; ${deviating} deviate, for reasons that [conformance](docs/conformance.md) gives.`;
}

/** The badge: a picture of two words. */
export function badge(report: ConformanceReport): string {
  const { passed, failed } = total(report);
  const [left, right] = ["conformance", `${passed} passed, ${failed} failed`];
  // A letter of Verdana in this size is about seven wide.
  const [leftWidth, rightWidth] = [left, right].map((text) => text.length * 7 + 12) as [number, number];
  const width = leftWidth + rightWidth;
  const word = (text: string, middle: number): string => `<text x="${middle}" y="14" textLength="${text.length * 7}">${text}</text>`;
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="20" role="img" aria-label="${left}: ${right}">
  <title>${left}: ${right}</title>
  <rect width="${width}" height="20" rx="3" fill="#444"/>
  <path d="M${leftWidth} 0h${rightWidth - 3}a3 3 0 0 1 3 3v14a3 3 0 0 1-3 3H${leftWidth}z" fill="${failed === 0 ? "#2e7d32" : "#c62828"}"/>
  <g fill="#fff" text-anchor="middle" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11">
    ${word(left, leftWidth / 2)}
    ${word(right, leftWidth + rightWidth / 2)}
  </g>
</svg>
`;
}
