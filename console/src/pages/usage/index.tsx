// What callers have used: tokens, requests and cost by day, agent, model or caller, against the limits of the day (docs/usage.md).
import { useState } from "preact/hooks";
import { runnableAgents, type CataloguedAgent } from "../../api/agents.ts";
import { currency } from "../../api/currency.ts";
import { askSeveral, type Asked } from "../../api/several.ts";
import { AgentChoice } from "../../parts/agent-choice.tsx";
import { save } from "../../parts/bytes.ts";
import { Choice } from "../../parts/choice.tsx";
import { Failures } from "../../parts/failures.tsx";
import { Icon } from "../../parts/icon.tsx";
import { useLoaded } from "../../parts/loaded.ts";
import { Loading, NoCatalogue } from "../../parts/loading.tsx";
import { costWord, counted, numberWord } from "../../parts/numbers.ts";
import { Periods } from "../../parts/periods.tsx";
import { ProblemBox } from "../../parts/problem.tsx";
import { go, href, place } from "../../route.ts";
import { isSignedIn } from "../../session/credentials.ts";
import { isOperator } from "../../session/operator.ts";
import { TokensChart } from "./chart.tsx";
import { LimitsToday } from "./limits.tsx";
import { readUsage, type Usage } from "./load.ts";
import { BY, COUNTS, csvOf, everyDay, sumsBy, tokens, total, type By, type Counts, type Sum } from "./sums.ts";
import "./usage.css";

const PERIODS = {
  week: { word: "7 days", days: 7 },
  month: { word: "30 days", days: 30 },
  quarter: { word: "90 days", days: 90 },
} as const;
type Period = keyof typeof PERIODS;

/** The number of rows that the table shows at first. */
const MOST_ROWS = 100;

export function UsagePage() {
  const known = runnableAgents();
  const { path, query } = place.value;
  const [, chosen = ""] = path;
  const asked = { period: query.get("period") ?? "", by: query.get("by") ?? "" };
  const period: Period = asked.period in PERIODS ? (asked.period as Period) : "month";
  const choices = (Object.keys(BY) as By[]).filter((by) => (by !== "owner" || isOperator.value) && (by !== "agent" || chosen === ""));
  const by = choices.find((name) => name === asked.by) ?? "day";
  const all = known ?? [];
  const agents = all.filter(({ slug }) => chosen === "" || slug === chosen);

  const show = (change: { slug?: string; period?: Period; by?: string }): void => {
    const next = { slug: chosen, period, by, ...change };
    go(href(next.slug === "" ? ["usage"] : ["usage", next.slug], { period: next.period === "month" ? undefined : next.period, by: next.by === "day" ? undefined : next.by }));
  };
  return (
    <section class="page figures">
      <header class="page-head">
        <div>
          <h1>Usage</h1>
          <p class="quiet">{isOperator.value ? "What all callers have used" : "What you have used"}, by days in UTC, with what deleted tasks have used.</p>
        </div>
        <div class="row">
          <AgentChoice agents={all} value={chosen} choose={(slug) => show({ slug })} />
          <Choice name="By" class="row" value={by} of={choices.map((name) => [name, BY[name]] as const)} choose={(by) => show({ by })} />
          <Periods of={PERIODS} value={period} choose={(period) => show({ period })} />
        </div>
      </header>
      {known === undefined ? (
        <NoCatalogue />
      ) : agents.length === 0 ? (
        <div class="empty">
          <p>{chosen === "" ? "This Worker has no agent that can run." : <>There is no agent <bdi>{chosen}</bdi> that can run. <a href={href(["usage"])}>See all agents</a>.</>}</p>
        </div>
      ) : (
        <Loaded agents={agents} agent={chosen} period={period} by={by} />
      )}
    </section>
  );
}

interface Chosen {
  /** The slug of the chosen agent; empty for all. */
  agent: string;
  by: By;
}

function Loaded({ agents, period, ...chosen }: Chosen & { agents: readonly CataloguedAgent[]; period: Period }) {
  const load = (signal: AbortSignal) =>
    // A single agent may open the sign-in; with many agents there would be many dialogs.
    askSeveral(agents, ({ slug }) => readUsage(slug, PERIODS[period].days, signal, agents.length > 1), signal);
  const { value, problem, again } = useLoaded(load, JSON.stringify([agents.map(({ slug }) => slug), period, isOperator.value, isSignedIn()]));
  if (problem !== undefined) return <ProblemBox problem={problem} retry={again} />;
  return value === undefined ? <Loading /> : <Found asked={value} again={again} {...chosen} />;
}

