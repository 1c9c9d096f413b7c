// Runs the official conformance kit of MCP for servers against a Worker with an agent that plays its fixtures.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { startWorker } from "../../e2e/harness.ts";
import { kitAgents } from "./agent.ts";
import type { Outcome } from "./section.ts";
import { serverScenariosIn } from "./server-section.ts";

/** Runs the kit, whose program is at this path, against a Worker of its own. */
export async function runServerKit(program: string): Promise<Outcome[]> {
  const worker = await startWorker({ vars: { AGENTS: kitAgents() } });
  try {
    const outcomes: Outcome[] = [];
    for (const revision of ["2026-07-28", "2025-11-25"]) {
      const args = [program, "server", "--url", `${worker.url}/kit/mcp`, "--requirements", revision];
      const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "ignore"] });
      const [output] = await Promise.all([text(child.stdout), once(child, "close")]);
      outcomes.push({ revision, scenarios: serverScenariosIn(output) });
    }
    return outcomes;
  } finally {
    await worker.stop();
  }
}

/** The program of the kit in this folder of packages. */
export const programOf = (kit: URL): string => fileURLToPath(new URL("dist/index.js", kit));
