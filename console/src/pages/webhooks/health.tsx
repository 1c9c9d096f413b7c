// The health of a webhook in words.
import { Badge } from "../../parts/state.tsx";
import { WEBHOOK_HEALTH } from "../../../../scripts/operate/states.mjs";
import { agoOf, duration, now, Time } from "../../parts/time.tsx";
import { sentence } from "../../parts/words.ts";
import type { DeadLetter, Health } from "./api.ts";

export function HealthBadge({ health }: { health: Health }) {
  const { word, tone } = WEBHOOK_HEALTH[health] ?? { word: health, tone: "idle" };
  return <Badge tone={tone}>{word}</Badge>;
}

/** The time of the next attempt, counted down every second. */
export function NextTry({ health, at }: { health: Health; at: number | null }) {
  if (health === "suspended") return <span>Nothing is sent until somebody sends again.</span>;
  if (at === null) return <span>With the next event of the task.</span>;
  const left = at - now.value;
  if (left <= 0) return <span>Now.</span>;
  return (
    <time dateTime={new Date(at).toISOString()} title={new Date(at).toLocaleString()}>
      {left < 60_000 ? `in ${Math.ceil(left / 1000)} s` : left < 3_600_000 ? `in ${duration(Math.ceil(left / 1000) * 1000)}` : agoOf(at, now.value)}
    </time>
  );
}

/** The events that a webhook has given up, newest first, each with a button that starts redelivery from that event. */
export function DeadLetters({ of: letters, webhook, sendFrom }: { of: readonly DeadLetter[]; webhook: string; sendFrom: (generation: number) => void }) {
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label={`Events that the webhook ${webhook} has given up`}>
      <table class="hook-letters">
        <thead>
          <tr>
            <th scope="col">Generation</th>
            <th scope="col">
              <span class="sr">Send again</span>
            </th>
            <th scope="col">Given up</th>
            <th scope="col">Why</th>
          </tr>
        </thead>
        <tbody>
          {[...letters].reverse().map(({ generation, error, at }) => (
            <tr key={generation}>
              <td class="hook-number">{generation}</td>
              <td>
                <button type="button" class="small" onClick={() => sendFrom(generation)}>
                  Send again from {generation}
                </button>
              </td>
              <td>
                <Time at={at} />
              </td>
              <td class="hook-said">
                <bdi>{sentence(error)}</bdi>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
