// The section of docs/conformance.md about the kit for A2A 0.3. Pure: texts in, text out.
import { unexpected, type Deviation } from "./deviations.ts";
import { table, type Run, type Test } from "./page.ts";

const BEGIN = "<!-- written by npm run conformance with the branch 0.3.x -->";
const END = "<!-- end -->";

/** The section, from what the tests of the kit came to. Those that are expected to fail are counted by themselves. */
export function olderSection(run: Run, tests: Test[], deviations: Deviation[]): string {
  const of = (outcome: Test["outcome"]): Test[] => tests.filter((test) => test.outcome === outcome);
  const reasons = new Map<string, string[]>();
  for (const { id, reason } of of("skipped")) reasons.set(reason, [...(reasons.get(reason) ?? []), id]);
  const skipped = [...reasons].sort(([, one], [, other]) => other.length - one.length);
  const { failed, notFailed } = unexpected(tests, deviations);
  const rows = failed.map(({ id, reason }) => [id, reason.slice(0, 300)]);
  const shown = deviations.filter((one) => !notFailed.includes(one));
  const folders = [...new Set(tests.map(({ id }) => folderOf(id)))].sort();
  const counts = folders.map((folder) => {
    const here = (some: Test[]): number => some.filter(({ id }) => folderOf(id) === folder).length;
    return [folder, here(of("passed")), here(failed), here(of("failed")) - here(failed), here(of("skipped"))];
  });
  return `${BEGIN}

## A2A 0.3

| | |
|---|---|
| kit | branch \`${run.branch}\`, revision \`${run.revision}\` |
| run on | ${run.date}, over JSON-RPC, which the card prefers |
| tests | **${of("passed").length} passed, ${failed.length} failed**, ${shown.length} deviate, ${of("skipped").length} skipped |

\`\`\`sh
npm run conformance -- --kit ../a2a-tck-0.3
\`\`\`

The branch is checked out beside the other one: \`git -C ../a2a-tck worktree add ../a2a-tck-0.3 origin/0.3.x\`. The exit code is 0 if
exactly the tests under [Deviations of 0.3](#deviations-of-03) fail.

${table(["tests", "passed", "failed", "deviate", "skipped"], counts)}

### Failed in 0.3

${rows.length === 0 ? "None." : table(["test", "reason"], rows)}

### Deviations of 0.3

These tests of the kit are expected to fail:

${table(["test", "the kit", "here"], shown.map(({ test, kit, here }) => [test.split(".").slice(-1).join(""), kit, here]))}

### Skipped in 0.3

${table(["reason", "tests"], skipped.map(([reason, ids]) => [`the kit: "${reason.slice(0, 300)}"`, ids.length]))}

${END}
`;
}

/** That section in a page; empty if there is none. */
export function sectionIn(page: string): string {
  const [begin, end] = [page.indexOf(BEGIN), page.indexOf(END)];
  return begin < 0 || end < begin ? "" : page.slice(begin, end + END.length).concat("\n");
}

/** A page with this section in place of the one that it has, at its end. */
export function withSection(page: string, section: string): string {
  const rest = page.replace(sectionIn(page), "").trimEnd();
  return section === "" ? `${rest}\n` : `${rest}\n\n${section}`;
}

/** The section about servers that our client calls, which is written by hand; empty if there is none. */
export function clientSectionIn(page: string): string {
  const [begin, end] = [page.indexOf(CLIENT_BEGIN), page.indexOf(CLIENT_END)];
  return begin < 0 || end < begin ? "" : `${page.slice(begin, end)}${CLIENT_END}\n`;
}

const CLIENT_BEGIN = "<!-- written by hand: servers that our client calls -->";
const CLIENT_END = "<!-- end of what is written by hand -->";

/** `tests.mandatory.protocol.test_x.T.test_y` is in `mandatory, protocol`. */
function folderOf(id: string): string {
  return id.split(".").slice(1, 3).join(", ");
}
