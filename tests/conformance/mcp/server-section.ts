// The section of docs/conformance.md about the kit of MCP for servers. What the kit wants of fixtures that are no agents is expected to
// fail, each scenario with its reason. Pure: texts in, text out.
import { table } from "../page.ts";
import type { Outcome, Scenario } from "./section.ts";

const PROMPTS = "prompts are not offered ([why](mcp.md#revisions)), and so no completion";
const OTHERS = "sampling, roots and logging are deprecated and not offered";
const RESOURCES = "resources are cards and tasks, not the fixtures `test://…`";
const KEYS = "the fixture names the keys of its questions, or asks several at once; here the key is that of the turn";
const LEGACY = "earlier clients are asked by a result, since there is no session that would lead their answer to the open call";
const FIXTURES = "a fixture is no agent (`multi_input`, `protocol_error_job`, `test_missing_capability`, `greet` with its text), or is to refuse clients without tasks";

/** The scenarios that are expected to fail, by the beginnings of their names, with the reasons. */
const EXPECTED: [string, string][] = [
  ["prompts-", PROMPTS], ["completion-", PROMPTS], ["caching", PROMPTS], ["input-required-result-non-tool-request", PROMPTS],
  ["logging-", OTHERS], ["tools-call-with-logging", OTHERS], ["tools-call-sampling", OTHERS], ["input-required-result-basic-sampling", OTHERS],
  ["input-required-result-basic-list-roots", OTHERS], ["server-stateless", `${FIXTURES}; ${OTHERS}`],
  ["resources-read-", RESOURCES], ["resources-templates-read", RESOURCES], ["resources-subscribe", RESOURCES], ["resources-unsubscribe", RESOURCES],
  ["input-required-result-basic-elicitation", KEYS], ["input-required-result-request-state", KEYS], ["input-required-result-multi", KEYS],
  ["tools-call-elicitation", LEGACY], ["elicitation-sep", LEGACY],
  ["tasks-lifecycle", FIXTURES], ["tasks-mrtr-", FIXTURES], ["tasks-required-task-error", FIXTURES], ["tasks-request-headers", FIXTURES],
  ["input-required-result-capability-check", "a client that shows no forms is asked by a result"],
  ["json-schema-2020-12", "agents have one schema, which is that of a message"], ["http-custom-header-server-validation", "no argument of an agent is a header"],
];

/** Why a scenario is expected to fail; undefined for one that is to pass. */
export const reasonOf = ({ name }: Scenario): string | undefined => EXPECTED.find(([begin]) => name.startsWith(begin))?.[1];

/** The scenarios in the summary that the kit for servers prints at its end. */
export function serverScenariosIn(output: string): Scenario[] {
  const [, summary = ""] = output.split("=== SUMMARY ===");
  const lines = summary.matchAll(/^[✓✗] (\S+): (\d+) passed, (\d+) failed/gm);
  return [...lines].map(([, name = "", passed, failed]) => ({ name, passed: Number(passed), failed: Number(failed) }));
}

/** What differs from what is expected. */
export function surprises({ revision, scenarios }: Outcome): string[] {
  const wrong = scenarios.filter((one) => (one.failed > 0) !== (reasonOf(one) !== undefined));
  const told = wrong.map(({ name, passed, failed }) => `${revision} ${name}: ${passed} passed, ${failed} failed, expected ${failed > 0 ? "to pass" : "to fail"}`);
  return scenarios.length > 0 ? told : [`${revision}: the kit told of no scenario`];
}

/** The section. */
export function serverSection(kit: string, date: string, outcomes: Outcome[]): string {
  const all = outcomes.flatMap(({ revision, scenarios }) => scenarios.map((one) => ({ revision, ...one })));
  const shown = all.filter((one) => reasonOf(one) === undefined && one.passed > 0);
  const left = all.filter((one) => reasonOf(one) !== undefined);
  const reasons = [...new Set(left.map((one) => reasonOf(one) ?? ""))];
  const rows = reasons.map((reason) => [[...new Set(left.filter((one) => reasonOf(one) === reason).map(({ name }) => `\`${name}\``))].join(", "), reason]);
  return `## MCP: the server

What the official conformance kit of MCP says of \`/<agent>/mcp\`. A scripted agent plays the kit's fixtures as skills (\`tests/conformance/mcp/agent.ts\`);
\`npm run conformance:mcp\` runs the scenarios and writes this section.

| | |
|---|---|
| kit | \`@modelcontextprotocol/conformance\` ${kit} |
| run on | ${date} |

${table(["revision", "scenario", "checks passed", "failed"], shown.map(({ revision, name, passed, failed }) => [revision, name, passed, failed]))}

Expected to fail, in the parts that the reasons name:

${table(["scenarios", "why"], rows)}
`;
}
