// `npm run test:peers`: tests foreign programs with the Worker and writes docs/peers.md. tests/peers/ contains the code.
import "./lib/node-version.mjs";
import { resolve } from "node:path";
import { readOptions } from "./lib/options.mjs";
import { inNpmPackage, packagedNode } from "./lib/packages.mjs";
import { inPackage, packageDir } from "./lib/paths.mjs";
import { ensurePeers } from "./lib/peers.mjs";
import { environment, run } from "./lib/process.mjs";
import { scratchFolder } from "./lib/scratch.mjs";
import { setUpAndBuild } from "./lib/setup.mjs";
import { tryRustProject } from "./lib/trial-package.mjs";
import { Stop, main, say } from "./lib/ui.mjs";
import { outputs } from "./lib/engine.mjs";

const usage = `Usage: npm run test:peers [-- [--only NAME] [--sdk FOLDER --samples FOLDER] [--kit FOLDER]]

Builds the Worker, tries foreign programs against it (clients, libraries for receivers of notifications, frameworks for agents) and writes their
versions and results into docs/peers.md. Before that it makes a project with Rust, as its author does, and runs its tests. Installs them first, once. The exit code is 1 if one of them fails. Python 3.11 or
newer is needed for those in Python; without it they are left out and nothing is written.

    --only NAME        tries the programs of this name only, and writes nothing
    --sdk FOLDER       a checkout of https://github.com/a2aproject/a2a-js: its samples are run in the Worker, too
    --samples FOLDER   and those of this checkout of https://github.com/a2aproject/a2a-samples
    --kit FOLDER       runs the official conformance kit, too, as npm run conformance does
    -h, --help         this text`;

await main(async () => {
  const options = { only: { type: "string" }, sdk: { type: "string" }, samples: { type: "string" }, kit: { type: "string" } };
  const { values, refuse } = readOptions({ usage, options });
  if ((values.sdk === undefined) !== (values.samples === undefined)) throw refuse("--sdk and --samples are given together.");
  await setUpAndBuild();
  if (values.only === undefined && !(await tryRustProject())) throw new Stop("The project with Rust does not pass its tests, see above.");
  const { rust, python, older, newest, mcp, frameworks } = await ensurePeers();
  for (const [example, from] of [["call", "a2a-edge-protocol"], ["tools", "a2a-edge-mcp"]]) {
    const { code } = await run("cargo", ["build", "--quiet", "--example", example, "--package", from, "--features", `${from}/native`], { cwd: packageDir });
    if (code !== 0) throw new Stop("Our client was not built; what the compiler says is above.");
  }
  const env = environment({ A2A_BUILD_DIR: outputs.default, TMPDIR: scratchFolder() });
  const passes = async (program, ...args) => (await run(program, args, { cwd: packageDir, env })).code === 0;

  if (!(await passes(inNpmPackage("typescript", "bin", "tsc"), "--project", inPackage("tests", "peers")))) {
    throw new Stop("The programs in tests/peers have wrong types, see above.");
  }
  const samples = values.sdk === undefined ? [] : ["--sdk", resolve(values.sdk), "--samples", resolve(values.samples)];
  const args = [...(values.only === undefined ? [] : ["--only", values.only]), ...samples, ...rust, ...(python ? [python, older, newest, mcp, frameworks] : [])];
  const passed = await passes(packagedNode(), "--disable-warning=ExperimentalWarning", inPackage("tests", "peers", "main.ts"), ...args);
  if (values.sdk === undefined) say("\nThe samples of the official SDK were not run: they want --sdk and --samples, checkouts of a2aproject/a2a-js and a2aproject/a2a-samples.");
  if (values.kit === undefined) {
    say("\nThe official conformance kit was not run: it wants --kit FOLDER, a checkout of https://github.com/a2aproject/a2a-tck, branch 1.0-dev or 0.3.x.");
  } else if (!(await passes(process.execPath, inPackage("scripts", "conformance.mjs"), "--kit", resolve(values.kit)))) {
    throw new Stop("The conformance kit did not pass, see above.");
  }
  if (!passed) throw new Stop("A program did not do what it should, see above.");
});
