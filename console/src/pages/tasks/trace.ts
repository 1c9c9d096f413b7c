// The trace of a task: its timeline as spans of time, nested by what began them. Pure.
import type { Entry, Head, MessageExcerpt, OpenStep, StepEntry, TaskOf, Usage } from "../../api/timeline.ts";
import { isFinal } from "../../api/types.ts";
import type { Interval } from "./axis.ts";
import { nameOf } from "./entry.ts";
import { hasFailed } from "./failed.ts";
import { groupsOf, type Group, type Item } from "./groups.ts";

/** A piece of work, or a wait, with what it has begun. */
export interface Span extends Interval {
  /** Identifies the span while entries are added. */
  key: string;
  kind: "turn" | "wait" | StepEntry["type"];
  /** What the span is, after its kind. */
  name: string;
  /** True while it is under way; `until` is then the present. */
  isOpen: boolean;
  hasFailed: boolean;
  /** The attempt in which it ended. */
  attempt: number;
  /** The step; of a span that is under way, as the head of the timeline has it. */
  step?: StepEntry | OpenStep;
  children: Span[];
}

/** The work for one message of the client. */
export interface Turn extends Span {
  kind: "turn";
  /** The message, if it was read. */
  message: MessageExcerpt | undefined;
  attempts: Attempt[];
  /** The states with a message, and the artifacts. */
  said: Item[];
  /** The task whose agent has sent the message. */
  askedBy: TaskOf | undefined;
  /** Use of models outside of steps. */
  used: Usage[];
}

/** An attempt at a turn, or its part up to a wait. */
export interface Attempt extends Interval {
  number: number;
  resumes: boolean;
}

/** The turns of a task. `entries` are those that were read, the oldest first; earlier ones may be missing. */
export function traceOf(head: Head, entries: readonly Entry[], now: number): Turn[] {
  const messages = entries.flatMap((entry) => (entry.kind === "task" || entry.kind === "message" ? [entry.message] : []));
  const messageOf = (number: number) => (entries[0]?.kind === "task" ? messages[number - 1] : undefined);
  const groups = groupsOf(entries).filter(({ run, items }) => run !== undefined || items.some(({ kind }) => kind === "step"));
  const turns: Turn[] = [];
  let steps: Steps | undefined;
  for (const [nth, group] of groups.entries()) {
    const { run } = group;
    const number = run?.message ?? 0;
    let turn = turns.at(-1);
    if (turn === undefined || turn.key !== String(number)) {
      const first = group.items[0];
      const from = run?.at ?? (first === undefined ? now : atOf(first));
      const name = number === 0 ? "Earlier" : `Message ${number}`;
      turn = { key: String(number), kind: "turn", name, from, until: from, isOpen: false, hasFailed: false, attempt: 1, children: [], message: messageOf(number), attempts: [], said: [], used: [], askedBy: run?.askedBy };
      turns.push(turn);
      steps = undefined;
    }
    // A run that begins anew does its steps again.
    if (steps === undefined || run?.resumes === false) {
      steps?.nest();
      steps = new Steps(turn, turn.attempts.length);
    }
    const isLast = nth === groups.length - 1;
    const present = isFinal(head.state) ? (head.statusAt ?? now) : now;
    follow(turn, group, steps, isLast ? { head, present } : undefined);
    if (isLast || groups[nth + 1]?.run?.message !== run?.message) steps.nest();
  }
  return turns;
}

const atOf = (item: Item): number => (item.kind === "chunks" ? item.last.at : item.at);

/** Adds a run to its turn. `newest` is present for the newest run. */
function follow(turn: Turn, { run, items }: Group, steps: Steps, newest: { head: Head; present: number } | undefined): void {
  const from = run?.at ?? turn.from;
  const attempt: Attempt = { number: run?.attempt ?? 1, resumes: run?.resumes ?? false, from, until: from };
  turn.attempts.push(attempt);
  let wait: Span | undefined;
  let isAsking = false;
  for (const [nth, item] of items.entries()) {
    const at = atOf(item);
    // A task that has waited for its client works again before its next run begins.
    const isAnswered = isAsking && item.kind === "status" && items[nth - 1]?.kind === "message";
    if (item.kind === "status") isAsking = /REQUIRED/.test(item.state);
    if (wait === undefined && item.kind !== "message" && !isAnswered) attempt.until = Math.max(attempt.until, at);
    if (item.kind === "step") steps.add(spanOf(item, attempt.number));
    if (item.kind === "usage") turn.used.push(item.usage);
    if (item.kind === "chunks" || (item.kind === "status" && item.message !== undefined)) turn.said.push(item);
    if (item.kind === "status" && hasFailed(item)) turn.hasFailed = true;
    if (item.kind === "parked") {
      const name = item.callback === undefined ? (item.orMessage ? "for a message, or its time" : "for its time") : `for the callback ${item.callback.name}`;
      wait = { key: `${turn.key}/wait ${item.at}`, kind: "wait", name, from: item.at, until: item.at, isOpen: true, hasFailed: false, attempt: attempt.number, children: [] };
      turn.children.push(wait);
    }
    if (item.kind === "woken" && wait !== undefined) {
      wait.until = item.at;
      wait.isOpen = false;
    }
  }
  if (newest !== undefined) {
    const { head, present } = newest;
    for (const open of head.underWay) steps.add({ ...spanOf(open, attempt.number), until: Math.max(open.since, present) });
    const isWorking = /_(SUBMITTED|WORKING)$/.test(head.state);
    if (isWorking && wait === undefined) attempt.until = present;
    if (isWorking) turn.isOpen = true;
  }
  if (wait?.isOpen === true) {
    wait.until = newest?.present ?? wait.from;
    wait.isOpen = turn.isOpen;
  }
  turn.attempt = attempt.number;
  turn.until = Math.max(turn.until, attempt.until, wait?.until ?? 0);
}

