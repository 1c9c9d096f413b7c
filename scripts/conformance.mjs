// `npm run conformance`: runs a2a-tck, the official conformance kit, or every suite that is given, and writes docs/conformance.md.
// tests/conformance/ contains the code.
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
import { Stop, main, say } from "./lib/ui.mjs";
import { outputs } from "./lib/engine.mjs";

const usage = `Usage: npm run conformance -- --kit FOLDER
       npm run conformance -- --all [FOLDER...]

Builds the Worker, runs a2a-tck, the official conformance kit, against it, and writes its section of docs/conformance.md and its entries of
docs/conformance.json. With --all it runs each suite that is given, and that of MCP, which comes from npm. The exit code is 1 if a test fails,
except for the deviations that the page explains. Python 3.11 or newer is needed; what the kit needs of it is installed once.

    --kit FOLDER   a checkout of https://github.com/a2aproject/a2a-tck, branch 1.0-dev or 0.3.x
    --all          each folder is such a checkout, one of https://github.com/a2aproject/A2A with the suite ACTS,
                   or one of https://github.com/a2aproject/a2a-itk
    -h, --help     this text`;

/** How a checkout is known, by files of which it has one, and what runs its suite. */
const SUITES = [
  { files: ["tests/compatibility", "tests/mandatory"], script: "conformance.mjs", option: "--kit" },
  { files: ["tests/acts/suite.acts.yaml", "suite.acts.yaml"], script: "conformance-acts.mjs", option: "--suite" },
  { files: ["itk_service.py"], script: "conformance-itk.mjs", option: "--itk" },
];

await main(async () => {
  const { values, positionals, refuse } = readOptions({ usage, options: { kit: { type: "string" }, all: { type: "boolean" } }, positionals: true });
  if (values.all) {
    const runs = positionals.map((folder) => [...suiteOf(resolve(folder), refuse), resolve(folder)]);
    return runAll([...runs, ["conformance-mcp.mjs"]]);
  }
  if (positionals.length > 0) throw refuse(`There is no argument "${positionals[0]}" without --all.`);
  if (values.kit === undefined) throw refuse("--kit is needed, the checkout of the kit, or --all.");
  await runKit(resolve(values.kit), refuse);
});

/** The script and the option for the suite in this folder. */
function suiteOf(folder, refuse) {
  const suite = SUITES.find(({ files }) => files.some((file) => existsSync(join(folder, file))));
  if (suite === undefined) throw refuse(`${folder} is no checkout of a suite: it has none of ${SUITES.flatMap(({ files }) => files).join(", ")}.`);
  return [suite.script, suite.option];
}

/** Runs one suite after the other, also behind one that fails. */
async function runAll(runs) {
  const failed = [];
  for (const [script, ...args] of runs) {
    say(`\n${[script, ...args].join(" ")}\n`);
    const { code } = await run(process.execPath, [inPackage("scripts", script), ...args], { cwd: packageDir });
    if (code !== 0) failed.push([script, ...args].join(" "));
  }
  if (failed.length > 0) throw new Stop(`Not all suites passed:\n\n    ${failed.join("\n    ")}`);
}

async function runKit(kit, refuse) {
  const [{ files }] = SUITES;
  if (!files.some((file) => existsSync(join(kit, file)))) {
    throw refuse(`${kit} is no checkout of the kit: it has neither tests/compatibility (1.0-dev) nor tests/mandatory (0.3.x).`);
  }
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
}
