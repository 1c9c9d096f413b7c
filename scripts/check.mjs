// `npx a2a-edge check`: checks the agents, and that wrangler.toml has everything that the Worker needs.
import "./lib/node-version.mjs";
import { command } from "./lib/command.mjs";
import { neededText } from "./lib/needs.mjs";
import { readOptions } from "./lib/options.mjs";
import { missingServices } from "./lib/services.mjs";
import { build, setUp } from "./lib/setup.mjs";
import { tryWorker } from "./lib/try-worker.mjs";
import { Stop, main, say } from "./lib/ui.mjs";

const usage = `Usage: ${command("check")} [--env NAME]

Checks agents, tools, skills and remotes, and prints the lines that wrangler.toml lacks, ready to paste. If the project has
tools or executors in code, also starts the Worker once, to know what they are and what they need. The exit code is 1 if
there is a mistake.

    -e, --env NAME   checks the environment [env.NAME]
    -h, --help       this text`;

await main(async () => {
  const { values } = readOptions({ usage, options: { env: { type: "string", short: "e" } } });
  await setUp(values.env);
  const found = await build("served");
  const unbound = await missingServices(found.facts, values.env);
  if (unbound !== undefined) throw new Stop(unbound);
  const { tools } = await tryWorker(values.env);
  const needs = neededText({ ...found.facts, tools });
  if (needs !== undefined) say(`${needs}\n`);
  const { length } = found.facts.agents;
  say(`${length} ${length === 1 ? "agent is" : "agents are"} in order, and wrangler.toml has what a2a-edge needs.`);
});