/** The steps of a run with the runs that resume it. */
class Steps {
  readonly #turn: Turn;
  readonly #first: number;
  readonly #spans: Span[] = [];

  /** `first` is the number of attempts before the run. */
  constructor(turn: Turn, first: number) {
    this.#turn = turn;
    this.#first = first;
  }

  add(span: Span): void {
    this.#spans.push({ ...span, key: `${this.#turn.key}.${this.#first}/${span.key}` });
  }

  /** Puts each step below the one that began it. A call is stored after its own steps, so this needs all of them. */
  nest(): void {
    const models = new Map<string, Span>();
    const calls = new Map<string, Span>();
    for (const span of this.#spans) {
      if (span.kind === "model" && span.step?.name === "model") models.set(String(span.step.nth), span);
      if (span.kind === "tool" && span.step !== undefined) calls.set(span.step.name, span);
    }
    for (const span of this.#spans.splice(0)) {
      const call = callOf(span.step);
      const round = (call ?? (span.kind === "tool" ? span.step?.name : undefined))?.split(".")[0] ?? "";
      const parent = (call === undefined ? undefined : calls.get(call)) ?? models.get(round) ?? this.#turn;
      parent.children.push(span);
      // The step only begins the other task; its call lasts as long as the task.
      if (span.kind === "agent" && parent.kind === "tool") [span.until, span.isOpen] = [parent.until, parent.isOpen];
    }
    sort(this.#turn.children);
  }
}

/** Calls of one answer are in its order, all else by time. */
function sort(spans: Span[], isAnswer = false): void {
  spans.sort((one, other) => (isAnswer ? placeIn(one) - placeIn(other) : 0) || one.from - other.from);
  for (const { kind, children } of spans) sort(children, kind === "model");
}

/** The place of a call in the answer of a model; 0 for all else. */
function placeIn({ kind, step }: Span): number {
  return kind === "tool" ? Number(step?.name.split(".")[1] ?? 0) : 0;
}

/** The call that a step belongs to: the task of another agent is begun by a call. */
function callOf(step: Span["step"]): string | undefined {
  return step?.type === "agent" ? step.name.split(" ")[1] : step?.of;
}

function spanOf(step: StepEntry | OpenStep, attempt: number): Span {
  const from = "since" in step ? step.since : step.at - (step.durationMs ?? 0);
  const until = "since" in step ? step.since : step.at;
  const common = { key: `${step.name}/${step.nth}`, from, until, isOpen: "since" in step, hasFailed: "failed" in step && step.failed, attempt, step, children: [] };
  switch (step.type) {
    case "model":
      return { ...common, kind: "model", name: step.name === "model" ? `request ${step.nth}` : nameOf(step.name, step.nth) };
    case "tool":
      return { ...common, kind: "tool", name: ("tool" in step ? step.tool : undefined) ?? `call ${step.name}` };
    case "agent":
      return { ...common, kind: "agent", name: step.agent ?? step.name };
    default:
      return { ...common, kind: "step", name: nameOf(step.of === undefined ? step.name : step.name.slice(step.of.length + 1), step.nth) };
  }
}

/** The intervals in which something happened: the attempts of each turn, without its waits, and the steps. */
export function intervalsOf(turns: readonly Turn[]): Interval[] {
  const steps = (span: Span): Interval[] => [...(span.kind === "turn" || span.kind === "wait" ? [] : [span]), ...span.children.flatMap(steps)];
  return turns.flatMap((turn) => [...turn.attempts, ...steps(turn)]);
}

/** The sums over a part of a trace. */
export interface Sum {
  /** Requests to models, and calls of tools and agents. */
  requests: number;
  calls: number;
  /** As the server counts failed steps: what is a part of a call fails with the call. */
  failed: number;
  usage: Usage;
}

const NOTHING: Usage = { requests: 0, inputTokens: 0, outputTokens: 0, costMicros: 0 };

/** The sum over spans with all that is below them. */
export function sumOf(spans: readonly Span[]): Sum {
  const sum: Sum = { requests: 0, calls: 0, failed: 0, usage: NOTHING };
  const use = (more: Usage | undefined) => {
    if (more !== undefined) sum.usage = plus(sum.usage, more);
  };
  const visit = (span: Span): void => {
    const step = span.step !== undefined && "failed" in span.step ? span.step : undefined;
    if (span.kind === "model") sum.requests += 1;
    if (span.kind === "tool") sum.calls += 1;
    if (step !== undefined && step.failed && step.of === undefined && step.type !== "agent") sum.failed += 1;
    use(step?.usage);
    if (span.kind === "turn") (span as Turn).used.forEach(use);
    span.children.forEach(visit);
  };
  spans.forEach(visit);
  return sum;
}

/** Both uses together. */
export function plus(one: Usage, other: Usage): Usage {
  return {
    requests: one.requests + other.requests,
    inputTokens: one.inputTokens + other.inputTokens,
    outputTokens: one.outputTokens + other.outputTokens,
    costMicros: one.costMicros + other.costMicros,
  };
}

/** The span of this key, or of this entry, wherever it is. */
export function findSpan(spans: readonly Span[], is: (span: Span) => boolean): Span | undefined {
  for (const span of spans) {
    const found = is(span) ? span : findSpan(span.children, is);
    if (found !== undefined) return found;
  }
  return undefined;
}
