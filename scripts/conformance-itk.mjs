// `npm run conformance:itk`: walks circuits of agents of different SDKs by the ITK, and writes their section of docs/conformance.md. What is
// done is in tests/conformance/itk/.
import "./lib/node-version.mjs";
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { ensureExample } from "./lib/examples.mjs";
import { prepareItk } from "./lib/itk.mjs";
import { readOptions } from "./lib/options.mjs";
import { packagedNode } from "./lib/packages.mjs";
import { inPackage, packageDir } from "./lib/paths.mjs";
import { run } from "./lib/process.mjs";
import { scratchFolder } from "./lib/scratch.mjs";
import { setUpAndBuild } from "./lib/setup.mjs";
import { Stop, main } from "./lib/ui.mjs";
import { outputs } from "./lib/engine.mjs";

const usage = `Usage: npm run conformance:itk -- --itk FOLDER

Builds the Worker and our agent for the ITK, walks circuits of it and the ITK's agents in Python, JavaScript and Go, and writes the section
of docs/conformance.md about them and their entry of docs/conformance.json. What the agents need is installed once, in the checkout. Python
3.11 or newer is needed, and fuser; agents in Go are left out where there is no Go. The exit code is 1 if a circuit fails, except for the
deviations that the page explains.

    --itk FOLDER   a checkout of https://github.com/a2aproject/a2a-itk
    -h, --help     this text`;

await main(async () => {
  const { values, refuse } = readOptions({ usage, options: { itk: { type: "string" } } });
  if (values.itk === undefined) throw refuse("--itk is needed: the checkout of the ITK.");
  const kit = resolve(values.itk);
  if (!existsSync(join(kit, "itk_service.py"))) throw refuse(`${kit} is no checkout of the ITK: it has no itk_service.py.`);
  await setUpAndBuild();
  const program = await ensureExample("itk", "a2a-edge-protocol");
  const { env, absent } = await prepareItk(kit);
  const args = ["--disable-warning=ExperimentalWarning", inPackage("tests", "conformance", "itk", "main.ts"), kit, program, JSON.stringify(absent)];
  const { code } = await run(packagedNode(), args, { cwd: packageDir, env: { ...env, A2A_BUILD_DIR: outputs.default, TMPDIR: scratchFolder() } });
  if (code !== 0) throw new Stop("A circuit failed, see above.");
});
