// The extended card, which an agent shows to authenticated callers.
import { useMemo } from "preact/hooks";
import { readCard } from "../../api/card.ts";
import type { Endpoint } from "../../api/endpoint.ts";
import type { AgentCard } from "../../api/types.ts";
import { JsonTree } from "../../parts/json.tsx";
import { Loading } from "../../parts/loading.tsx";
import { useLoaded } from "../../parts/loaded.ts";
import { ProblemBox } from "../../parts/problem.tsx";
import { CardPage } from "./card-page.tsx";
import { numbered } from "./list.tsx";

export function ExtendedTab({ endpoint, card, chat }: { endpoint: Endpoint; card: AgentCard; chat: (skill?: string, text?: string) => string }) {
  const { value: json, problem, again } = useLoaded<unknown>((signal) => endpoint.call("GetExtendedAgentCard", {}, { signal }), endpoint.key);
  const extended = useMemo(() => readCard(json), [json]);
  if (problem !== undefined) return <ProblemBox problem={problem} retry={again} />;
  if (json === undefined) return <Loading />;
  const more = extended.skills.filter(({ id }) => !card.skills.some((skill) => skill.id === id)).length;
  return (
    <div class="stack">
      <p class="quiet">
        {more === 0 ? "As the agent shows itself to you: no more skills than in the public card." : `As the agent shows itself to you: ${numbered(more, "skill")} more than in the public card.`}
      </p>
      <CardPage card={extended} chat={chat} />
      <details class="card">
        <summary>JSON</summary>
        <JsonTree value={json} label="Extended card" />
      </details>
    </div>
  );
}
