// The start page of operators: the final states and durations of tasks, unfinished tasks, and webhooks in trouble.
import { useEffect, useState } from "preact/hooks";
import { runnableAgents, type CataloguedAgent } from "../../api/agents.ts";
import { AgentChoice } from "../../parts/agent-choice.tsx";
import { Failures } from "../../parts/failures.tsx";
import { Icon } from "../../parts/icon.tsx";
import { Loading, NoCatalogue } from "../../parts/loading.tsx";
import { Periods } from "../../parts/periods.tsx";
import { Time } from "../../parts/time.tsx";
import { go, href, place } from "../../route.ts";
import { isSignedIn } from "../../session/credentials.ts";
import { DurationsChart, EndsChart } from "./charts.tsx";
import { AgentsTable, Tiles } from "./figures.tsx";
import { readAll, type Read } from "./load.ts";
import { ended, groups, sumOf } from "./numbers.ts";
import { hourWord, whenWord } from "./words.ts";
import "./overview.css";

/** The periods, with the number of requested hours and the number of hours per bar. */
const PERIODS = {
  hour: { word: "Last hour", hours: 2, size: 1 },
  day: { word: "Day", hours: 24, size: 1 },
  week: { word: "Week", hours: 168, size: 6 },
} as const;
type Period = keyof typeof PERIODS;

/** The age at which numbers are loaded again while the page is visible. */
const OLD_MS = 60_000;

interface Shown {
  period: Period;
  reads: Read[];
  at: number;
}

export function OverviewPage() {
  const known = runnableAgents();
  const [, chosen = ""] = place.value.path;
  const asked = place.value.query.get("period") ?? "";
  const period: Period = asked in PERIODS ? (asked as Period) : "day";
  const all = known ?? [];
  const agents = all.filter(({ slug }) => chosen === "" || slug === chosen);
  const { shown, isLoading, again } = useOverviews(agents, period);

  const show = (slug: string, next: Period): void => go(href(slug === "" ? ["overview"] : ["overview", slug], { period: next === "day" ? undefined : next }));
  return (
    <section class="page overview figures" aria-busy={isLoading}>
      <header class="page-head">
        <h1>Overview</h1>
        <div class="row">
          <AgentChoice agents={all} value={chosen} choose={(slug) => show(slug, period)} />
          <Periods of={PERIODS} value={period} choose={(name) => show(chosen, name)} />
          <button type="button" onClick={again} disabled={isLoading}>
            <Icon name="refresh" />
            <span>Refresh</span>
          </button>
        </div>
      </header>
      {known === undefined ? (
        <NoCatalogue />
      ) : chosen !== "" && agents.length === 0 ? (
        <div class="empty">
          <p>
            There is no agent <bdi>{chosen}</bdi> that can run. <a href={href(["overview"])}>See all agents</a>.
          </p>
        </div>
      ) : agents.length === 0 ? (
        <div class="empty">
          <p>This Worker has no agent that can run.</p>
        </div>
      ) : shown === undefined ? (
        <Loading />
      ) : (
        <Numbers shown={shown} agent={chosen} again={again} />
      )}
    </section>
  );
}

/** The overviews of these agents, loaded again regularly while the page is visible. */
function useOverviews(agents: readonly CataloguedAgent[], period: Period): { shown: Shown | undefined; isLoading: boolean; again(): void } {
  const [shown, setShown] = useState<Shown | undefined>(undefined);
  const [isLoading, setIsLoading] = useState(false);
  const [round, setRound] = useState(0);
  const again = (): void => setRound((before) => before + 1);
  const who = `${agents.map(({ slug }) => slug).join()} ${isSignedIn()}`;

  useEffect(() => {
    if (agents.length === 0) return;
    const leaving = new AbortController();
    setIsLoading(true);
    readAll(agents, PERIODS[period].hours, leaving.signal).then(
      (reads) => {
        setShown((before) => joined({ period, reads, at: Date.now() }, before));
        setIsLoading(false);
      },
      (error: unknown) => {
        if (!leaving.signal.aborted) throw error;
      },
    );
    return () => leaving.abort();
  }, [who, period, round]);

  useEffect(() => {
    const renew = (): void => {
      if (document.visibilityState === "visible" && shown !== undefined && Date.now() - shown.at >= OLD_MS) again();
    };
    const timer = setInterval(renew, OLD_MS / 4);
    document.addEventListener("visibilitychange", renew);
    return () => {
      clearInterval(timer);
      document.removeEventListener("visibilitychange", renew);
    };
  }, [shown]);
  return { shown, isLoading, again };
}

