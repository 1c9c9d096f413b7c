// What `start` and `dev` share: everything that is checked and made before the agents are served.
import { localAccess, remoteAccess } from "./access.mjs";
import { checkAddress } from "./address.mjs";
import { serveExampleAgent } from "./example-agent.mjs";
import { LiveAgents } from "./live.mjs";
import { checkLocalNeeds, deployedOf } from "./needs.mjs";
import { startOthers } from "./others.mjs";
import { hasRust } from "./paths.mjs";
import { serve, serveOptions, takeState } from "./serve.mjs";
import { missingServices } from "./services.mjs";
import { setUpAndBuild } from "./setup.mjs";
import { TypeCheck, ensureWorkerTypes } from "./types.mjs";
import { say } from "./ui.mjs";
import { checkLocalState, ensureLocalMigrations } from "./wrangler.mjs";

/** Serves the agents until interrupted; `does` is the first sentence of the command's help. */
export async function serveProject(name, does) {
  const options = serveOptions(name, does);
  takeState(options);
  await checkAddress(options);
  checkLocalState(options.state);
  const isDev = name === "dev";
  const found = await setUpAndBuild(isDev ? "dev" : "served");
  const own = options.asDeployed ? [] : await serveExampleAgent();
  const vars = [...own, ...(options.vars ?? [])];
  await checkLocalNeeds(options.asDeployed ? deployedOf(found.facts) : found.facts, vars);
  await ensureLocalMigrations(options.state);
  const unbound = await missingServices(found.facts);
  if (unbound !== undefined) say(`\n${unbound}\n`);
  await startOthers(options.others);
  await serve(options, {
    agents: found.facts.agents.map(({ slug }) => slug),
    access: options.asDeployed ? remoteAccess(found.facts) : localAccess(found.facts),
    vars: own,
    told: teller(isDev, vars),
    ...(isDev ? { live: new LiveAgents(found), note: hasRust ? COMPILED : SAVED } : {}),
    ...(isDev && hasRust ? { environment: { built: false, A2A_EDGE_OUTPUT: "dev", A2A_EDGE_KEEP_SERVING: "1" } } : {}),
  });
}

/** What is done each time that the Worker serves, with what it tells of itself: files do not say what tools in code need. */
function teller(isDev, vars) {
  const types = new TypeCheck();
  let known = "[]";
  return async ({ tools }) => {
    // Nothing waits for the types.
    (isDev ? types.run() : ensureWorkerTypes()).catch((error) => say(`The types were not checked: ${error.message}`));
    const needs = JSON.stringify(tools.filter((tool) => tool.needs.length > 0));
    if (needs === known) return;
    known = needs;
    await checkLocalNeeds({ agents: [], tools }, vars);
  };
}

const SAVED = "A saved agent, tool or skill is served at once, and so is a change below src/. Ctrl-C ends it.";
const COMPILED = "A saved agent, tool or skill is served at once; Rust is compiled again, without optimization, when it changes. Ctrl-C ends it.";
