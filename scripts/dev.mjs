// `npm run dev`, `npx a2a-edge dev`: like `start`, with a quick unoptimised build that is repeated after every change.
import "./lib/node-version.mjs";
import { localAccess } from "./lib/access.mjs";
import { factsOf, writeAgents } from "./lib/agents.mjs";
import { checkAddress } from "./lib/address.mjs";
import { serveExampleAgent } from "./lib/example-agent.mjs";
import { checkLocalNeeds } from "./lib/needs.mjs";
import { serve, serveOptions } from "./lib/serve.mjs";
import { publishServed } from "./lib/served.mjs";
import { missingServices } from "./lib/services.mjs";
import { setUpAndBuild } from "./lib/setup.mjs";
import { main, say } from "./lib/ui.mjs";
import { outputs } from "./lib/worker.mjs";
import { checkLocalState, ensureLocalMigrations, readConfig } from "./lib/wrangler.mjs";

await main(async () => {
  const options = serveOptions("dev", "As start, with a quick unoptimised build that is made anew on every change.");
  await checkAddress(options);
  checkLocalState(options.state);
  await setUpAndBuild("dev");
  const facts = factsOf(writeAgents());
  await checkLocalNeeds(facts, options.vars);
  await ensureLocalMigrations(options.state);
  const unbound = await missingServices(facts);
  if (unbound !== undefined) say(`\n${unbound}\n`);
  await serveExampleAgent();
  // From here on, wrangler watches the folders in wrangler.toml and runs the build command itself.
  const { main } = await readConfig();
  await serve(options, {
    main: publishServed(main),
    engine: `./${outputs.dev}/engine.js`,
    environment: { built: false, A2A_EDGE_OUTPUT: "dev", A2A_EDGE_KEEP_SERVING: "1" },
    note: "Development build; it is made anew when src, agents or Cargo.toml change. Ctrl-C ends it.",
    access: localAccess(facts),
  });
});
