// A choice of one agent of this Worker, or of all.
import type { CataloguedAgent } from "../api/agents.ts";
import { Choice } from "./choice.tsx";

interface AgentChoiceProps {
  agents: readonly CataloguedAgent[];
  /** The slug; empty for all agents. */
  value: string;
  choose: (slug: string) => void;
}

export function AgentChoice({ agents, value, choose }: AgentChoiceProps) {
  return <Choice name="Agent" class="row" value={value} of={[["", "All agents"], ...agents.map(({ slug, name }) => [slug, `${cut(name)} (${slug})`] as const)]} choose={choose} />;
}

/** Shortens the name of an agent, since an option has only one line. */
const cut = (name: string): string => (name.length > 40 ? `${name.slice(0, 39)}…` : name);