function Found({ asked, agent, by, again }: Chosen & { asked: readonly Asked<Usage>[]; again(): void }) {
  const answers = asked.flatMap(({ agent, answer }) => (answer === undefined ? [] : [{ ...answer, agent: agent.slug }]));
  const problems = asked.flatMap(({ agent, problem }) => (problem === undefined ? [] : [{ agent: agent.slug, problem }]));
  // Among several agents, those that the person is no operator of are only a remark.
  const denied = problems.filter(({ problem }) => asked.length > 1 && isOperator.value && problem.status === 403);
  const [first] = answers;
  const used = answers.flatMap((answer) => answer.used);
  const sum = total(used);
  return (
    <>
      <Failures what="usage" failed={problems.filter((one) => !denied.includes(one))} of={asked.length} retry={again} />
      {denied.length > 0 && <p class="quiet">You are no operator of {denied.map(({ agent }) => agent).join(", ")}.</p>}
      {answers.some(({ isAtLeast }) => isAtLeast) && (
        <p role="note">There is more than this page has read: the sums are too low. Choose fewer days, or one agent.</p>
      )}
      <LimitsToday answers={answers} isOfAll={isOperator.value} />
      {first !== undefined && used.length === 0 && <Nothing />}
      {first !== undefined && used.length > 0 && (
        <>
          <Tiles sum={sum} />
          {tokens(sum) > 0 && <TokensChart days={everyDay(first.from, first.to, used)} />}
          <SumsTable sums={sumsBy(by, used)} agent={agent} by={by} name={`usage-by-${by}-${first.from}-${first.to}.csv`} />
        </>
      )}
    </>
  );
}

function Nothing() {
  return (
    <div class="empty">
      <p>{isOperator.value ? "Nobody has used anything" : "You have used nothing"} in this period that agents count: tokens, requests to models, cost.</p>
      {!isOperator.value && !isSignedIn() && <p>Callers without credentials see their usage only where an agent lets them list tasks. Sign in to see yours.</p>}
    </div>
  );
}

function Tiles({ sum }: { sum: Counts }) {
  const tiles = [
    ["Tokens read", numberWord(sum.inputTokens), "by models"],
    ["Tokens written", numberWord(sum.outputTokens), "by models"],
    ["Requests", numberWord(sum.requests), `in ${counted(sum.turns, "turn")}`],
    ["Cost", costWord(sum.costMicros), currency.value === undefined ? "by the prices of the agents" : `in ${currency.value}, by the prices of the agents`],
  ] as const;
  return (
    <dl class="tiles">
      {tiles.map(([name, value, more]) => (
        <div key={name} class="tile">
          <dt>{name}</dt>
          <dd>
            <span class="figure">{value}</span>
            <span class="quiet">{more}</span>
          </dd>
        </div>
      ))}
    </dl>
  );
}

function SumsTable({ sums, agent, by, name }: Chosen & { sums: readonly Sum[]; name: string }) {
  const [isWhole, setIsWhole] = useState(false);
  const title = `By ${BY[by].toLowerCase()}`;
  const shown = isWhole ? sums : sums.slice(0, MOST_ROWS);
  return (
    <section class="card">
      <div class="page-head">
        <h2>{title}</h2>
        <button type="button" onClick={() => save(csvOf(by, sums, currency.value), name)}>
          <Icon name="file" />
          <span>Save as CSV</span>
        </button>
      </div>
      <div class="scroll" tabIndex={0} role="region" aria-label={title}>
        <table>
          <thead>
            <tr>
              <th scope="col">{BY[by]}</th>
              {Object.entries(COUNTS).map(([count, head]) => (
                <th key={count} scope="col" class="number">
                  {head}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {shown.map((sum) => (
              <tr key={sum.key}>
                <th scope="row">
                  <Key of={sum.key} agent={agent} by={by} />
                </th>
                <td class="number">{numberWord(sum.turns)}</td>
                <td class="number">{numberWord(sum.requests)}</td>
                <td class="number">{numberWord(sum.inputTokens)}</td>
                <td class="number">{numberWord(sum.outputTokens)}</td>
                <td class="number">{costWord(sum.costMicros)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {shown.length < sums.length && (
        <button type="button" onClick={() => setIsWhole(true)}>
          Show all {numberWord(sums.length)}
        </button>
      )}
    </section>
  );
}

/** The name of a row: agents lead to their usage, callers to their tasks. */
function Key({ of, agent, by }: Chosen & { of: string }) {
  if (by === "day") return <>{of}</>;
  if (by === "model") return of === "" ? <span class="quiet">without a name</span> : <bdi>{of}</bdi>;
  return (
    <a href={by === "agent" ? href(["usage", of]) : href(["tasks"], { agent, owner: of })}>
      <bdi>{of}</bdi>
    </a>
  );
}
