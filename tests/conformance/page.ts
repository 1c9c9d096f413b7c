// The section of docs/conformance.md about the kit for A2A 1.0, a2a-tck. Pure: texts in, text out.
import { type Deviation, shownDeviations, unexpected } from "./deviations.ts";

/** What is read of the kit's own report. */
export interface Report {
  per_requirement: Record<string, Requirement>;
  per_transport: Record<string, { passed: number; failed: number; skipped: number }>;
}

interface Requirement {
  level: string;
  status: string;
  transports: Record<string, string>;
  test_ids: string[];
}

/** One test, as the JUnit report has it. */
export interface Test {
  /** The id that pytest gives it, but with dots between folders. */
  id: string;
  outcome: "passed" | "failed" | "skipped";
  /** Why it failed or was skipped. */
  reason: string;
}

/** Both reports, put together. */
export interface Outcome {
  report: Report;
  tests: Test[];
  skipped: Told[];
}

/** A reason, the tests to which it applies, and the requirements that these are about. */
interface Told {
  reason: string;
  tests: string[];
  requirements: string[];
}

/** Which kit was run, and when. */
export interface Run {
  branch: string;
  revision: string;
  date: string;
}

/** Reads a JUnit report. A failure that was expected, as of a SHOULD, is a failure here. */
export function readTests(junit: string): Test[] {
  const cases = junit.matchAll(/<testcase ([^>]*?)(?:\/>|>([^]*?)<\/testcase>)/g);
  return [...cases].map(([, attributes = "", inside = ""]) => {
    const problem = /<(failure|error|skipped)\b([^>]*)/.exec(inside);
    const [, kind, about = ""] = problem ?? [];
    const isSkipped = kind === "skipped" && attribute(about, "type") !== "pytest.xfail";
    return {
      id: `${attribute(attributes, "classname")}.${attribute(attributes, "name")}`,
      outcome: kind === undefined ? "passed" : isSkipped ? "skipped" : "failed",
      reason: attribute(about, "message").split("\n")[0] ?? "",
    };
  });
}

/** Puts the reports together. A test that skips itself without a word is FAIL in the kit's own report; here it is skipped. */
export function outcomeOf(kit: Report, tests: Test[]): Outcome {
  const byId = new Map(tests.map((test) => [test.id, test]));
  const requirements = new Map<string, string[]>();
  const per_requirement: Report["per_requirement"] = {};
  for (const [id, requirement] of Object.entries(kit.per_requirement)) {
    const own = requirement.test_ids.map(dotted);
    for (const test of own) requirements.set(test, [...(requirements.get(test) ?? []), id]);
    const isSkipped = requirement.status === "FAIL" && own.length > 0 && own.every((test) => byId.get(test)?.outcome === "skipped");
    per_requirement[id] = isSkipped ? { ...requirement, status: "SKIPPED", transports: {} } : requirement;
  }
  const told = (outcome: Test["outcome"], words: (reason: string) => string): Told[] => {
    const groups = new Map<string, Told>();
    for (const test of tests.filter((one) => one.outcome === outcome)) {
      const reason = words(test.reason);
      const group = groups.get(reason) ?? { reason, tests: [], requirements: [] };
      group.tests.push(test.id);
      group.requirements = [...new Set([...group.requirements, ...(requirements.get(test.id) ?? [])])];
      groups.set(reason, group);
    }
    return [...groups.values()].sort((a, b) => b.tests.length - a.tests.length);
  };
  return { report: { ...kit, per_requirement }, tests, skipped: told("skipped", reasonOf) };
}

/** One run of the kit over the same server with another card. */
export interface CardRun {
  /** What the card has, as `CARD_DIALECTS` says it. */
  dialects: string;
  tests: Test[];
  deviations: Deviation[];
}

