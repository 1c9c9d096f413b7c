// What `start` and `dev` serve: a build of the Worker behind the modules of dev/, which no deployment has.
import { writeFileSync } from "node:fs";
import { developmentModule } from "./development.mjs";
import { inProject } from "./paths.mjs";
import { outputs } from "./worker.mjs";

/** Puts the module that wrangler is to serve beside a build, and answers its path. A deploy uploads `index.js` and what that imports, so not this one. */
export async function publishServed(output) {
  const main = inProject(outputs[output], "development.js");
  writeFileSync(main, await developmentModule(inProject(outputs[output], "index.js")));
  return main;
}
