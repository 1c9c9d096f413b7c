// The set-up that every command shares, in the order in which one thing needs the other.
import { checkConfig } from "./config.mjs";
import { ensurePackages } from "./packages.mjs";
import { checkRequirements } from "./requirements.mjs";
import { ensureBuilt } from "./worker.mjs";

/** Checks the machine, installs the npm packages, and checks what wrangler.toml says for one of its environments. */
export async function setUp(environment) {
  checkRequirements();
  await ensurePackages();
  await checkConfig(environment);
}

/** All that is needed to run or deploy one of the builds; answers its kind. */
export async function setUpAndBuild(output = "default") {
  await setUp();
  return ensureBuilt(output);
}
