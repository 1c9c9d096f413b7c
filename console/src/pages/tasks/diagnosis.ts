// What happened to a task, in one sentence, and the entry of its timeline that shows it.
import type { Entry, Head, MessageExcerpt, OpenStep, StepEntry } from "../../api/timeline.ts";
import { isFinal } from "../../api/types.ts";
import { agoOf, duration } from "../../parts/instant.ts";
import { hasFailed } from "./failed.ts";

export interface Diagnosis {
  tone: "good" | "bad" | "wait" | "busy" | "idle";
  sentence: string;
  /** The entry to look at, if it is among those that were read. */
  entry: Entry | undefined;
}

/**
 * The diagnosis of a task. `entries` are those that were read, the oldest first; earlier ones may be missing. Errors of steps are there for
 * operators and in development alone.
 */
export function diagnosisOf(head: Head, entries: readonly Entry[], now: number): Diagnosis {
  // As the server counts them: what is a part of a call fails with the call.
  const steps = entries.filter((entry) => entry.kind === "step").filter(({ of, type }) => of === undefined && type !== "agent");
  const failed = steps.filter(hasFailed);
  const states = entries.filter((entry) => entry.kind === "status" || entry.kind === "task");
  const last = states.findLast(({ state }) => state === head.state);
  const said = textOf(last?.message);
  const undelivered = undeliveredIn(entries);
  const behind = undelivered.length === 0 ? "" : ` ${undelivered.length === 1 ? "A notification was" : `${undelivered.length} notifications were`} not delivered${reasonOf(undelivered.at(-1))}.`;
  const of = (tone: Diagnosis["tone"], sentence: string, entry: Entry | undefined): Diagnosis => ({ tone, sentence: sentence + behind, entry: entry ?? undelivered.at(-1) });
  const took = head.createdAt === null || head.statusAt === null ? "" : ` after ${duration(Math.max(0, head.statusAt - head.createdAt))}`;
  switch (head.state) {
    case "TASK_STATE_COMPLETED": {
      const count = head.failedSteps ?? 0;
      if (count === 0) return of(undelivered.length > 0 ? "wait" : "good", `Completed${took}.`, undefined);
      const worst = failed.at(-1);
      return of("wait", `Completed${took}, but ${failureOf(count, steps, worst)}.`, worst);
    }
    case "TASK_STATE_FAILED":
    case "TASK_STATE_REJECTED": {
      const word = head.state === "TASK_STATE_FAILED" ? "Failed" : "Rejected";
      const attempts = entries.filter((entry) => entry.kind === "run").at(-1)?.attempt ?? 1;
      const where = failed.length === 0 ? "" : ` The last step that failed was ${nameOf(failed.at(-1) as StepEntry)}.`;
      return of("bad", `${word}${took}${attempts > 1 ? ` in attempt ${attempts}` : ""}${said === "" ? "." : `: ${ended(said)}`}${where}`, failed.at(-1) ?? last);
    }
    case "TASK_STATE_CANCELED":
      return of("idle", `Canceled${took}${said === "" ? "." : `: ${ended(said)}`}`, last);
    case "TASK_STATE_INPUT_REQUIRED":
      return of("wait", `Waits for an answer since ${agoOf(head.statusAt ?? now, now)}${said === "" ? "." : `: ${ended(said)}`}`, last);
    case "TASK_STATE_AUTH_REQUIRED":
      return of("wait", `Waits for credentials since ${agoOf(head.statusAt ?? now, now)}${said === "" ? "." : `: ${ended(said)}`}`, last);
    default:
      return isFinal(head.state) ? of("idle", "Ended.", last) : of("busy", working(head, entries, now), undefined);
  }
}

/** What a task that is under way does now. */
function working({ underWay, state }: Head, entries: readonly Entry[], now: number): string {
  const turn = entries.findLast((entry) => ["run", "parked", "woken", "ended"].includes(entry.kind));
  if (turn?.kind === "parked") {
    const until = turn.until > now ? `, ${agoOf(turn.until, now)} at the latest` : "";
    const what = turn.callback !== undefined ? `the callback ${turn.callback.name}` : turn.orMessage ? "a message or its time" : "its time";
    return `Waits outside of memory for ${what}${until}.`;
  }
  if (underWay.length > 0) {
    const [longest] = underWay.toSorted((one, other) => one.since - other.since) as [OpenStep];
    const others = underWay.length === 1 ? "" : ` and ${underWay.length - 1} more`;
    return `At work: ${nameOf(longest)}${others}, since ${duration(Math.max(0, now - longest.since))}.`;
  }
  const attempt = turn?.kind === "run" && turn.attempt > 1 ? `, in attempt ${turn.attempt}` : "";
  return state === "TASK_STATE_SUBMITTED" ? "Submitted; its agent has not begun yet." : `At work${attempt}.`;
}

/** Which steps failed, of how many of their type, and why, as far as that was read. */
function failureOf(count: number, steps: readonly StepEntry[], worst: StepEntry | undefined): string {
  const failed = steps.filter(hasFailed);
  const types = new Set(failed.map(({ type }) => type));
  const [type] = types;
  const word = types.size === 1 && type !== undefined ? WORDS[type] : "step";
  const all = types.size === 1 ? steps.filter((step) => step.type === type) : [];
  const isWhole = failed.length === count && all.length >= count;
  const counted = isWhole && all.length > 1 ? `${count} of ${all.length} ${word}s` : count === 1 ? `a ${word}` : `${count} ${word}s`;
  if (worst === undefined) return `${counted} failed`;
  return `${counted} failed: ${nameOf(worst)}${worst.error === undefined ? "" : ` (${short(worst.error)})`}`;
}

const WORDS: Record<StepEntry["type"], string> = { model: "request to the model", tool: "call", agent: "call", step: "step" };

/** The events of which a webhook's last attempt has failed. */
function undeliveredIn(entries: readonly Entry[]): Entry[] {
  const last = new Map<string, Entry>();
  for (const entry of entries) if (entry.kind === "webhookAttempt") last.set(`${entry.webhook} ${entry.generation}`, entry);
  return [...last.values()].filter((entry) => entry.kind === "webhookAttempt" && entry.outcome === "givenUp");
}

function reasonOf(entry: Entry | undefined): string {
  if (entry?.kind !== "webhookAttempt") return "";
  return entry.status !== undefined ? `: ${entry.origin} answered ${entry.status}` : entry.error === undefined ? "" : `: ${short(entry.error)}`;
}

function nameOf(step: Pick<StepEntry, "name" | "nth" | "type" | "tool" | "agent"> | OpenStep): string {
  if (step.type === "agent") return `the task of ${step.agent ?? "another agent"}`;
  if (step.type === "model") return `request ${step.nth} to the model`;
  if (step.type === "tool") return "tool" in step && step.tool !== undefined ? step.tool : `call ${step.name}`;
  return `the step ${step.name}`;
}

/** The text of a message, on one line. */
function textOf(message: MessageExcerpt | undefined): string {
  return short(message?.parts.map(({ type, text }) => (type === "text" ? (text ?? "") : "")).join(" ") ?? "");
}

const MAX_CHARS = 200;

function short(text: string): string {
  const line = text.replace(/\s+/g, " ").trim();
  return line.length > MAX_CHARS ? `${line.slice(0, MAX_CHARS)}…` : line;
}

const ended = (text: string): string => (/[.!?…]$/.test(text) ? text : `${text}.`);
