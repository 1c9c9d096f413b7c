// `npm run build`, `npx a2a-edge build`, and the build command of wrangler.toml.
import "./lib/node-version.mjs";
import { writeAgents } from "./lib/agents.mjs";
import { command } from "./lib/command.mjs";
import { unlessStopping } from "./lib/guard.mjs";
import { readOptions } from "./lib/options.mjs";
import { setUpAndBuild } from "./lib/setup.mjs";
import { Stop, main, say } from "./lib/ui.mjs";

const usage = `Usage: ${command("build")}

Checks the agents and writes what the Worker imports of them. With Rust, also compiles the engine if anything has changed.

    -h, --help   this text`;

await main(async () => {
  readOptions({ usage });
  // Set if the command that started wrangler has built already.
  if (process.env.A2A_EDGE_BUILT) return;
  // wrangler dev, as `dev` runs it, builds after each change of the sources.
  if (process.env.A2A_EDGE_KEEP_SERVING) return rebuild(process.env.A2A_EDGE_OUTPUT);
  await setUpAndBuild(process.env.A2A_EDGE_OUTPUT || "default");
});

/** Compiles a change of the sources; agents are given to the Worker by `dev` itself, which has checked everything else before its first build. */
async function rebuild(output) {
  try {
    const { ensureBuilt } = await import("./lib/worker.mjs");
    await ensureBuilt(output);
    writeAgents();
  } catch (error) {
    if (!(error instanceof Stop)) throw error;
    // wrangler dev ends a build when the next change arrives.
    await unlessStopping();
    // After a failed command wrangler dev would answer no request until the next change, so the error is only printed.
    say(`\n${error.message}\n\nThe build before is served until the next change.\n`);
  }
}
