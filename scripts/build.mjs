// `npm run build`, and the build command of wrangler.toml.
import "./lib/node-version.mjs";
import { checkRequirements } from "./lib/requirements.mjs";
import { setUpAndBuild } from "./lib/setup.mjs";
import { main } from "./lib/ui.mjs";
import { ensureBuilt } from "./lib/worker.mjs";

await main(async () => {
  // Set where the command that started wrangler has built already.
  if (process.env.A2A_EDGE_BUILT) return;
  const output = process.env.A2A_EDGE_OUTPUT || "default";
  if (process.env.WRANGLER_COMMAND) {
    checkRequirements();
    await ensureBuilt(output);
  } else {
    await setUpAndBuild(output);
  }
});
