// `npm run conformance`: runs the official conformance kit and writes docs/conformance.md. tests/conformance/ contains the code.
import "./lib/node-version.mjs";
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { readOptions } from "./lib/options.mjs";
import { packagedNode } from "./lib/packages.mjs";
import { inPackage, packageDir } from "./lib/paths.mjs";
import { environment, run } from "./lib/process.mjs";
import { virtualEnvironment } from "./lib/python.mjs";
import { scratchFolder } from "./lib/scratch.mjs";
import { setUpAndBuild } from "./lib/setup.mjs";
import { Stop, main } from "./lib/ui.mjs";
import { outputs } from "./lib/worker.mjs";

const usage = `Usage: npm run conformance -- --kit FOLDER

Builds the Worker, runs the official conformance kit against it and writes docs/conformance.md: the branch 0.3.x its section
there, 1.0-dev all else. The exit code is 1 if a test of the kit fails, except for the deviations that the page explains. Python 3.11
or newer is needed; what the kit needs of it is installed once.

    --kit FOLDER   a checkout of https://github.com/a2aproject/a2a-tck, branch 1.0-dev or 0.3.x
    -h, --help     this text`;

await main(async () => {
  const { values, refuse } = readOptions({ usage, options: { kit: { type: "string" } } });
  if (values.kit === undefined) throw refuse("--kit is needed: the checkout of the kit.");
  const kit = resolve(values.kit);
  const isKit = ["compatibility", "mandatory"].some((folder) => existsSync(join(kit, "tests", folder)));
  if (!isKit) throw refuse(`${kit} is no checkout of the kit: it has neither tests/compatibility (1.0-dev) nor tests/mandatory (0.3.x).`);

  const python = await virtualEnvironment({
    name: "conformance",
    title: "Installing what the conformance kit needs",
    least: [3, 11],
    requirements: join(kit, "pyproject.toml"),
    install: [kit],
  });
  if (python === undefined) throw new Stop("The conformance kit needs Python 3.11 or newer with venv.");
  await setUpAndBuild();
  const env = environment({ A2A_BUILD_DIR: outputs.default, TMPDIR: scratchFolder() });
  const args = ["--disable-warning=ExperimentalWarning", inPackage("tests", "conformance", "main.ts"), kit, python];
  const { code } = await run(packagedNode(), args, { cwd: packageDir, env });
  if (code !== 0) throw new Stop("The kit did not pass, see above.");
});
