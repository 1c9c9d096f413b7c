// The numbers at the head of the overview, and the table of agents.
import type { ComponentChildren } from "preact";
import { Badge } from "../../parts/state.tsx";
import { href } from "../../route.ts";
import { askToSignIn } from "../../session/asking.ts";
import { isOperator } from "../../session/operator.ts";
import type { Read } from "./load.ts";
import { ended, failureRate, quantile, sumOf, unfinishedOf, webhooksOf, type Overview, type Sums } from "./numbers.ts";
import { counted, numberWord, percentWord, quantileWord, rateWord } from "./words.ts";

interface TilesProps {
  sums: Sums;
  overviews: readonly Overview[];
  /** For how many hours tasks were counted, the one under way in part. */
  hours: number;
}

/** The most important numbers of all agents that are shown. */
export function Tiles({ sums, overviews, hours }: TilesProps) {
  const bounds = overviews[0]?.bucketsMs ?? [];
  const unfinished = unfinishedOf(overviews);
  const webhooks = webhooksOf(overviews);
  const running = unfinished.submitted + unfinished.working;
  const waiting = unfinished.inputRequired + unfinished.authRequired;
  const rate = failureRate(sums);
  const trouble = webhooks.failing + webhooks.suspended;
  return (
    <dl class="tiles">
      <Tile name="Tasks that ended" value={numberWord(ended(sums))} more={`${rateWord(ended(sums) / hours)} an hour`} />
      <Tile name="Failed" value={percentWord(rate)} more={counted(sums.states.failed, "task")} isBad={sums.states.failed > 0} />
      <Tile name="Median duration" value={quantileWord(quantile(sums.buckets, bounds, 0.5))} more="of completed tasks" />
      <Tile name="95th percentile" value={quantileWord(quantile(sums.buckets, bounds, 0.95))} more="of completed tasks" />
      <Tile name="Not finished now" value={`${numberWord(running + waiting)}${unfinished.isAtLeast ? "+" : ""}`} more={`${numberWord(running)} at work, ${numberWord(waiting)} waiting`} />
      <Tile name="Webhooks in trouble" value={`${numberWord(trouble)}${webhooks.isAtLeast ? "+" : ""}`} more={`${numberWord(webhooks.suspended)} suspended; ${counted(webhooks.deadLetters, "dead letter")}`} isBad={trouble > 0} />
    </dl>
  );
}

function Tile({ name, value, more, isBad = false }: { name: string; value: string; more: string; isBad?: boolean }) {
  return (
    <div class={isBad ? "tile bad" : "tile"}>
      <dt>{name}</dt>
      <dd>
        <span class="figure">{value}</span>
        <span class="quiet">{more}</span>
      </dd>
    </div>
  );
}

const WAITING = [
  ["submitted", "submitted", "TASK_STATE_SUBMITTED"],
  ["working", "working", "TASK_STATE_WORKING"],
  ["inputRequired", "input required", "TASK_STATE_INPUT_REQUIRED"],
  ["authRequired", "authentication required", "TASK_STATE_AUTH_REQUIRED"],
] as const;

/** A row for each agent: its numbers, or why there are none. */
export function AgentsTable({ reads, period, again }: { reads: readonly Read[]; period: string; again(): void }) {
  return (
    <section class="card">
      <h2>By agent</h2>
      <div class="scroll" tabIndex={0} role="region" aria-label="By agent">
        <table class="by-agent">
          <thead>
            <tr>
              <th scope="col">Agent</th>
              <th scope="col" class="number">Ended</th>
              <th scope="col" class="number">Failed</th>
              <th scope="col" class="number">Median</th>
              <th scope="col" class="number">95th percentile</th>
              <th scope="col">Not finished now</th>
              <th scope="col">Webhooks</th>
            </tr>
          </thead>
          <tbody>
            {reads.map((read) => (
              <tr key={read.agent.slug}>
                <th scope="row">
                  <a href={href(["overview", read.agent.slug], { period })}>
                    <bdi>{read.agent.name}</bdi>
                  </a>
                  <span class="quiet">{read.agent.slug}</span>
                </th>
                {read.overview === undefined ? <NoNumbers read={read} again={again} /> : <Numbers read={read} overview={read.overview} period={period} />}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}

function Numbers({ read, overview, period }: { read: Read; overview: Overview; period: string }) {
  const sums = sumOf(overview.hours);
  const { webhooks, unfinished, bucketsMs } = overview;
  const tasks = (state: string, more: Record<string, string> = {}) => ["tasks", read.agent.slug, { state, ...more }] as const;
  // The list of tasks has no two hours.
  const since = period === "week" ? "week" : "day";
  const waiting = WAITING.filter(([name]) => unfinished[name] > 0);
  return (
    <>
      <td class="number">
        {numberWord(ended(sums))}
        {!overview.counting && <span class="quiet block">not counted now</span>}
      </td>
      <td class="number">
        {sums.states.failed === 0 ? "0" : <Lead read={read} to={tasks("TASK_STATE_FAILED", { since })}>{`${numberWord(sums.states.failed)} (${percentWord(failureRate(sums))})`}</Lead>}
      </td>
      <td class="number">{quantileWord(quantile(sums.buckets, bucketsMs, 0.5))}</td>
      <td class="number">{quantileWord(quantile(sums.buckets, bucketsMs, 0.95))}</td>
      <td>
        <ul class="plain-list">
          {waiting.map(([name, word, state]) => (
            <li key={name}>
              <Lead read={read} to={tasks(state)}>{`${numberWord(unfinished[name])}${unfinished.isAtLeast ? "+" : ""} ${word}`}</Lead>
            </li>
          ))}
        </ul>
        {waiting.length === 0 && <span class="quiet">none</span>}
      </td>
      <td>
        <ul class="plain-list">
          {webhooks.failing > 0 && <li><Lead read={read} to={["webhooks", read.agent.slug, { state: "failing" }]}>{`${numberWord(webhooks.failing)} failing`}</Lead></li>}
          {webhooks.suspended > 0 && <li><Lead read={read} to={["webhooks", read.agent.slug, { state: "suspended" }]}>{`${numberWord(webhooks.suspended)} suspended`}</Lead></li>}
          {webhooks.deadLetters > 0 && <li><Lead read={read} to={["webhooks", read.agent.slug, {}]}>{counted(webhooks.deadLetters, "dead letter")}</Lead></li>}
        </ul>
        {webhooks.failing + webhooks.suspended + webhooks.deadLetters === 0 && <Badge tone="good">All well</Badge>}
      </td>
    </>
  );
}

/** A link to another page. What is counted here is of all callers, so with an agent that knows callers the page there is an operator's. */
function Lead({ read, to: [page, slug, query], children }: { read: Read; to: readonly [string, string, Record<string, string>]; children: ComponentChildren }) {
  return (
    <a href={href([page, slug], query)} onClick={() => { if (!read.agent.isOpen) isOperator.value = true; }}>
      {children}
    </a>
  );
}

function NoNumbers({ read, again }: { read: Read; again(): void }) {
  const { problem } = read;
  const signIn = (): void => void askToSignIn(read.agent.slug, problem).then((hasSignedIn) => hasSignedIn && again());
  return (
    <td colSpan={6}>
      <p>{problem?.message ?? "There is no answer."}</p>
      {problem?.status === 401 && (
        <button type="button" class="small" onClick={signIn}>
          Sign in with {read.agent.slug}
        </button>
      )}
    </td>
  );
}
