// The set-up that every command shares, in the order of its dependencies.
import { checkConfig } from "./config.mjs";
import { ensurePackages } from "./packages.mjs";
import { checkRequirements } from "./requirements.mjs";
import { ensureBuilt } from "./worker.mjs";

/** Checks the machine, installs the npm packages, and checks one environment of wrangler.toml. */
export async function setUp(environment) {
  checkRequirements();
  await ensurePackages();
  await checkConfig(environment);
}

/** Prepares everything for running or deploying one of the builds; returns its kind. */
export async function setUpAndBuild(output = "default") {
  await setUp();
  return ensureBuilt(output);
}
