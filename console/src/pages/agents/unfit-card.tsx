// A card that cannot be used: the served text, with every error at its line.
import type { UnfitCard } from "../../api/problem.ts";
import { CopyButton } from "../../parts/copy.tsx";
import { Icon } from "../../parts/icon.tsx";
import { sentence } from "../../parts/words.ts";
import { numbered } from "./list.tsx";
import { toldOf, type Mistake } from "./unfit.ts";
import "./agents.css";

export function UnfitCardView({ unfit, again }: { unfit: UnfitCard; again: () => void }) {
  const { rows, mistakes, isLaidOut } = toldOf(unfit);
  const { message, foundAt, isCut, text, violations } = unfit;
  const notes = [isLaidOut && "Its lines are too long to be read, and are broken here.", isCut && "Only its beginning is shown."];
  return (
    <section class="stack unfit" aria-label="The card as served">
      <div class="problem" role="alert">
        <Icon name="warning" />
        <div>
          <p class="problem-text">{violations.length > 0 ? `The card cannot be used: it has ${numbered(mistakes.length, "error")}.` : sentence(message)}</p>
          <ul>
            {mistakes.map((mistake, at) => (
              <li key={at}>
                Line {mistake.line}: <MistakeText mistake={mistake} />
              </li>
            ))}
          </ul>
          <button type="button" onClick={again}>
            Try again
          </button>
        </div>
      </div>
      <div class="row">
        <p class="quiet">
          As served by <code>{foundAt}</code>. {notes.filter((note) => note !== false).join(" ")}
        </p>
        <CopyButton of={() => text} label="Copy as served" />
      </div>
      <div class="served" role="region" aria-label="Lines" tabIndex={0}>
        <ol>
          {rows.map((row, at) =>
            "left" in row ? (
              <li key={at} class="left quiet">
                {numbered(row.left, "line")} left out
              </li>
            ) : (
              <li key={at} class={row.mistakes.length > 0 ? "wrong-line" : ""}>
                <span class="line-number" aria-hidden="true">{row.line}</span>
                <code dir="ltr">
                  {row.text}
                  {row.isCut && " …"}
                </code>
                {row.mistakes.map((mistake, nth) => (
                  <p key={nth} class="mistake">
                    <Icon name="warning" /> <MistakeText mistake={mistake} />
                  </p>
                ))}
              </li>
            ),
          )}
        </ol>
      </div>
    </section>
  );
}

function MistakeText({ mistake: { about, text } }: { mistake: Mistake }) {
  return (
    <>
      {about !== "" && <code>{about}</code>} {about === "" ? sentence(text) : text}
    </>
  );
}
