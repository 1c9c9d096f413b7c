// The section of docs/conformance.md about ACTS. Pure: what became of the tests in, text out.
import { table } from "../page.ts";
import { CONFIGURATIONS } from "./behaviors.ts";
import { CHECKS } from "./checks.ts";
import type { Level } from "./document.ts";
import { REPAIRS } from "./repair.ts";
import type { TestRun } from "./run.ts";
import { having, reasonOf, verdictOf, type Verdict } from "./verdict.ts";

/** The runs of one suite: over each binding, and of the client. */
export interface Group {
  name: string;
  runs: TestRun[];
}

export interface Facts {
  revision: string;
  date: string;
  /** The names of the repairs, one for each place. */
  repairs: string[];
}

const LEVELS: Level[] = ["must", "should", "may"];
const VERDICTS: Verdict[] = ["passed", "failed", "deviating", "skipped"];

export function actsSection({ revision, date, repairs }: Facts, groups: Group[]): string {
  const counts = (level?: Level) => groups.map(({ name, runs }) => [name, ...VERDICTS.map((verdict) => having(runs, verdict, level).length)]);
  const all = groups.flatMap(({ runs }) => runs);
  const failed = groups.flatMap(({ name, runs }) => having(runs, "failed").map((run) => [run.test.id, run.test.level, name, reasonOf(run)]));
  const must = having(all, "failed", "must").length;
  return `## ACTS

What the draft conformance suite of A2A says of this server and of the client in \`crates/a2a\`: [ACTS](https://github.com/a2aproject/A2A/pull/1882), whose text calls an implementation conformant
if all its tests of the level \`must\` pass. ${must === 0 ? "All of them pass, or are under [Deviations of ACTS](#deviations-of-acts), each with the sentence of A2A 1.0.1 that decides." : `**${must} of them fail.**`}

| | |
|---|---|
| suite | \`tests/acts\` of a2aproject/A2A, revision \`${revision}\` |
| run on | ${date} |

${table(["tests", ...VERDICTS], counts())}

${LEVELS.map((level) => table([`level \`${level}\``, ...VERDICTS], counts(level))).join("\n\n")}

\`\`\`sh
npm run conformance:acts -- --suite ../A2A
\`\`\`

The suite is a branch of a pull request: \`git -C ../A2A fetch origin pull/1882/head && git -C ../A2A checkout FETCH_HEAD\`. The exit code is 0 if exactly the tests under
[Deviations of ACTS](#deviations-of-acts) fail; \`--report FOLDER\` writes the reports of ACTS §13, in which they count as failed. The runner is in \`tests/conformance/acts/\`.

The tests are run against one script in three configurations; a test takes the first one that meets its preconditions:

${table(["agent", ""], CONFIGURATIONS.map(({ slug, says }) => [`\`${slug}\``, says]))}

### Failed in ACTS

${failed.length === 0 ? "None." : table(["test", "level", "", "reason"], failed)}

### Deviations of ACTS

These tests fail as they are written. Changed as the sentence wants it, each passes, in the same run:

${table(["test", "level", "the suite wants", "A2A 1.0.1", "as changed"], deviationRows(all))}

### How the suite is read

Some of the tests are not of the form that its specification gives them. They are read as follows:

${table(["what tests say, and how it is read", "places"], REPAIRS.map(({ name, says }) => [says, repairs.filter((one) => one === name).length]))}

Where the tables of ACTS for methods, paths and errors differ from A2A 1.0.1 §5.3 and §5.4, those of A2A hold, as ACTS §6.2 wants it. What the description of a test says beyond its steps is checked, too: of ${Object.keys(CHECKS).join(", ")}.

### Skipped in ACTS

${table(["reason", "tests"], skippedRows(groups))}

### Results of ACTS

${table(["test", "level", ...groups.map(({ name }) => name)], resultRows(groups))}
`;
}

function deviationRows(all: TestRun[]): string[][] {
  const seen = new Map(having(all, "deviating").map((run) => [run.test.id, run]));
  return [...seen.values()].map(({ test, deviation }) => {
    const { wants, section, sentence, corrected } = deviation?.correction ?? { wants: "", section: "", sentence: "", corrected: "" };
    // Links inside of the specification lead nowhere here.
    return [test.id, test.level, wants, `§${section}: “${sentence.replace(/\[([^\]]+)\]\([^)]*\)/g, "$1")}”`, corrected];
  });
}

function skippedRows(groups: Group[]): (string | number)[][] {
  const reasons = new Map<string, Set<string>>();
  for (const { name, runs } of groups) {
    for (const { test, skip_reason: reason = "" } of having(runs, "skipped")) {
      const said = reason === "it is for grpc" ? "it is for gRPC, which needs HTTP trailers that Workers cannot send; cards declare no such interface" : `${name}: ${reason}`;
      reasons.set(said, (reasons.get(said) ?? new Set()).add(test.id));
    }
  }
  return [...reasons].map(([reason, ids]) => [reason, [...ids].join(", ")]);
}

function resultRows(groups: Group[]): string[][] {
  const words: Record<Verdict, string> = { passed: "passed", failed: "**failed**", deviating: "deviates", skipped: "" };
  const tests = new Map(groups.flatMap(({ runs }) => runs.map(({ test }) => [test.id, test.level])));
  const cell = ({ runs }: Group, id: string): string => {
    const run = runs.find(({ test }) => test.id === id);
    return run === undefined ? "" : words[verdictOf(run)];
  };
  return [...tests].map(([id, level]) => [id, level, ...groups.map((group) => cell(group, id))]);
}
