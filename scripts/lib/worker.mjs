// Builds the Worker. A build runs only if one of its inputs has changed.
import { copyFileSync, existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { createHash } from "node:crypto";
import { dirname, join } from "node:path";
import { RECIPE, compile, kinds } from "./compile.mjs";
import { ensureConsole } from "./console.mjs";
import { outputs } from "./engine.mjs";
import { changedSince, contentHash, inputsOf } from "./inputs.mjs";
import { locked } from "./lock.mjs";
import { packageVersion } from "./packages.mjs";
import { inProject } from "./paths.mjs";
import { ensureBindgen, ensureNightly, ensureWasmTarget, rustcVersion } from "./rust.mjs";
import { say, step } from "./ui.mjs";

const MANIFEST = "build.json";
const MODULES = ["index.js", "index_bg.wasm"];
/** The agents of tests/agents in the form that a build would embed: the end-to-end tests pass them to the Worker at run time. */
export const TEST_AGENTS = "test-agents.json";

/**
 * Makes sure that there is a build that can be served, and returns its output and its kind: the one of a deployment if it is current, which takes
 * minutes to make, or else the quick one of development.
 */
export async function ensureServable() {
  const manifest = inProject(outputs.default, MANIFEST);
  if (existsSync(manifest)) {
    const { kind } = JSON.parse(readFileSync(manifest, "utf8"));
    if (Object.hasOwn(kinds, kind) && isCurrent("default", recipeHash(kind, await ensureBindgen()))) return { output: "default", kind };
  }
  return { output: "dev", kind: await ensureBuilt("dev") };
}

/** Updates one of the `outputs` and returns its kind: "unwind", "stable" or "dev". */
export async function ensureBuilt(output) {
  await ensureWasmTarget();
  const bindgen = await ensureBindgen();
  const kind = output === "default" ? await defaultKind() : output;
  const recipe = recipeHash(kind, bindgen);
  await locked(inProject(".wrangler", "build.lock"), async () => {
    await ensureConsole();
    if (isCurrent(output, recipe)) return;
    await step(`Building the Worker (${kinds[kind].title})`, () => build(output, kind, recipe, bindgen));
  });
  return kind;
}

async function defaultKind() {
  const obstacle = process.env.A2A_EDGE_STABLE ? "A2A_EDGE_STABLE is set" : await ensureNightly();
  if (obstacle === undefined) return "unwind";
  say(`Using the stable build, in which a panic ends its whole isolate: ${obstacle}.`);
  return "stable";
}

async function build(output, kind, recipe, bindgen) {
  const begun = Date.now();
  const made = await compile(kind, bindgen);
  publish(made.module, inProject(outputs[output], "index_bg.wasm"));
  publish(made.script, inProject(outputs[output], "index.js"));
  if (made.testAgents) publish(made.testAgents, inProject(outputs[output], TEST_AGENTS));
  const inputs = inputsOf(made);
  // If a file was saved during the build, it is unknown which content was compiled; the next build then runs again.
  const content = changedSince(inputs, begun) ? "changed meanwhile" : contentHash(inputs);
  writeFileSync(inProject(outputs[output], MANIFEST), `${JSON.stringify({ kind, recipe, content, inputs }, null, 2)}\n`);
}

/** Replaces a file atomically, so that no reader sees a part of it. */
function publish(from, to) {
  mkdirSync(dirname(to), { recursive: true });
  copyFileSync(from, `${to}.part`);
  renameSync(`${to}.part`, to);
}

function isCurrent(output, recipe) {
  const at = (name) => inProject(outputs[output], name);
  if (![MANIFEST, ...MODULES].every((name) => existsSync(at(name)))) return false;
  const made = JSON.parse(readFileSync(at(MANIFEST), "utf8"));
  return made.recipe === recipe && made.content === contentHash(made.inputs);
}

/** A hash of everything that a build depends on, except for its input files. */
function recipeHash(kind, bindgen) {
  const { unwind } = kinds[kind];
  const tools = [rustcVersion(unwind), bindgen, packageVersion("binaryen"), packageVersion("esbuild")];
  return createHash("sha256").update(JSON.stringify([kinds[kind], RECIPE, tools, process.env.RUSTFLAGS])).digest("hex");
}
