// Runs the official conformance kit against the built Worker and writes docs/conformance.md from its reports. The branch of the
// kit for A2A 0.3 has a section of the page, which a run of the other one keeps, as it does that about servers.
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { startWorker } from "../e2e/harness.ts";
import { OLDER, unexpected } from "./deviations.ts";
import { outcomeOf, page, readTests, type Report } from "./page.ts";
import { clientSectionIn, olderSection, sectionIn, withSection } from "./section.ts";

const [kit = "", python = ""] = process.argv.slice(2);
const git = (...args: string[]): string => execFileSync("git", ["-C", kit, ...args], { encoding: "utf8" }).trim();

/** The kit for 0.3 has its tests elsewhere. */
const isOlder = existsSync(join(kit, "tests", "mandatory"));

const folder = mkdtempSync(join(tmpdir(), "a2a-edge-conformance-"));
// The kit acts on the ids of its messages; this agent of agents/ plays along. The agents of the tests are left out.
// The kit for 1.0 names no version when it asks for the card, and takes no member of another version in it.
// The one for 0.3 sends without saying how long to wait, and wants the task while it is working.
const vars = isOlder ? { BLOCKING_LIMIT_MS: "100" } : { CARD_DIALECTS: "1.0" };
const worker = await startWorker({ vars: { AGENTS: "", DEFAULT_AGENT: "conformance", ...vars } });
try {
  const card = await fetch(`${worker.url}/conformance/.well-known/agent-card.json`);
  if (!card.ok) throw new Error("there is no agents/conformance.toml, the agent that the kit is to test");
  const [report, tests] = [join(folder, "report.json"), join(folder, "tests.xml")];
  const own = isOlder
    ? ["tests/mandatory/", "tests/optional/", `--sut-url=${worker.url}`, "--test-scope=all"]
    : ["tests/compatibility/", `--sut-host=${worker.url}`, "--transport=jsonrpc,http_json", `--compatibility-report=${report}`];
  const args = ["-m", "pytest", ...own, "-q", "--tb=short", "-p", "no:cacheprovider", `--junitxml=${tests}`];
  const env = { ...process.env, PYTHONDONTWRITEBYTECODE: "1" };
  await once(spawn(python, args, { cwd: kit, env, stdio: ["ignore", "inherit", "inherit"] }), "close");
  if (!existsSync(tests) || (!isOlder && !existsSync(report))) throw new Error("the kit wrote no report");

  const told = readTests(readFileSync(tests, "utf8"));
  const run = {
    // A worktree has no branch.
    branch: git("rev-parse", "--abbrev-ref", "HEAD").replace(/^HEAD$/, isOlder ? "0.3.x" : "1.0-dev"),
    revision: git("rev-parse", "HEAD"),
    date: new Date().toISOString().slice(0, 10),
  };
  const path = fileURLToPath(new URL("../../docs/conformance.md", import.meta.url));
  const before = existsSync(path) ? readFileSync(path, "utf8") : "";
  const deviations = isOlder ? OLDER : [];
  if (isOlder) {
    writeFileSync(path, withSection(before, olderSection(run, told, deviations)));
  } else {
    const outcome = outcomeOf(JSON.parse(readFileSync(report, "utf8")) as Report, told);
    const written = `${page(run, outcome).trimEnd()}\n\n${clientSectionIn(before)}`;
    writeFileSync(path, withSection(written, sectionIn(before)));
  }
  console.log("\ndocs/conformance.md is written.");
  const { failed, notFailed } = unexpected(told, deviations);
  for (const { id, reason } of failed) console.log(`failed: ${id}: ${reason}`);
  for (const { test } of notFailed) console.log(`did not fail, though tests/conformance/deviations.ts says so: ${test}`);
  if (failed.length > 0 || notFailed.length > 0) process.exitCode = 1;
} finally {
  await worker.stop();
  rmSync(folder, { recursive: true, force: true });
}
