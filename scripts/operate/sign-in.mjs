// Who a key's caller is, by a question that changes nothing: the overview of an agent, which only operators may read.
import { EXIT, Failure } from "./failure.mjs";
import { eachOf } from "./server.mjs";
import { schemesOf } from "./slots.mjs";

/** The words for whom an agent takes the sender of a request. */
export const ROLES = {
  operator: { text: "Operator", tone: "good" },
  caller: { text: "Caller", tone: "idle" },
  unknown: { text: "Not known", tone: "bad" },
  anybody: { text: "Anybody", tone: "idle" },
};

/** The role of the keys of `server` at an agent. */
export async function roleAt(server, agent) {
  if (agent.isOpen === true) return "anybody";
  const status = await server.status({ agent, path: `/${agent.slug}/overview`, query: { hours: 1 }, headers: { "act-as": "operator" } });
  if (status === 200) return "operator";
  if (status === 401) return "unknown";
  if (status === 403) return "caller";
  throw new Failure(`${agent.slug} does not tell whether it takes the key (status ${status}). Try again later.`, EXIT.unreachable);
}

/** The roles at all agents that can run, with the agents. */
export async function rolesAt(server) {
  const agents = await server.chosenAgents();
  const roles = await eachOf(agents, (agent) => roleAt(server, agent));
  return agents.map((agent, at) => ({ agent, role: roles[at] }));
}

/** The agents that take a key which can be typed, each with these schemes. */
export function withSchemes(agents, name) {
  return agents
    .map((agent) => ({ agent, schemes: schemesOf(agent).filter((scheme) => name === undefined || scheme.name === name) }))
    .filter(({ agent, schemes }) => agent.isOpen !== true && schemes.length > 0);
}
