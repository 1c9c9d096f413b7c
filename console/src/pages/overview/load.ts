// Reads the overviews of agents: a request for each, a few at a time.
import type { CataloguedAgent } from "../../api/agents.ts";
import { json } from "../../api/http.ts";
import { Problem } from "../../api/problem.ts";
import type { Overview } from "./numbers.ts";

/** The result for an agent. With a `problem`, the overview is from an earlier request. */
export interface Read {
  agent: CataloguedAgent;
  overview?: Overview;
  problem?: Problem;
}

/** The number of simultaneous requests. */
const AT_ONCE = 4;

/**
 * The overviews of these agents over a number of hours, in the order of the agents.
 *
 * The sign-in is not opened: with many agents there would be many dialogs.
 */
export async function readAll(agents: readonly CataloguedAgent[], hours: number, signal: AbortSignal): Promise<Read[]> {
  const all = new Array<Read>(agents.length);
  let next = 0;
  const work = async (): Promise<void> => {
    for (let nth = next++; nth < agents.length; nth = next++) {
      const agent = agents[nth];
      if (agent !== undefined) all[nth] = await readOne(agent, hours, signal);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return all;
}

async function readOne(agent: CataloguedAgent, hours: number, signal: AbortSignal): Promise<Read> {
  const { slug } = agent;
  try {
    // Only operators may read an overview, so the request always has this header, whatever the state of the switch.
    const headers = { "act-as": "operator" };
    const overview = await json<Overview>({ agent: slug, path: `/${slug}/overview`, query: { hours }, headers, signal, isQuiet: true });
    return { agent, overview };
  } catch (error) {
    signal.throwIfAborted();
    return { agent, problem: error instanceof Problem ? error : new Problem(String(error)) };
  }
}
