// What an agent can do, before anything is said.
import type { AgentCard } from "../../api/types.ts";
import type { Schema } from "../../api/schemas.ts";
import { Icon } from "../../parts/icon.tsx";

/** The most skills and examples that are shown. */
const MAX_SKILLS = 12;
const MAX_EXAMPLES = 4;

/** `pick` puts a skill or an example into the box. */
export function Welcome({ card, schemas, pick }: { card: AgentCard; schemas: Record<string, Schema>; pick: (first: { text: string; skill: string }) => void }) {
  return (
    <section class="welcome" aria-label="What the agent does">
      <p class="welcome-about">{card.description}</p>
      <ul class="skills">
        {card.skills.slice(0, MAX_SKILLS).map(({ id, name, description, examples = [] }) => (
          <li key={id} class="offer">
            <h2>{name}</h2>
            <p class="quiet">{description}</p>
            <div class="row">
              {schemas[id] !== undefined && (
                <button type="button" class="small example" onClick={() => pick({ text: "", skill: id })}>
                  <Icon name="plus" />
                  <span>Fill in its arguments</span>
                </button>
              )}
              {schemas[id] === undefined &&
                examples.slice(0, MAX_EXAMPLES).map((example) => (
                  <button key={example} type="button" class="small example" onClick={() => pick({ text: example, skill: "" })}>
                    {example}
                  </button>
                ))}
            </div>
          </li>
        ))}
      </ul>
    </section>
  );
}
