// Runs the official conformance kit against the built Worker and writes docs/conformance.md from its reports.
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { startWorker } from "../e2e/harness.ts";
import { outcomeOf, page, readTests, type Report } from "./page.ts";

const [kit = "", python = ""] = process.argv.slice(2);
const git = (...args: string[]): string => execFileSync("git", ["-C", kit, ...args], { encoding: "utf8" }).trim();

const folder = mkdtempSync(join(tmpdir(), "a2a-edge-conformance-"));
// The kit acts on the ids of its messages; this agent of agents/ plays along. The agents of the tests are left out.
const worker = await startWorker({ vars: { AGENTS: "", DEFAULT_AGENT: "conformance" } });
try {
  const card = await fetch(`${worker.url}/conformance/.well-known/agent-card.json`);
  if (!card.ok) throw new Error("there is no agents/conformance.toml, the agent that the kit is to test");
  const [report, tests] = [join(folder, "report.json"), join(folder, "tests.xml")];
  const args = [
    "-m", "pytest", "tests/compatibility/", "-q", "--tb=short", "-p", "no:cacheprovider",
    `--sut-host=${worker.url}`, "--transport=jsonrpc,http_json", `--compatibility-report=${report}`, `--junitxml=${tests}`,
  ];
  const env = { ...process.env, PYTHONDONTWRITEBYTECODE: "1" };
  await once(spawn(python, args, { cwd: kit, env, stdio: ["ignore", "inherit", "inherit"] }), "close");
  if (!existsSync(report) || !existsSync(tests)) throw new Error("the kit wrote no report");

  const outcome = outcomeOf(JSON.parse(readFileSync(report, "utf8")) as Report, readTests(readFileSync(tests, "utf8")));
  const run = {
    branch: git("rev-parse", "--abbrev-ref", "HEAD"),
    revision: git("rev-parse", "HEAD"),
    date: new Date().toISOString().slice(0, 10),
  };
  writeFileSync(fileURLToPath(new URL("../../docs/conformance.md", import.meta.url)), page(run, outcome));
  console.log("\ndocs/conformance.md is written.");
  if (outcome.failed.length > 0) process.exitCode = 1;
} finally {
  await worker.stop();
  rmSync(folder, { recursive: true, force: true });
}
