// The number of tasks that wait for the person, over all agents: for the menu and the title of the window.
import { computed, effect, signal } from "@preact/signals";
import type { CataloguedAgent } from "../../api/agents.ts";
import { json } from "../../api/http.ts";
import { Problem } from "../../api/problem.ts";
import { askSeveral } from "../../api/several.ts";
import type { ListTasksResponse } from "../../api/types.ts";
import { onWake } from "../../api/waking.ts";
import { actAs, isOperator } from "../../session/operator.ts";
import { likelyAgents } from "../../session/likely.ts";

/** The pause between two countings, for a caller, and for an operator, whose counting costs more. */
const PAUSE_MS = 30_000;
const OPERATOR_PAUSE_MS = 120_000;
/** The shortest pause for each counted agent, so that many agents are not asked more often. */
const PAUSE_OF_AGENT_MS = 3_000;
/** The longest pause while no agent answers; before, it doubles each time. */
const MAX_PAUSE_MS = 600_000;
/** The page loads its own contents first. After an answer, the list is behind for a moment. */
const SOON_MS = 400;
export const SETTLED_MS = 2_000;

/** The numbers by agent. */
const counts = signal<ReadonlyMap<string, number>>(new Map());

/** The number of tasks that wait. */
export const waiting = computed(() => [...counts.value.values()].reduce((sum, count) => sum + count, 0));

let timer: ReturnType<typeof setTimeout> | undefined;
let counting = new AbortController();
let countedAt = 0;
let failures = 0;
/** The agents that are counted. */
let agents: readonly CataloguedAgent[] = [];

/** Counts while the page is open, when it is seen; returns a function that ends this. */
export function keepCount(): () => void {
  let before = new Set<string>();
  const stopEffect = effect(() => {
    agents = likelyAgents() ?? [];
    // A caller and an operator have different numbers.
    const asked = new Set(agents.map(({ slug }) => `${String(isOperator.value)} ${slug}`));
    const hasMore = [...asked].some((one) => !before.has(one));
    before = asked;
    counts.value = new Map([...counts.peek()].filter(([slug]) => agents.some((agent) => agent.slug === slug)));
    if (!hasMore) return;
    counting.abort();
    countIn(SOON_MS);
  });
  const seen = () => {
    if (document.visibilityState !== "visible") {
      counting.abort();
      return clearTimeout(timer);
    }
    countIn(Math.max(0, countedAt + pauseOf() - Date.now()));
  };
  document.addEventListener("visibilitychange", seen);
  const stopWaking = onWake(() => {
    // What was asked before may be lost.
    counting.abort();
    failures = 0;
    countIn(SOON_MS);
  });
  return () => {
    stopEffect();
    stopWaking();
    document.removeEventListener("visibilitychange", seen);
    counting.abort();
    clearTimeout(timer);
  };
}

/** Takes over the numbers of a list that was just read, so they need not be asked for again. */
export function found(numbers: ReadonlyMap<string, number>): void {
  counting.abort();
  counts.value = new Map([...counts.peek(), ...numbers]);
  countedAt = Date.now();
  countIn(pauseOf());
}

/** Takes an answered task of an agent away, and counts again when the lists know it. */
export function answered(agent: string): void {
  counting.abort();
  const before = counts.peek().get(agent) ?? 0;
  counts.value = new Map(counts.peek()).set(agent, Math.max(0, before - 1));
  countIn(SETTLED_MS);
}

function pauseOf(): number {
  const base = Math.max(isOperator.peek() ? OPERATOR_PAUSE_MS : PAUSE_MS, agents.length * PAUSE_OF_AGENT_MS);
  return Math.min(Math.max(base, MAX_PAUSE_MS), base * 2 ** failures);
}

function countIn(ms: number): void {
  clearTimeout(timer);
  if (document.visibilityState === "visible" && agents.length > 0) timer = setTimeout(() => void count(), ms);
}

async function count(): Promise<void> {
  counting.abort();
  const { signal: over } = (counting = new AbortController());
  const before = counts.peek();
  const query = { waiting: "true", pageSize: 1, historyLength: 0 };
  const headers = { "act-as": actAs() };
  let all;
  try {
    all = await askSeveral(agents, ({ slug }) => json<ListTasksResponse>({ agent: slug, path: `/${slug}/tasks`, query, headers, signal: over, isQuiet: true }), over);
  } catch {
    return;
  }
  // It may be outdated since the last answer came.
  if (over.aborted) return;
  const numbers = new Map<string, number>();
  for (const { agent, answer, problem } of all) {
    // While a server cannot answer, its earlier number is kept.
    const known = answer?.totalSize ?? (problem instanceof Problem && problem.isPassing ? before.get(agent.slug) : undefined);
    if (typeof known === "number") numbers.set(agent.slug, known);
  }
  const hasAnswer = all.some(({ answer }) => answer !== undefined);
  failures = hasAnswer ? 0 : failures + 1;
  countedAt = Date.now();
  counts.value = numbers;
  countIn(pauseOf());
}
