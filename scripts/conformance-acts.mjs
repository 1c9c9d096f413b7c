// `npm run conformance:acts`: runs ACTS, the draft conformance suite of A2A, and writes its section of docs/conformance.md. What is done is
// in tests/conformance/acts/.
import "./lib/node-version.mjs";
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { ensureExample } from "./lib/examples.mjs";
import { readOptions } from "./lib/options.mjs";
import { packagedNode } from "./lib/packages.mjs";
import { inPackage, packageDir } from "./lib/paths.mjs";
import { environment, run } from "./lib/process.mjs";
import { scratchFolder } from "./lib/scratch.mjs";
import { setUpAndBuild } from "./lib/setup.mjs";
import { Stop, main } from "./lib/ui.mjs";
import { outputs } from "./lib/engine.mjs";

const usage = `Usage: npm run conformance:acts -- --suite FOLDER

Builds the Worker and the client, runs ACTS over both, over JSON-RPC and HTTP+JSON, and writes the section of docs/conformance.md about it and
its entries of docs/conformance.json. The exit code is 1 if a test fails, except for the deviations that the page explains.

    --suite FOLDER    a checkout of https://github.com/a2aproject/A2A with tests/acts/, or that folder in it
    --report FOLDER   writes the reports of ACTS there, one for each binding
    -h, --help        this text`;

await main(async () => {
  const { values, refuse } = readOptions({ usage, options: { suite: { type: "string" }, report: { type: "string" } } });
  if (values.suite === undefined) throw refuse("--suite is needed: the folder of the suite.");
  const folder = resolve(values.suite);
  const manifest = [join(folder, "tests", "acts", "suite.acts.yaml"), join(folder, "suite.acts.yaml")].find((path) => existsSync(path));
  if (manifest === undefined) throw refuse(`${folder} has no suite.acts.yaml.`);

  await setUpAndBuild();
  const program = await ensureExample("acts", "a2a-edge-protocol");
  const script = inPackage("tests", "conformance", "acts", "main.ts");
  const args = ["--disable-warning=ExperimentalWarning", script, manifest, program, values.report === undefined ? "" : resolve(values.report)];
  const { code } = await run(packagedNode(), args, { cwd: packageDir, env: environment({ A2A_BUILD_DIR: outputs.default, TMPDIR: scratchFolder() }) });
  if (code !== 0) throw new Stop("The suite did not pass, see above.");
});
