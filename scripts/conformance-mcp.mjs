// `npm run conformance:mcp`: runs the official conformance kit of MCP for clients and writes its section of docs/conformance.md. What is
// done is in tests/conformance/mcp/.
import "./lib/node-version.mjs";
import { join } from "node:path";
import { ensureNpm } from "./lib/npm-folder.mjs";
import { readOptions } from "./lib/options.mjs";
import { packagedNode } from "./lib/packages.mjs";
import { inPackage, packageDir } from "./lib/paths.mjs";
import { cargoTerminal, environment, run } from "./lib/process.mjs";
import { setUp } from "./lib/setup.mjs";
import { Stop, main } from "./lib/ui.mjs";

const usage = `Usage: npm run conformance:mcp

Builds the client of MCP servers, runs the official conformance kit over it, in 2026-07-28 and 2025-11-25, and writes the section of
docs/conformance.md about it. The kit is installed once. The exit code is 1 if a scenario fails, except for those that the section leaves out.

    -h, --help     this text`;

await main(async () => {
  readOptions({ usage });
  await setUp();
  await ensureNpm(inPackage("tests", "conformance", "mcp"), "Installing the conformance kit of MCP");
  const build = ["build", "--quiet", "--example", "conform", "--package", "a2a-edge-mcp", "--features", "native"];
  const built = await run("cargo", build, { cwd: packageDir, env: environment(cargoTerminal()) });
  if (built.code !== 0) throw new Stop("Our client was not built; what the compiler says is above.");
  const program = join(process.env.CARGO_TARGET_DIR || inPackage("target"), "debug", "examples", "conform");
  const args = ["--disable-warning=ExperimentalWarning", inPackage("tests", "conformance", "mcp", "main.ts"), program];
  const { code } = await run(packagedNode(), args, { cwd: packageDir, env: environment() });
  if (code !== 0) throw new Stop("The kit did not pass, see above.");
});
