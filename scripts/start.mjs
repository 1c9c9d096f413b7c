// `npm start`, `npx a2a-edge start`: sets everything up and serves the agents locally.
import "./lib/node-version.mjs";
import { localAccess, remoteAccess } from "./lib/access.mjs";
import { factsOf, writeAgents } from "./lib/agents.mjs";
import { checkAddress } from "./lib/address.mjs";
import { serveExampleAgent } from "./lib/example-agent.mjs";
import { checkLocalNeeds } from "./lib/needs.mjs";
import { serve, serveOptions } from "./lib/serve.mjs";
import { publishServed } from "./lib/served.mjs";
import { missingServices } from "./lib/services.mjs";
import { setUpAndBuild } from "./lib/setup.mjs";
import { main, say } from "./lib/ui.mjs";
import { checkLocalState, ensureLocalMigrations, readConfig } from "./lib/wrangler.mjs";

await main(async () => {
  const options = serveOptions("start", "Sets everything up, builds the Worker and serves the agents.");
  await checkAddress(options);
  checkLocalState(options.state);
  await setUpAndBuild();
  const facts = factsOf(writeAgents());
  await checkLocalNeeds(facts, options.vars);
  await ensureLocalMigrations(options.state);
  const unbound = await missingServices(facts);
  if (unbound !== undefined) say(`\n${unbound}\n`);
  await serveExampleAgent();
  const { main } = await readConfig();
  const served = options.asDeployed ? main : publishServed(main);
  await serve(options, { main: served, access: options.asDeployed ? remoteAccess(facts) : localAccess(facts) });
});
