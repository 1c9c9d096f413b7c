// `npm run conformance:mcp`: runs the official conformance kit of MCP and writes its sections of docs/conformance.md.
// tests/conformance/mcp/ contains the code.
import "./lib/node-version.mjs";
import { ensureExample } from "./lib/examples.mjs";
import { ensureNpm } from "./lib/npm-folder.mjs";
import { readOptions } from "./lib/options.mjs";
import { packagedNode } from "./lib/packages.mjs";
import { inPackage, packageDir } from "./lib/paths.mjs";
import { environment, run } from "./lib/process.mjs";
import { scratchFolder } from "./lib/scratch.mjs";
import { setUpAndBuild } from "./lib/setup.mjs";
import { Stop, main } from "./lib/ui.mjs";
import { outputs } from "./lib/engine.mjs";

const usage = `Usage: npm run conformance:mcp

Builds the client of MCP servers and the Worker, runs the official conformance kit over both, in 2026-07-28 and 2025-11-25, and writes the
sections of docs/conformance.md about them. The kit is installed once. The exit code is 1 if a scenario fails, except for those that the sections leave out.

    -h, --help     this text`;

await main(async () => {
  readOptions({ usage });
  await setUpAndBuild();
  await ensureNpm(inPackage("tests", "conformance", "mcp"), "Installing the conformance kit of MCP");
  const program = await ensureExample("conform", "a2a-edge-mcp");
  const args = ["--disable-warning=ExperimentalWarning", inPackage("tests", "conformance", "mcp", "main.ts"), program];
  const { code } = await run(packagedNode(), args, { cwd: packageDir, env: environment({ A2A_BUILD_DIR: outputs.default, TMPDIR: scratchFolder() }) });
  if (code !== 0) throw new Stop("The kit did not pass, see above.");
});
