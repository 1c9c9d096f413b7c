// Runs the official conformance kit of MCP over our client and our server, and writes their sections of docs/conformance.md.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { type SuiteEntry, writeSuite } from "../report.ts";
import { writeSection } from "../sections.ts";
import { AUTHORIZATION, type Outcome, type Scenario, isLeftOut, scenariosIn, section, unexpected } from "./section.ts";
import { reasonOf, serverSection, surprises } from "./server-section.ts";
import { programOf, runServerKit } from "./server.ts";

const [program = ""] = process.argv.slice(2);
const kit = new URL("node_modules/@modelcontextprotocol/conformance/", import.meta.url);
const { version } = JSON.parse(readFileSync(new URL("package.json", kit), "utf8")) as { version: string };
const folder = mkdtempSync(join(tmpdir(), "a2a-edge-conformance-mcp-"));

async function run(revision: string): Promise<Outcome> {
  const args = [fileURLToPath(new URL("dist/index.js", kit)), "client", "--command", program, "--requirements", revision, "--output-dir", folder];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "ignore"] });
  const [output] = await Promise.all([text(child.stdout), once(child, "close")]);
  return { revision, scenarios: scenariosIn(output) };
}

try {
  const outcomes = [await run("2026-07-28"), await run("2025-11-25")];
  const served = await runServerKit(programOf(kit));
  const date = new Date().toISOString().slice(0, 10);
  writeSection("MCP, client", section(version, date, outcomes));
  writeSection("MCP, server", serverSection(version, date, served));
  for (const outcome of outcomes) writeSuite(entryOf("client", date, outcome, (one) => (isLeftOut(one) ? AUTHORIZATION : undefined)));
  for (const outcome of served) writeSuite(entryOf("server", date, outcome, reasonOf));
  console.log("\ndocs/conformance.md and docs/conformance.json are written.");
  const wrong = [...outcomes.flatMap(unexpected), ...served.flatMap(surprises)];
  for (const line of wrong) console.log(line);
  if (wrong.length > 0) process.exitCode = 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}

/** What the scenarios of one revision came to; those that are expected to fail deviate. */
function entryOf(role: string, date: string, { revision, scenarios }: Outcome, expected: (one: Scenario) => string | undefined): SuiteEntry {
  const failing = scenarios.filter(({ failed }) => failed > 0);
  const deviations = failing.flatMap((one) => {
    const reason = expected(one);
    return reason === undefined ? [] : [{ test: one.name, reason }];
  });
  // A scenario without a check is one for which the kit finds nothing to look at.
  const skipped = scenarios.filter(({ passed, failed }) => passed + failed === 0).length;
  const numbers = { passed: scenarios.length - failing.length - skipped, failed: failing.length - deviations.length, skipped, deviating: deviations.length };
  return { suite: `MCP ${revision}, ${role}`, revision: version, date, numbers, deviations };
}
