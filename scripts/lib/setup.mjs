// The set-up that every command shares, in the order in which one thing needs the other.
import { locked } from "./lock.mjs";
import { ensurePackages } from "./packages.mjs";
import { inRoot } from "./paths.mjs";
import { checkRequirements } from "./requirements.mjs";
import { ensureBuilt } from "./worker.mjs";

/** Checks the machine and installs the npm packages. */
export async function setUp() {
  checkRequirements();
  await locked(inRoot(".wrangler", "set-up.lock"), ensurePackages);
}

/** All that is needed to run or deploy one of the builds; answers its kind. */
export async function setUpAndBuild(output = "default") {
  await setUp();
  return ensureBuilt(output);
}
