// The section of docs/conformance.md about the kit for A2A 0.3. Pure: texts in, text out.
import { shownDeviations, unexpected, type Deviation } from "./deviations.ts";
import { figure, table, type Run, type Test } from "./page.ts";

/** One run of the kit over a transport. Those that are expected to fail are counted by themselves. */
export interface TransportRun {
  title: string;
  tests: Test[];
  deviations: Deviation[];
}

/** The section, from what the tests of the kit came to over each transport. */
export function olderSection(run: Run, runs: TransportRun[]): string {
  const titles = runs.map(({ title }) => title);
  const failed = runs.flatMap(({ title, tests, deviations }) => unexpected(tests, deviations).failed.map(({ id, reason }) => [title, id, reason.slice(0, 300)]));
  const reasonsOf = runs.map(({ tests }) => tests.filter(({ outcome }) => outcome === "skipped").map(({ reason }) => reason));
  const skipped = [...new Set(reasonsOf.flat())].map((reason) => ({ reason, counts: reasonsOf.map((all) => all.filter((one) => one === reason).length) }));
  skipped.sort((one, other) => sum(other.counts) - sum(one.counts));
  const folders = [...new Set(runs.flatMap(({ tests }) => tests.map(({ id }) => folderOf(id))))].sort();
  const counts = folders.map((folder) => [folder, ...runs.map(({ tests, deviations }) => figure(tests.filter(({ id }) => folderOf(id) === folder), deviations).replaceAll("**", ""))]);
  return `## A2A 0.3

What the same kit says in its branch for 0.3, once over each transport.

| | |
|---|---|
| kit | branch \`${run.branch}\`, revision \`${run.revision}\` |
| run on | ${run.date} |
${runs.map(({ title, tests, deviations }) => `| over ${title} | ${figure(tests, deviations)} |`).join("\n")}

\`\`\`sh
npm run conformance -- --kit ../a2a-tck-0.3
\`\`\`

The branch is checked out beside the other one: \`git -C ../a2a-tck worktree add ../a2a-tck-0.3 origin/0.3.x\`. The exit code is 0 if
exactly the tests under [Deviations of 0.3](#deviations-of-03) fail.

${table(["tests", ...titles], counts)}

### Failed in 0.3

${failed.length === 0 ? "None." : table(["transport", "test", "reason"], failed)}

### Deviations of 0.3

These tests of the kit are expected to fail:

${table(["test", "transports", "the kit", "here"], deviationRows(runs))}

### Skipped in 0.3

${table(["reason", ...titles], skipped.map(({ reason, counts }) => [`the kit: "${reason.slice(0, 300)}"`, ...counts.map((count) => count || "")]))}
`;
}

/** Each deviation once, with the transports over which its test failed. */
function deviationRows(runs: TransportRun[]): string[][] {
  const rows = new Map<string, { deviation: Deviation; titles: string[] }>();
  for (const { title, tests, deviations } of runs) {
    for (const deviation of shownDeviations(tests, deviations)) {
      const row = rows.get(deviation.test) ?? { deviation, titles: [] };
      rows.set(deviation.test, { deviation, titles: [...row.titles, title] });
    }
  }
  return [...rows.values()].map(({ deviation: { test, kit, here }, titles }) => [test.split(".").slice(-1).join(""), titles.join(", "), kit, here]);
}

function sum(numbers: number[]): number {
  return numbers.reduce((one, other) => one + other, 0);
}

/** `tests.mandatory.protocol.test_x.T.test_y` is in `mandatory, protocol`. */
function folderOf(id: string): string {
  return id.split(".").slice(1, 3).join(", ");
}
