// The limits by day, with what was used of them today as bars.
import { costWord, numberWord, percentWord } from "../../parts/numbers.ts";
import { href } from "../../route.ts";
import { againstLimits, partOf, type Against } from "./against.ts";
import type { Usage } from "./load.ts";

/** The number of callers that are shown. */
const MOST = 8;

/** The part of a limit from which on it is nearly used up. */
const NEAR = 0.8;

export function LimitsToday({ answers, isOfAll }: { answers: readonly (Usage & { agent: string })[]; isOfAll: boolean }) {
  const limited = answers.filter(({ limits }) => limits !== undefined);
  if (limited.length === 0) return null;
  const all = againstLimits(limited, isOfAll);
  return (
    <section class="card limits-today">
      <h2>Limits today</h2>
      <p class="quiet">
        {isOfAll ? "What each caller may use of an agent in a day; the callers nearest to a limit first." : "What you may use of each agent in a day."} Limits reset at midnight UTC.
      </p>
      {all.length === 0 && <p>No caller has used anything today: {limited.map(wordsOf).join("; ")}.</p>}
      <ul>
        {all.slice(0, MOST).map((one) => (
          <Limit key={`${one.agent} ${one.owner ?? ""} ${one.of}`} of={one} />
        ))}
      </ul>
      {all.length > MOST && <p class="quiet">{numberWord(all.length - MOST)} more are farther from their limits.</p>}
    </section>
  );
}

function Limit({ of }: { of: Against }) {
  const { agent, owner, limit } = of;
  const part = partOf(of);
  const tone = part >= 1 ? "bad" : part >= NEAR ? "near" : "";
  return (
    <li>
      <span>
        <a href={href(["usage", agent])}><bdi>{agent}</bdi></a>
        {owner !== undefined && (
          <>
            {" "}
            <a href={href(["tasks"], { agent, owner })}><code>{owner}</code></a>
          </>
        )}
      </span>
      <span class={`limit-bar ${tone}`} aria-hidden="true">
        <span style={{ width: `${Math.min(100, 100 * part)}%` }} />
      </span>
      <span>
        {percentWord(part)} of {of.of === "tokens" ? `${numberWord(limit)} tokens` : `a cost of ${costWord(limit)}`} today{part >= 1 && ": used up, further messages are refused until midnight UTC"}
      </span>
    </li>
  );
}

/** The limits of an agent in words. */
function wordsOf({ agent, limits }: Usage & { agent: string }): string {
  const words = [limits?.tokensPerDay !== undefined && `${numberWord(limits.tokensPerDay)} tokens`, limits?.costMicrosPerDay !== undefined && `a cost of ${costWord(limits.costMicrosPerDay)}`];
  return `${agent} has a limit of ${words.filter((word) => word !== false).join(" and ")} a day`;
}
