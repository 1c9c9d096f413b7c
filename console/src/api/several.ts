// Requests to several agents, a few at a time.
import type { CataloguedAgent } from "./agents.ts";
import { Problem } from "./problem.ts";

/** What an agent has answered, or why it has not. */
export interface Asked<Answer> {
  agent: CataloguedAgent;
  answer?: Answer;
  problem?: Problem;
}

/** The number of simultaneous requests. */
const AT_ONCE = 4;

/**
 * Asks each of these agents; the results are in the order of the agents. A failure is the result of its agent.
 *
 * @throws if `signal` is aborted.
 */
export async function askSeveral<Answer>(agents: readonly CataloguedAgent[], ask: (agent: CataloguedAgent) => Promise<Answer>, signal: AbortSignal): Promise<Asked<Answer>[]> {
  const all = new Array<Asked<Answer>>(agents.length);
  let next = 0;
  const work = async (): Promise<void> => {
    for (let nth = next++; nth < agents.length; nth = next++) {
      const agent = agents[nth];
      if (agent !== undefined) all[nth] = await askOne(agent, ask, signal);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return all;
}

async function askOne<Answer>(agent: CataloguedAgent, ask: (agent: CataloguedAgent) => Promise<Answer>, signal: AbortSignal): Promise<Asked<Answer>> {
  try {
    return { agent, answer: await ask(agent) };
  } catch (error) {
    signal.throwIfAborted();
    return { agent, problem: error instanceof Problem ? error : new Problem(String(error)) };
  }
}
