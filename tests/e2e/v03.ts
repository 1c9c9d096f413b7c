// Agents that speak A2A 0.3, and what requests of its clients need.

import { testAgents } from "./harness.ts";

/** The transports of HTTP, as cards name them. */
export const TRANSPORTS = ["JSONRPC", "HTTP+JSON"] as const;
export type Transport = (typeof TRANSPORTS)[number];

/** The variables of a Worker whose agents all speak 0.3, in this way: the table `[dialects.v0_3]` of their files. */
export function speaking(v0_3: object = {}): Record<string, string> {
  const embedded = JSON.parse(testAgents) as { agents: object[] };
  const agents = embedded.agents.map((agent) => ({ ...agent, dialects: { v0_3: { enabled: true, ...v0_3 } } }));
  return { AGENTS: JSON.stringify({ ...embedded, agents }) };
}
