// The agents of this Worker: all of them, or one with its card.
import { place } from "../../route.ts";
import { AgentList } from "./list.tsx";
import { LocalAgent } from "./local.tsx";
import "./agents.css";

export function AgentsPage() {
  const [, slug] = place.value.path;
  return slug === undefined ? <AgentList /> : <LocalAgent key={slug} slug={slug} />;
}
