// `npx a2a-edge check`: checks that wrangler.toml has everything that the Worker needs.
import "./lib/node-version.mjs";
import { command } from "./lib/command.mjs";
import { checkConfig } from "./lib/config.mjs";
import { readOptions } from "./lib/options.mjs";
import { ensurePackages } from "./lib/packages.mjs";
import { missingServices } from "./lib/services.mjs";
import { Stop, main, say } from "./lib/ui.mjs";
import { outputs } from "./lib/worker.mjs";

const usage = `Usage: ${command("check")} [--env NAME]

Prints the lines that wrangler.toml lacks, ready to paste; service bindings that agents of kind http post to are known from
the last build. The exit code is 1 if lines are missing.

    -e, --env NAME   checks the environment [env.NAME]
    -h, --help       this text`;

await main(async () => {
  const { values } = readOptions({ usage, options: { env: { type: "string", short: "e" } } });
  await ensurePackages();
  await checkConfig(values.env);
  const unbound = await missingServices(outputs.default, values.env);
  if (unbound !== undefined) throw new Stop(unbound);
  say("wrangler.toml has what a2a-edge needs.");
});
