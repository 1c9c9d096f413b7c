// Agents for a single spec: copies of an agent of tests/agents with another table [access].
import { testAgents } from "./harness.ts";

/** The agents of tests/agents, and for each slug a copy of `demo` with this table. */
export function withAccess(tables: Record<string, object>): string {
  const all = JSON.parse(testAgents) as { agents: { slug: string }[] };
  const demo = all.agents.find(({ slug }) => slug === "demo");
  const more = Object.entries(tables).map(([slug, access]) => ({ ...demo, slug, default: false, access }));
  return JSON.stringify({ ...all, agents: [...all.agents, ...more] });
}

/** The scheme of an API key in a header, with two callers. */
export const KEY_SCHEME = {
  kind: "api_key",
  name: "X-Api-Key",
  callers: [{ id: "alice", secrets: ["ALICE_KEY"] }, { id: "bob", secrets: ["BOB_KEY"] }],
};

/** The secrets of the scheme's callers. */
export const KEYS = { ALICE_KEY: "alice-key-0123456789-abcdefghijkl", BOB_KEY: "bob-key-0123456789-abcdefghijklmn" };
