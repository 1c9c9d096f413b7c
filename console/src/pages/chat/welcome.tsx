// The skills of an agent, shown in an empty chat.
import type { AgentCard } from "../../api/types.ts";
import { Icon } from "../../parts/icon.tsx";
import { useState } from "preact/hooks";

/** The number of skills shown at first, and the largest number of examples of each. */
const MAX_SKILLS = 12;
const MAX_EXAMPLES = 4;

/** True if a schema has properties to fill in. */
function hasArguments(schema: unknown): boolean {
  return Object.keys((schema as { properties?: object } | null)?.properties ?? {}).length > 0;
}

/** `pick` puts a skill or an example into the composer. */
export function Welcome({ card, schemas, pick }: { card: AgentCard; schemas: Record<string, unknown>; pick: (first: { text: string; skill: string }) => void }) {
  const [hasAll, setHasAll] = useState(false);
  const shown = hasAll ? card.skills : card.skills.slice(0, MAX_SKILLS);
  return (
    <section class="welcome" aria-label="What the agent does">
      <p class="welcome-about">{card.description}</p>
      <ul class="skills">
        {shown.map(({ id, name, description, examples = [] }) => (
          <li key={id} class="offer">
            <h2>{name}</h2>
            <p class="quiet">{description}</p>
            <div class="row">
              {schemas[id] !== undefined && (
                <button type="button" class="small example" onClick={() => pick({ text: "", skill: id })}>
                  <Icon name="plus" />
                  <span>{hasArguments(schemas[id]) ? "Fill in its arguments" : "Call it"}</span>
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
      {shown.length < card.skills.length && (
        <button type="button" class="small" onClick={() => setHasAll(true)}>
          {`Show all ${card.skills.length} skills`}
        </button>
      )}
    </section>
  );
}
