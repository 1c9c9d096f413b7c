// Builds the engine of a Worker: the module of WebAssembly with its JavaScript; and, in the checkout, the checker of agent files. A build runs only if
// one of its inputs has changed.
import { copyFileSync, existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { createHash } from "node:crypto";
import { dirname, join } from "node:path";
import { wholeForm } from "./agents.mjs";
import { check, schemas } from "./checker.mjs";
import { RECIPE, compile, compileChecker } from "./compile.mjs";
import { ensureConsole } from "./console.mjs";
import { outputs } from "./engine.mjs";
import { changedSince, contentHash, inputsOf } from "./inputs.mjs";
import { locked } from "./lock.mjs";
import { packageVersion } from "./packages.mjs";
import { inPackage, inProject, isCheckout, isRepository, packageDir, projectDir } from "./paths.mjs";
import { SYMBOLS } from "./rooms.mjs";
import { ensureBindgen, ensureWasmTarget, rustcVersion } from "./rust.mjs";
import { Stop, step } from "./ui.mjs";

const MANIFEST = "build.json";
const MODULES = ["engine.js", "index_bg.wasm"];
const CHECKER = "checker.wasm";
const CHECKER_MANIFEST = "checker.json";
/** The folder of the JSON Schemas for editors. */
const SCHEMAS = "schemas";
/** The agents of tests/agents as one JSON object: the end-to-end tests pass them to the Worker in the variable `AGENTS`. */
export const TEST_AGENTS = "test-agents.json";

/** The output to serve: that of a deployment if it is current, since it takes minutes to make, or else the quick one of development. */
export async function servableOutput() {
  const isReady = isCurrent(inProject(outputs.default), MANIFEST, MODULES, recipeHash("default", await ensureBindgen()));
  return isReady ? "default" : "dev";
}

/** Updates one of the `outputs`. */
export async function ensureBuilt(output) {
  await ensureWasmTarget();
  const bindgen = await ensureBindgen();
  const recipe = recipeHash(output, bindgen);
  // At the same time: optimizing a module keeps one core busy for minutes.
  await together([ensureChecker(), locked(inProject(".wrangler", "build.lock"), async () => {
    await ensureConsole();
    if (isCurrent(inProject(outputs[output]), MANIFEST, MODULES, recipe)) return;
    await step(`Building the Worker${isRelease(output) ? "" : " for development"}`, () => build(output, recipe, bindgen));
  })]);
  if (isRepository) writeTestAgents(output);
}

/** Whether an output is optimized for size, as what is deployed. */
const isRelease = (output) => output !== "dev";

/** Waits for all of the work, so that none is left running when another part fails. */
async function together(work) {
  const failed = (await Promise.allSettled(work)).find(({ status }) => status === "rejected");
  if (failed !== undefined) throw failed.reason;
}

/** Updates the checker and the schemas of the checkout; the package has them. */
async function ensureChecker() {
  if (!isCheckout) return;
  const recipe = createHash("sha256").update(JSON.stringify([RECIPE, rustcVersion(), packageVersion("binaryen")])).digest("hex");
  const folder = inPackage(outputs.default);
  await locked(inPackage(".wrangler", "checker.lock"), async () => {
    if (isCurrent(folder, CHECKER_MANIFEST, [CHECKER, join("..", SCHEMAS)], recipe, packageDir)) return;
    await step("Building the checker of agent files", async () => {
      const begun = Date.now();
      const made = await compileChecker();
      publish(made.module, join(folder, CHECKER));
      mkdirSync(inPackage(SCHEMAS), { recursive: true });
      for (const [name, schema] of Object.entries(schemas())) writeFileSync(inPackage(SCHEMAS, name), `${JSON.stringify(schema, null, 2)}\n`);
      writeManifest(join(folder, CHECKER_MANIFEST), { recipe, begun, inputs: inputsOf(made, packageDir), root: packageDir });
    });
  });
}

/** Writes the agents of tests/agents beside a build. */
function writeTestAgents(output) {
  const { agents, problems } = check({ folder: inProject("tests"), joins: true });
  if (agents === undefined) throw new Stop(problems.map(({ shown }) => `tests/${shown}`).join("\n"));
  writeFileSync(inProject(outputs[output], TEST_AGENTS), wholeForm(agents));
}

async function build(output, recipe, bindgen) {
  const begun = Date.now();
  const made = await compile(isRelease(output), bindgen);
  publish(made.module, inProject(outputs[output], "index_bg.wasm"));
  publish(made.script, inProject(outputs[output], "engine.js"));
  if (made.symbols !== undefined) publish(made.symbols, inProject(outputs[output], SYMBOLS));
  writeManifest(inProject(outputs[output], MANIFEST), { recipe, begun, inputs: inputsOf(made, projectDir), root: projectDir });
}

/** Writes what a build was made of. */
function writeManifest(path, { begun, inputs, root, ...facts }) {
  // If a file was saved during the build, it is unknown which content was compiled; the next build then runs again.
  const content = changedSince(inputs, begun, root) ? "changed meanwhile" : contentHash(inputs, root);
  writeFileSync(path, `${JSON.stringify({ ...facts, content, inputs }, null, 2)}\n`);
}

/** Replaces a file atomically, so that no reader sees a part of it. */
function publish(from, to) {
  mkdirSync(dirname(to), { recursive: true });
  copyFileSync(from, `${to}.part`);
  renameSync(`${to}.part`, to);
}

/** True if a folder has these files, and the inputs are those of which they were made. */
function isCurrent(folder, manifest, files, recipe, root = projectDir) {
  if (![manifest, ...files].every((name) => existsSync(join(folder, name)))) return false;
  const made = JSON.parse(readFileSync(join(folder, manifest), "utf8"));
  return made.recipe === recipe && made.content === contentHash(made.inputs, root);
}

/** A hash of everything that a build depends on, except for its input files. */
function recipeHash(output, bindgen) {
  const tools = [rustcVersion(), bindgen, packageVersion("binaryen"), packageVersion("esbuild")];
  return createHash("sha256").update(JSON.stringify([isRelease(output), RECIPE, tools, process.env.RUSTFLAGS, process.env.CARGO_ENCODED_RUSTFLAGS])).digest("hex");
}