/** The section: the figures of all runs, and what the first one, with the default card, said of each requirement. */
export function newerSection(run: Run, runs: CardRun[], { report, skipped }: Outcome): string {
  const requirements = Object.entries(report.per_requirement);
  const ofStatus = (level: string, status: string): number =>
    requirements.filter(([, one]) => one.level === level && one.status === status).length;
  const untested = requirements.filter(([, { status }]) => status === "NOT TESTED");
  const tested = requirements.filter(([, { status }]) => status === "PASS" || status === "FAIL");
  // Most that is skipped for one transport is tested over another.
  const only = (ids: string[]): string => ids.filter((id) => report.per_requirement[id]?.status === "SKIPPED").join(", ");
  const cell = (one: Requirement, transport: string): string => {
    const words: Record<string, string> = { PASS: "passed", FAIL: "**failed**", SKIPPED: "skipped" };
    return words[one.transports[transport] ?? ""] ?? "";
  };
  const totals = Object.keys(TRANSPORTS).flatMap((name) => {
    const total = report.per_transport[name];
    return total ? [[TRANSPORTS[name] ?? name, total.passed, total.failed, total.skipped]] : [];
  });
  const figures = runs.map(({ dialects, tests, deviations }) => [`\`CARD_DIALECTS=${dialects}\``, figure(tests, deviations)]);
  const failed = runs.flatMap(({ dialects, tests, deviations }) =>
    unexpected(tests, deviations).failed.map(({ id, reason }) => [dialects, shortened(id), quoted(reason)]));
  const deviating = runs.flatMap(({ dialects, tests, deviations }) =>
    shownDeviations(tests, deviations).map(({ test, kit, here }) => [dialects, shortened(test), kit, here]));

  return `## A2A 1.0

What the official conformance kit, [a2aproject/a2a-tck](https://github.com/a2aproject/a2a-tck), says of this server over JSON-RPC and HTTP+JSON.

| | |
|---|---|
| kit | branch \`${run.branch}\`, revision \`${run.revision}\` |
| run on | ${run.date} |
${figures.map(([card, said]) => `| with ${card} | ${said} |`).join("\n")}

With Python 3.11 or newer and a checkout of the kit, branch \`1.0-dev\`:

\`\`\`sh
npm run conformance -- --kit ../a2a-tck
\`\`\`

\`CARD_DIALECTS=all\` is the default: a card that is asked for without a version is read by clients of 0.3, too. The kit acts on the ids of its messages. The agent \`conformance\`
(\`agents/conformance.toml\`), which is served in development only, plays along. The tables below are about the default card.

### Totals in 1.0

${table(["results by transport", "passed", "failed", "skipped"], totals)}

${table(
  ["requirements by level", "passed", "failed", "skipped", "not tested"],
  ["MUST", "SHOULD", "MAY"].map((level) => [level, ...["PASS", "FAIL", "SKIPPED", "NOT TESTED"].map((status) => ofStatus(level, status))]),
)}

A test may cover several requirements, and a requirement may have several tests. A test that deviates counts as failed in these two tables, which are the kit's.

### Failed in 1.0

${failed.length === 0 ? "None." : table(["card", "test", "reason"], failed)}

### Deviations of 1.0

${deviating.length === 0 ? "None." : table(["card", "test", "the kit", "here"], deviating)}

Where the kit and specification 1.0.1 differ in what no test fails for:

| topic | the kit | here |
|---|---|---|
| HTTP status of TaskNotCancelable and InvalidAgentResponse | 409 and 502, not compared | 400 and 500, as 1.0.1 says |
| names of request fields in JSON-RPC | sent in snake_case | both spellings are taken, camelCase is sent |
| trailing slash of the JSON-RPC URL | posts to the URL with one more slash | both answer |
| one message id for several messages of a task | sends them | a message counts as repeated only if its content is the same, too |
| a part of an unknown media type | described as refused, tested as accepted | accepted |

### Skipped in 1.0

${skipped.length === 0 ? "None." : table(["reason", "tests", "requirements that are skipped altogether"], skipped.map((one) => [one.reason, one.tests.length, only(one.requirements)]))}

### Not tested in 1.0

${untested.length === 0 ? "The kit has a test for each of its requirements." : `The kit has no test for these of its requirements (${untested.length}): ${untested.map(([id]) => id).join(", ")}. [Tests of ours](#requirements-that-no-kit-tests) show them.`}

### Result by requirement

${table(
  ["requirement", "level", "card", "JSON-RPC", "HTTP+JSON"],
  tested.map(([id, one]) => [id, one.level, cell(one, "agent_card"), cell(one, "jsonrpc"), cell(one, "http_json")]),
)}
`;
}

/** How many tests of a run had which outcome; one that deviates is not counted as failed. */
export function numbersOf(tests: Test[], deviations: Deviation[]): { passed: number; failed: number; skipped: number; deviating: number } {
  const count = (outcome: Test["outcome"]): number => tests.filter((test) => test.outcome === outcome).length;
  const failed = unexpected(tests, deviations).failed.length;
  return { passed: count("passed"), failed, skipped: count("skipped"), deviating: count("failed") - failed };
}

/** The same as a text. */
export function figure(tests: Test[], deviations: Deviation[]): string {
  const { passed, failed, skipped, deviating } = numbersOf(tests, deviations);
  return `**${passed} passed, ${failed} failed**${deviating > 0 ? `, ${deviating} ${deviating === 1 ? "deviates" : "deviate"}` : ""}, ${skipped} skipped`;
}

const TRANSPORTS: Record<string, string> = { agent_card: "card", jsonrpc: "JSON-RPC", http_json: "HTTP+JSON", grpc: "gRPC" };

/** Why tests are skipped here, in our words, by what the kit says. */
const REASONS: [RegExp, string][] = [
  [/grpc.* not configured/i, "gRPC needs HTTP trailers, which Workers cannot send; cards declare no such interface"],
  [/capabilities for: \['agent-card'\]/, "the extended agent card needs credentials, which the agent of the kit asks nobody for; its card says that there is none"],
  [/supports (?:streaming|push notifications)/, "what the agent would have to refuse (streaming, webhooks), it offers"],
  [/does not declare .*extension as required/, "the agent requires no extension"],
  [/^No requirements/, "the kit has no requirement of this kind"],
];

function reasonOf(said: string): string {
  return REASONS.find(([pattern]) => pattern.test(said))?.[1] ?? quoted(said);
}

/** What the kit said, where there are no words of ours for it. */
function quoted(said: string): string {
  return said === "" ? "the kit gives no reason" : `the kit: "${said.slice(0, 300)}"`;
}

/** `a/b.py::C::d[e]` as JUnit names it: `a.b.C.d[e]`. */
function dotted(nodeId: string): string {
  const [path = "", ...names] = nodeId.split("::");
  return [path.replace(/\.py$/, "").replaceAll("/", "."), ...names].join(".");
}

/** A test without the folders that all of them share. */
function shortened(id: string): string {
  return id.replace(/^tests\.compatibility\./, "");
}

function attribute(attributes: string, name: string): string {
  const value = new RegExp(`\\b${name}="([^"]*)"`).exec(attributes)?.[1] ?? "";
  const letters: Record<string, string> = { lt: "<", gt: ">", quot: '"', apos: "'", amp: "&", "#10": "\n" };
  return value.replace(/&([a-z]+|#10);/g, (entity, letter: string) => letters[letter] ?? entity);
}

/** A table in Markdown. */
export function table(head: string[], rows: (string | number)[][]): string {
  const line = (cells: (string | number)[]): string => `| ${cells.map((cell) => String(cell).replaceAll("|", "\\|")).join(" | ")} |`;
  return [line(head), `|${"---|".repeat(head.length)}`, ...rows.map(line)].join("\n");
}
