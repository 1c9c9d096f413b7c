// The module that `start` and `dev` serve: a build of the Worker wrapped by the modules of dev/, which no deployment contains.
import { writeFileSync } from "node:fs";
import { developmentModule } from "./development.mjs";
import { inProject } from "./paths.mjs";
import { outputs } from "./worker.mjs";

/** Writes the module for wrangler next to a build, and returns its path. A deploy uploads `index.js` and its imports, and so not this module. */
export async function publishServed(output) {
  const main = inProject(outputs[output], "development.js");
  writeFileSync(main, await developmentModule(inProject(outputs[output], "index.js")));
  return main;
}
