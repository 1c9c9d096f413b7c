// Agents of kind "remote" for a Worker under test, made at run time: each is a front of the remote agent with the same
// name.

import { testAgents } from "./harness.ts";

/** A front and the remote agent behind it. */
export interface Front {
  /** The table of the remote agent in remotes.toml. */
  remote: object;
  /** The access rules of the front; by default, everybody may call it. */
  access?: object;
  /** Settings of its runs, in addition to the default ones. */
  run?: object;
  /** Settings of the kind, for example `silence_ms`. */
  table?: object;
}

/** The agents of tests/agents and these fronts by their names, as a value for the variable `AGENTS`. */
export function withFronts(fronts: Record<string, Front>): string {
  const embedded = JSON.parse(testAgents) as { agents: object[]; remotes?: object[] };
  for (const [name, { remote, access, run, table }] of Object.entries(fronts)) {
    embedded.agents.push({
      slug: name, default: false, development: false, access: access ?? { open: true, open_listing: true },
      capabilities: { streaming: true, push_notifications: false, extended_agent_card: false },
      executor: { kind: "remote", table: { remote: name, ...table }, run: { recovery: "resume", max_attempts: 3, timeout_ms: 60_000, ...run } },
      card: JSON.stringify(cardOf("https://a2a-edge.invalid")),
    });
    (embedded.remotes ??= []).push({ name, table: remote });
  }
  return JSON.stringify(embedded);
}

/** A card of 1.0 with an interface for JSON-RPC at this URL. */
export function cardOf(url: string): object {
  return {
    name: "Liar", description: "Does not do what it should.", version: "1.0.0", capabilities: { streaming: true },
    supportedInterfaces: [{ url, protocolBinding: "JSONRPC", protocolVersion: "1.0" }],
    defaultInputModes: ["text/plain"], defaultOutputModes: ["text/plain"],
    skills: [{ id: "lie", name: "Lie", description: "Lies.", tags: ["test"] }],
  };
}
