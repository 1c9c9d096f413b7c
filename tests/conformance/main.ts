// Runs a2a-tck, the official conformance kit, against the built Worker, and writes its section of docs/conformance.md and its entries of
// docs/conformance.json: the branch 1.0-dev once with each kind of card, the branch 0.3.x once over each transport.
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startWorker } from "../e2e/harness.ts";
import { NEWER, OLDER_BY_TRANSPORT, shownDeviations, unexpected, type Deviation } from "./deviations.ts";
import { newerSection, numbersOf, outcomeOf, readTests, type Report, type Run, type Test } from "./page.ts";
import { writeSuite } from "./report.ts";
import { olderSection } from "./section.ts";
import { writeSection } from "./sections.ts";

const [kit = "", python = ""] = process.argv.slice(2);
const git = (...args: string[]): string => execFileSync("git", ["-C", kit, ...args], { encoding: "utf8" }).trim();

/** The kit for 0.3 has its tests elsewhere. */
const isOlder = existsSync(join(kit, "tests", "mandatory"));

const branch = isOlder ? "0.3.x" : "1.0-dev";
const run: Run = { branch, revision: git("rev-parse", "HEAD"), date: new Date().toISOString().slice(0, 10) };
const folder = mkdtempSync(join(tmpdir(), "a2a-edge-conformance-"));
const report = join(folder, "report.json");

/** What the tests of the kit come to against a Worker with these variables. `args` are made of its URL. */
async function testsOf(vars: Record<string, string>, args: (url: string) => string[]): Promise<Test[]> {
  // The kit acts on the ids of its messages; this agent of agents/ plays along. The agents of the tests are left out.
  const worker = await startWorker({ vars: { AGENTS: "", DEFAULT_AGENT: "conformance", ...vars } });
  try {
    const card = await fetch(`${worker.url}/conformance/.well-known/agent-card.json`);
    if (!card.ok) throw new Error("there is no agents/conformance.toml, the agent that the kit is to test");
    const junit = join(folder, "tests.xml");
    rmSync(junit, { force: true });
    const all = ["-m", "pytest", ...args(worker.url), "-q", "--tb=short", "-p", "no:cacheprovider", `--junitxml=${junit}`];
    await once(spawn(python, all, { cwd: kit, env: { ...process.env, PYTHONDONTWRITEBYTECODE: "1" }, stdio: ["ignore", "inherit", "inherit"] }), "close");
    if (!existsSync(junit)) throw new Error("the kit wrote no report");
    return readTests(readFileSync(junit, "utf8"));
  } finally {
    await worker.stop();
  }
}

/** Writes the entry of one run; says what is wrong with it. */
function finish(suite: string, tests: Test[], deviations: Deviation[]): void {
  const shown = shownDeviations(tests, deviations).map(({ test, kit, here }) => ({ test, reason: `it ${kit}; here: ${here}` }));
  writeSuite({ suite: `a2a-tck ${branch}, ${suite}`, revision: run.revision, date: run.date, numbers: numbersOf(tests, deviations), deviations: shown });
  const { failed, notFailed } = unexpected(tests, deviations);
  for (const { id, reason } of failed) console.log(`failed, ${suite}: ${id}: ${reason}`);
  for (const { test } of notFailed) console.log(`did not fail, ${suite}, though tests/conformance/deviations.ts says so: ${test}`);
  if (failed.length > 0 || notFailed.length > 0) process.exitCode = 1;
}

async function runNewer(): Promise<void> {
  const args = (url: string): string[] => ["tests/compatibility/", `--sut-host=${url}`, "--transport=jsonrpc,http_json", `--compatibility-report=${report}`];
  const tests = await testsOf({}, args);
  const outcome = outcomeOf(JSON.parse(readFileSync(report, "utf8")) as Report, tests);
  // The kit names no version when it asks for the card, and takes no member of another version in it.
  const runs = [{ dialects: "all", tests, deviations: NEWER }, { dialects: "1.0", tests: await testsOf({ CARD_DIALECTS: "1.0" }, args), deviations: [] }];
  writeSection("a2a-tck 1.0-dev", newerSection(run, runs, outcome));
  for (const { dialects, tests, deviations } of runs) finish(`CARD_DIALECTS=${dialects}`, tests, deviations);
}

async function runOlder(): Promise<void> {
  const titles: Record<string, string> = { jsonrpc: "JSON-RPC", rest: "HTTP+JSON" };
  const runs = [];
  for (const [transport, title] of Object.entries(titles)) {
    const args = (url: string): string[] =>
      ["tests/mandatory/", "tests/optional/", `--sut-url=${url}`, "--test-scope=all", `--transport-strategy=prefer_${transport}`];
    // The kit sends without saying how long to wait, and wants the task while it is working.
    runs.push({ title, tests: await testsOf({ BLOCKING_LIMIT_MS: "100" }, args), deviations: OLDER_BY_TRANSPORT[transport] ?? [] });
  }
  writeSection("a2a-tck 0.3.x", olderSection(run, runs));
  for (const { title, tests, deviations } of runs) finish(title, tests, deviations);
}

try {
  await (isOlder ? runOlder() : runNewer());
  console.log("\ndocs/conformance.md and docs/conformance.json are written.");
} finally {
  rmSync(folder, { recursive: true, force: true });
}
