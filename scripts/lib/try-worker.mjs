// Starts the Worker once, to ask it which of the agents it can serve. Names that only code explains are known to nobody else.
import { stopIfUnusable } from "./dev-agents.mjs";
import { mayRegister } from "./entry.mjs";
import { scratchFolder } from "./scratch.mjs";
import { serveWhile } from "./serve.mjs";
import { step } from "./ui.mjs";

/**
 * Stops if the Worker cannot serve one of the agents; returns the needs of its tools. A project without code of its own need not be asked: the checker
 * knows every name.
 */
export async function tryWorker(environment) {
  if (!mayRegister()) return [];
  const args = environment === undefined ? [] : [`--env=${environment}`];
  const { tools } = await step("Asking the Worker which agents it can serve", () => serveWhile(scratchFolder(), stopIfUnusable, { args }));
  return tools;
}
