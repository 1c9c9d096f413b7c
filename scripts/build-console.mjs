// Builds the console alone, without the Worker: seconds, for those who work on it.
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
