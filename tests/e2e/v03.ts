// Agents that support A2A 0.3, with helpers for requests of its clients.

import { testAgents } from "./harness.ts";

/** The transports over HTTP, with their names in cards. */
export const TRANSPORTS = ["JSONRPC", "HTTP+JSON"] as const;
export type Transport = (typeof TRANSPORTS)[number];

/** The variables of a Worker whose agents all support 0.3, with this table `[dialects.v0_3]` in their files. */
export function speaking(v0_3: object = {}): Record<string, string> {
  const embedded = JSON.parse(testAgents) as { agents: object[] };
  const agents = embedded.agents.map((agent) => ({ ...agent, dialects: { v0_3: { enabled: true, ...v0_3 } } }));
  return { AGENTS: JSON.stringify({ ...embedded, agents }) };
}
