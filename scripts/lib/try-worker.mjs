// Starts the Worker once, to ask it which of the agents it can serve. Names that only code explains are known to nobody else.
import { stopIfUnusable } from "./dev-agents.mjs";
import { mayRegister } from "./entry.mjs";
import { scratchFolder } from "./scratch.mjs";
import { serveWhile } from "./serve.mjs";
import { step } from "./ui.mjs";

/**
 * Stops if the Worker cannot serve one of the agents; returns its `tools` with their needs, and as `told` what `ask` returns, which gets the URL of the
 * Worker while it is served. A project without code of its own need not be asked: the checker knows every name.
 */
export async function tryWorker(environment, ask = () => undefined) {
  if (!mayRegister()) return { tools: [] };
  const args = environment === undefined ? [] : [`--env=${environment}`];
  const work = async (url, token) => ({ tools: (await stopIfUnusable(url, token)).tools, told: await ask(url) });
  return step("Asking the Worker which agents it can serve", () => serveWhile(scratchFolder(), work, { args }));
}
