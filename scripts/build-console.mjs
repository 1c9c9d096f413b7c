// Builds only the console, without the Worker, in seconds: for work on the console.
import "./lib/node-version.mjs";
import { ensureConsole } from "./lib/console.mjs";
import { locked } from "./lib/lock.mjs";
import { ensurePackages } from "./lib/packages.mjs";
import { inProject } from "./lib/paths.mjs";
import { main } from "./lib/ui.mjs";

await main(async () => {
  await ensurePackages();
  await locked(inProject(".wrangler", "build.lock"), ensureConsole);
});
