// Agents that play the parts that a kit asks for, made at run time of the scripted agent `double` of tests/agents.
import { testAgents } from "../e2e/harness.ts";

/** What such an agent is. */
export interface PlayedAgent {
  slug: string;
  /** Members of its card, in place of those of `double`. */
  card: object;
  executor: object;
  /** Further members of its entry in `AGENTS`. */
  more?: object;
}

/** The variable `AGENTS` with these agents alone, of which the first is the default agent. */
export function agentsWith(...played: PlayedAgent[]): string {
  const { agents, ...built } = JSON.parse(testAgents) as { agents: { slug: string; card: string }[] };
  const double = agents.find(({ slug }) => slug === "double");
  if (double === undefined) throw new Error("there is no agent double");
  const own = played.map(({ slug, card, executor, more = {} }, at) => {
    const whole = JSON.stringify({ ...(JSON.parse(double.card.replaceAll("/double", `/${slug}`)) as object), ...card });
    return { ...double, slug, ...more, card: whole, executor, default: at === 0 };
  });
  return JSON.stringify({ ...built, agents: own });
}
