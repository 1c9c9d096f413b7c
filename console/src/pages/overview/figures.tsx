// The numbers at the head of the overview, and the table of agents.
import type { ComponentChildren } from "preact";
import { counted, numberWord, percentWord } from "../../parts/numbers.ts";
import { Badge } from "../../parts/state.tsx";
import { href } from "../../route.ts";
import { isOperator } from "../../session/operator.ts";
import type { Read } from "./load.ts";
import { ended, failedStepsRate, failureRate, quantile, sumOf, unfinishedOf, webhooksOf, type Overview, type Sums } from "./numbers.ts";
import { quantileWord, rateWord } from "./words.ts";

interface TilesProps {
  sums: Sums;
  reads: readonly Read[];
  overviews: readonly Overview[];
  period: string;
  /** The slug of the selected agent; empty for all. */
  agent: string;
  /** The number of counted hours; the current hour counts in part. */
  hours: number;
}

/** The most important numbers of all shown agents, as links to the counted things. */
export function Tiles({ sums, reads, overviews, period, agent, hours }: TilesProps) {
  const bounds = overviews[0]?.bucketsMs ?? [];
  const unfinished = unfinishedOf(overviews);
  const webhooks = webhooksOf(overviews);
  const running = unfinished.submitted + unfinished.working;
  const waiting = unfinished.inputRequired + unfinished.authRequired;
  const rate = failureRate(sums);
  const trouble = webhooks.failing + webhooks.suspended;
  const states = WAITING.filter(([name]) => unfinished[name] > 0);
  const lead = (path: readonly string[], query: Record<string, string> = {}) => ({ to: [path, query] as const, reads: reads.filter(({ answer }) => answer !== undefined) });
  const tasks = (query: Record<string, string> = {}) => lead(["tasks"], { agent, ...query });
  const since = sinceOf(period);
  const completed = tasks({ state: "TASK_STATE_COMPLETED", since });
  return (
    <dl class="tiles">
      <Tile name="Tasks that ended" lead={tasks({ since })} value={numberWord(ended(sums))} more={`${rateWord(ended(sums) / hours)} an hour`} />
      <Tile name="Failed" lead={tasks({ state: "TASK_STATE_FAILED", since })} value={percentWord(rate)} more={counted(sums.states.failed, "task")} isBad={sums.states.failed > 0} />
      <Tile name="With failed steps" lead={tasks({ steps: "failed", since })} value={percentWord(failedStepsRate(sums))} more={counted(sums.withFailedSteps, "task")} />
      <Tile name="Median duration" lead={completed} value={quantileWord(quantile(sums.durations, bounds, 0.5))} more="of completed tasks" />
      <Tile name="95th percentile" lead={completed} value={quantileWord(quantile(sums.durations, bounds, 0.95))} more="of completed tasks" />
      <Tile
        name="Not finished now"
        lead={tasks(states.length === 1 ? { state: states[0]?.[2] ?? "" } : {})}
        value={`${numberWord(running + waiting)}${unfinished.isAtLeast ? "+" : ""}`}
        more={`${numberWord(running)} at work, ${numberWord(waiting)} waiting`}
      />
      <Tile
        name="Webhooks in trouble"
        lead={lead(agent === "" ? ["webhooks"] : ["webhooks", agent])}
        value={`${numberWord(trouble)}${webhooks.isAtLeast ? "+" : ""}`}
        more={`${numberWord(webhooks.suspended)} suspended; ${counted(webhooks.deadLetters, "dead letter")}`}
        isBad={trouble > 0}
      />
    </dl>
  );
}

function Tile({ name, lead, value, more, isBad = false }: { name: string; lead: Omit<LeadProps, "children">; value: string; more: string; isBad?: boolean }) {
  return (
    <div class={isBad ? "tile bad" : "tile"}>
      <dt>
        <Lead {...lead}>{name}</Lead>
      </dt>
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

/** A row for each agent. */
export function AgentsTable({ reads, period }: { reads: readonly Read[]; period: string }) {
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
              <th scope="col" class="number">With failed steps</th>
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
                {read.answer === undefined ? <td colSpan={7} class="quiet">No numbers</td> : <Numbers read={read} overview={read.answer} period={period} />}
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
  const lead = (path: readonly string[], query: Record<string, string> = {}) => ({ to: [[...path, read.agent.slug], query] as const, reads: [read] });
  const tasks = (query: Record<string, string>) => lead(["tasks"], query);
  const since = sinceOf(period);
  const waiting = WAITING.filter(([name]) => unfinished[name] > 0);
  return (
    <>
      <td class="number">
        {numberWord(ended(sums))}
        {!overview.counting && <span class="quiet block">not counted now</span>}
      </td>
      <td class="number">
        {sums.states.failed === 0 ? "0" : <Lead {...tasks({ state: "TASK_STATE_FAILED", since })}>{`${numberWord(sums.states.failed)} (${percentWord(failureRate(sums))})`}</Lead>}
      </td>
      <td class="number">
        {sums.withFailedSteps === 0 ? "0" : <Lead {...tasks({ steps: "failed", since })}>{`${numberWord(sums.withFailedSteps)} (${percentWord(failedStepsRate(sums))})`}</Lead>}
      </td>
      <td class="number">{quantileWord(quantile(sums.durations, bucketsMs, 0.5))}</td>
      <td class="number">{quantileWord(quantile(sums.durations, bucketsMs, 0.95))}</td>
      <td>
        <ul class="plain-list">
          {waiting.map(([name, word, state]) => (
            <li key={name}>
              <Lead {...tasks({ state })}>{`${numberWord(unfinished[name])}${unfinished.isAtLeast ? "+" : ""} ${word}`}</Lead>
            </li>
          ))}
        </ul>
        {waiting.length === 0 && <span class="quiet">none</span>}
      </td>
      <td>
        <ul class="plain-list">
          {webhooks.failing > 0 && <li><Lead {...lead(["webhooks"], { state: "failing" })}>{`${numberWord(webhooks.failing)} failing`}</Lead></li>}
          {webhooks.suspended > 0 && <li><Lead {...lead(["webhooks"], { state: "suspended" })}>{`${numberWord(webhooks.suspended)} suspended`}</Lead></li>}
          {webhooks.deadLetters > 0 && <li><Lead {...lead(["webhooks"])}>{counted(webhooks.deadLetters, "dead letter")}</Lead></li>}
        </ul>
        {webhooks.failing + webhooks.suspended + webhooks.deadLetters === 0 && <Badge tone="good">All well</Badge>}
      </td>
    </>
  );
}

interface LeadProps {
  to: readonly [path: readonly string[], query: Record<string, string>];
  /** The agents whose numbers are the link. */
  reads: readonly Read[];
  children: ComponentChildren;
}

/**
 * A link to another page. The numbers count tasks of all callers, so for agents with access rules the linked page must be that of an
 * operator.
 */
function Lead({ to: [path, query], reads, children }: LeadProps) {
  return (
    <a href={href(path, query)} onClick={() => { if (reads.some(({ agent }) => !agent.isOpen)) isOperator.value = true; }}>
      {children}
    </a>
  );
}

/** The period as a filter of the list of tasks, which has no filter for two hours. */
const sinceOf = (period: string): string => (period === "week" ? "week" : "day");
