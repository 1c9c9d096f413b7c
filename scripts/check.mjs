// `npx a2a-edge check`: checks that wrangler.toml has everything that the Worker needs.
import "./lib/node-version.mjs";
import { checkedAgents, factsOf } from "./lib/agents.mjs";
import { command } from "./lib/command.mjs";
import { checkConfig } from "./lib/config.mjs";
import { readOptions } from "./lib/options.mjs";
import { ensurePackages } from "./lib/packages.mjs";
import { missingServices } from "./lib/services.mjs";
import { Stop, main, say } from "./lib/ui.mjs";

const usage = `Usage: ${command("check")} [--env NAME]

Checks the agent files, and prints the lines that wrangler.toml lacks, ready to paste. The exit code is 1 if a file has a problem
or lines are missing.

    -e, --env NAME   checks the environment [env.NAME]
    -h, --help       this text`;

await main(async () => {
  const { values } = readOptions({ usage, options: { env: { type: "string", short: "e" } } });
  await ensurePackages();
  await checkConfig(values.env);
  const unbound = await missingServices(factsOf(checkedAgents().agents), values.env);
  if (unbound !== undefined) throw new Stop(unbound);
  say("The agents can be served, and wrangler.toml has what a2a-edge needs.");
});
