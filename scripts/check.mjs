// `npx a2a-edge check`: whether wrangler.toml has what the Worker needs.
import "./lib/node-version.mjs";
import { command } from "./lib/command.mjs";
import { checkConfig } from "./lib/config.mjs";
import { readOptions } from "./lib/options.mjs";
import { ensurePackages } from "./lib/packages.mjs";
import { main, say } from "./lib/ui.mjs";

const usage = `Usage: ${command("check")} [--env NAME]

Prints the lines that wrangler.toml lacks, ready to paste. The exit code is 1 if there are some.

    -e, --env NAME   checks the environment [env.NAME]
    -h, --help       this text`;

await main(async () => {
  const { values } = readOptions({ usage, options: { env: { type: "string", short: "e" } } });
  await ensurePackages();
  await checkConfig(values.env);
  say("wrangler.toml has what a2a-edge needs.");
});
