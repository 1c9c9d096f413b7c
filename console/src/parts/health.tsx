// The health of an agent: from the catalogue, and for an agent that needs something outside of the Worker, from a further request.
import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import type { CataloguedAgent, Health } from "../api/agents.ts";
import { json } from "../api/http.ts";
import { Badge } from "./state.tsx";
import { AGENT_HEALTH } from "../../../scripts/operate/states.mjs";
import { isSignedIn } from "../session/credentials.ts";

/** The health as a word with a colour. */
export function HealthBadge({ health }: { health: Health }) {
  const { tone, word } = AGENT_HEALTH[health.state] ?? { tone: "idle", word: health.state };
  return <Badge tone={tone}>{word}</Badge>;
}

/** The results of health requests, by slug. */
const asked = signal<Readonly<Record<string, Health>>>({});

/** The known health of an agent. */
export function healthOf({ slug, health }: CataloguedAgent): Health {
  if (health.outside !== true) return health;
  const found = asked.value[slug];
  if (found !== undefined && found.state !== "ok") return found;
  return found === undefined && health.state === "ok" ? { state: "unasked" } : health;
}

/**
 * Requests the health of these agents, when a page that shows them is opened and each time its window gets the focus. Agents that require credentials are called
 * only after sign-in.
 */
export function useHealth(agents: readonly CataloguedAgent[]): void {
  const slugs = agents.filter(({ slug, isOpen, health }) => health.outside === true && (isOpen || isSignedIn(slug))).map(({ slug }) => slug);
  useEffect(() => {
    const ask = () => slugs.forEach((slug) => void askFor(slug));
    ask();
    addEventListener("focus", ask);
    return () => removeEventListener("focus", ask);
  }, [slugs.join(" ")]);
}

async function askFor(slug: string): Promise<void> {
  const found = await json<Health>({ agent: slug, path: `/console/api/agents/${slug}/health`, isQuiet: true }).catch(() => undefined);
  const { [slug]: _, ...others } = asked.value;
  asked.value = found === undefined ? others : { ...others, [slug]: found };
}
