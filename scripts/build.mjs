// `npm run build`, and the build command of wrangler.toml.
import "./lib/node-version.mjs";
import { checkRequirements } from "./lib/requirements.mjs";
import { setUpAndBuild } from "./lib/setup.mjs";
import { Stop, main, say } from "./lib/ui.mjs";
import { ensureBuilt } from "./lib/worker.mjs";

await main(async () => {
  // Set where the command that started wrangler has built already.
  if (process.env.A2A_EDGE_BUILT) return;
  const output = process.env.A2A_EDGE_OUTPUT || "default";
  if (process.env.WRANGLER_COMMAND === undefined) {
    await setUpAndBuild(output);
    return;
  }
  try {
    checkRequirements();
    await ensureBuilt(output);
  } catch (error) {
    if (!(error instanceof Stop) || !process.env.A2A_EDGE_KEEP_SERVING) throw error;
    // After a failed command wrangler dev would answer no request until the next change.
    say(`\n${error.message}\n\nThe build before is served until the next change.\n`);
  }
});
