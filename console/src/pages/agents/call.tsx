// Code for calling the agent.
import { useState } from "preact/hooks";
import type { AgentCard } from "../../api/types.ts";
import { CopyButton } from "../../parts/copy.tsx";
import { waysOf } from "../../session/schemes.ts";
import { snippetsFor } from "./snippets.ts";

export function CallTab({ card, foundAt }: { card: AgentCard; foundAt: string }) {
  const example = card.skills.flatMap(({ examples = [] }) => examples)[0] ?? "Hello";
  const [text, setText] = useState(example);
  const snippets = snippetsFor(card, foundAt, text);
  const ways = waysOf(card);
  return (
    <div class="stack">
      <label class="call-text">
        Message
        <input value={text} onInput={(event) => setText(event.currentTarget.value)} />
      </label>
      {ways.length > 0 && (
        <p class="quiet">
          {ways.some(({ schemes }) => schemes.every(({ slot }) => slot !== undefined))
            ? "The code takes the secret from the variable A2A_SECRET of the environment (a second one from A2A_SECRET_2); for a password it is name:password in base64."
            : "The agent needs credentials that code cannot type: add them in the way that it declares."}
        </p>
      )}
      {snippets.map(({ title, code }) => (
        <section key={title} class="stack snippet" aria-label={title}>
          <div class="row">
            <h2>{title}</h2>
            <CopyButton of={() => code} label={`Copy ${title}`} />
          </div>
          <pre tabIndex={0} role="region" aria-label={`Code: ${title}`}>
            <code>{code}</code>
          </pre>
        </section>
      ))}
    </div>
  );
}
