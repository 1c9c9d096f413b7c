// `npm run build`, `npx a2a-edge build`, and the build command of wrangler.toml.
import "./lib/node-version.mjs";
import { writeAgents } from "./lib/agents.mjs";
import { command } from "./lib/command.mjs";
import { unlessStopping } from "./lib/guard.mjs";
import { readOptions } from "./lib/options.mjs";
import { setUp, setUpAndBuild } from "./lib/setup.mjs";
import { Stop, main, say } from "./lib/ui.mjs";
import { ensureBuilt } from "./lib/worker.mjs";

const usage = `Usage: ${command("build")}

Sets everything up and builds the Worker if anything has changed.

    -h, --help   this text`;

await main(async () => {
  readOptions({ usage });
  // Set if the command that started wrangler has built already.
  if (process.env.A2A_EDGE_BUILT) return;
  const output = process.env.A2A_EDGE_OUTPUT || "default";
  if (process.env.WRANGLER_COMMAND === undefined) {
    await setUpAndBuild(output);
    writeAgents();
    return;
  }
  const isRebuild = Boolean(process.env.A2A_EDGE_KEEP_SERVING);
  try {
    // `dev` has checked this before its first build.
    if (!isRebuild) await setUp();
    await ensureBuilt(output);
    writeAgents();
  } catch (error) {
    if (!(error instanceof Stop) || !isRebuild) throw error;
    // wrangler dev ends a build when the next change arrives.
    await unlessStopping();
    // After a failed command wrangler dev would answer no request until the next change, so the error is only printed.
    say(`\n${error.message}\n\nThe build before is served until the next change.\n`);
  }
});
