// The set-up that every command shares, in the order of its dependencies.
import { writeAgents } from "./agents.mjs";
import { checkConfig } from "./config.mjs";
import { checkEngine, chooseEngine } from "./engine.mjs";
import { ensurePackages } from "./packages.mjs";
import { hasRust, isCheckout } from "./paths.mjs";

/** Checks the machine and the npm packages, and one environment of wrangler.toml. A project without Rust needs Node alone. */
export async function setUp(environment) {
  if (hasRust) (await import("./requirements.mjs")).checkRequirements();
  await ensurePackages();
  if (!isCheckout) checkEngine();
  await checkConfig(environment);
}

/** Prepares everything for running: the set-up, then what is built. */
export async function setUpAndBuild(output = "default") {
  await setUp();
  return build(output);
}

/**
 * Checks and writes the agents, and makes the engine of a project with Rust. `output` is the build, or "served", any that can be served soon. Returns
 * what `writeAgents` returns, and which `output` was built.
 */
export async function build(output) {
  if (!hasRust) return writeAgents();
  // The checker of a checkout is one of the things that are built. Elsewhere it is ready, and mistakes are told before the compiler is waited for.
  if (!isCheckout) writeAgents();
  const built = await buildEngine(output);
  return { ...writeAgents(), output: built };
}

async function buildEngine(output) {
  const { ensureBuilt, servableOutput } = await import("./worker.mjs");
  const built = output === "served" ? await servableOutput() : output;
  await ensureBuilt(built);
  chooseEngine(built);
  return built;
}
