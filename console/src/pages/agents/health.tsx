// Whether an agent can work, as the catalogue says.
import type { CataloguedAgent } from "../../api/agents.ts";
import { Badge } from "../../parts/state.tsx";

const WORDS = {
  ok: { tone: "good", word: "Ready" },
  partial: { tone: "wait", word: "Partly ready" },
  misconfigured: { tone: "bad", word: "Misconfigured" },
} as const;

/** The health in a word with a colour. */
export function HealthBadge({ health }: { health: CataloguedAgent["health"] }) {
  const { tone, word } = WORDS[health.state] ?? { tone: "idle", word: health.state };
  return <Badge tone={tone}>{word}</Badge>;
}