/** Keeps the earlier numbers of an agent for this period while the agent cannot answer. */
function joined(now: Shown, before: Shown | undefined): Shown {
  if (before?.period !== now.period) return now;
  const reads = now.reads.map((read) => {
    const answer = read.problem?.isPassing === true ? before.reads.find(({ agent }) => agent.slug === read.agent.slug)?.answer : undefined;
    return answer === undefined ? read : { ...read, answer };
  });
  return { ...now, reads, at: now.reads.some(({ answer }) => answer !== undefined) ? now.at : before.at };
}

function Numbers({ shown: { period, reads, at }, agent, again }: { shown: Shown; agent: string; again(): void }) {
  const overviews = reads.flatMap(({ answer }) => answer ?? []);
  const failed = reads.flatMap(({ agent, problem }) => (problem === undefined ? [] : [{ agent: agent.slug, problem }]));
  const failures = <Failures what="numbers" failed={failed} of={reads.length} retry={again} />;
  const [first] = overviews;
  if (first === undefined) return <>{failed.some(({ problem }) => problem.status === 401 || problem.status === 403) && <NoOperator />}{failures}</>;
  const hours = overviews.map((overview) => overview.hours);
  const grouped = groups(hours, PERIODS[period].size);
  const sums = sumOf(hours.flat());
  const begun = first.hours[0]?.from ?? first.now;
  const areDays = period === "week";
  const isCounting = overviews.every(({ counting }) => counting);
  return (
    <>
      {failures}
      <p class="quiet">
        Since {period === "hour" ? hourWord(begun) : whenWord(begun)}, by {areDays ? "six hours" : "the hour"}, in the time of this browser. Read <Time at={at} />.
        {period === "hour" && " These are the hour under way and the one before."}
      </p>
      {!isCounting && (
        <div class="notice-box" role="note">
          <Icon name="warning" />
          <p>
            Tasks are not counted: the variable <code>TASK_STATISTICS</code> is off. Set it to <code>on</code> and deploy to see how tasks end from then on. What is not finished now, and webhooks, are shown all the same.
          </p>
        </div>
      )}
      <Tiles sums={sums} reads={reads} overviews={overviews} period={period} agent={agent} hours={Math.max(1 / 60, (first.now - begun) / 3_600_000)} />
      {ended(sums) === 0 ? (
        <div class="empty">
          <p>No task {isCounting ? "has ended" : "was counted"} in this period.</p>
          {isCounting && (
            <p>
              <a href={href(["start"])}>Say hello</a> to an agent, and its task is counted here once it has ended.
            </p>
          )}
        </div>
      ) : (
        <>
          <EndsChart groups={grouped} all={sums} bounds={first.bucketsMs} areDays={areDays} />
          {sums.states.completed > 0 && <DurationsChart groups={grouped} all={sums} bounds={first.bucketsMs} areDays={areDays} />}
        </>
      )}
      <AgentsTable reads={reads} period={period} />
    </>
  );
}

/** Shown if no agent has returned numbers: the person is probably not an operator. */
function NoOperator() {
  return (
    <div class="empty">
      <h2>This page is for operators</h2>
      <p>Sign in with credentials that have the permission of operators, which the agent's file names ([access] operator).</p>
    </div>
  );
}
