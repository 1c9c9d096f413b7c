// Runs the official conformance kit of MCP over our client and our server, and writes their sections of docs/conformance.md.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { type Outcome, scenariosIn, section, unexpected, withClientSection } from "./section.ts";
import { serverSection, surprises, withServerSection } from "./server-section.ts";
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
  const page = fileURLToPath(new URL("../../../docs/conformance.md", import.meta.url));
  const date = new Date().toISOString().slice(0, 10);
  const withClient = withClientSection(readFileSync(page, "utf8"), section(version, date, outcomes));
  writeFileSync(page, withServerSection(withClient, serverSection(version, date, served)));
  console.log("\ndocs/conformance.md is written.");
  const wrong = [...outcomes.flatMap(unexpected), ...served.flatMap(surprises)];
  for (const line of wrong) console.log(line);
  if (wrong.length > 0) process.exitCode = 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}
