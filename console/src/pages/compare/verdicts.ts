// Which of two tasks did better, number by number. Pure.
import type { TaskState } from "../../api/types.ts";
import { duration } from "../../parts/instant.ts";
import { costWord, numberWord } from "../../parts/numbers.ts";
import type { Head } from "../../api/timeline.ts";

/** A number of both tasks, each in words; undefined where a task has none. */
export interface Row {
  name: string;
  values: readonly [string | undefined, string | undefined];
  /** Why the first or the second is better, in words; empty if neither is. */
  better: readonly [string, string];
}

interface Measure {
  name: string;
  of: (head: Head) => number | undefined;
  word: (value: number) => string;
  /** The words for a value that is smaller by this. */
  better: (difference: string) => string;
}

const MEASURES: readonly Measure[] = [
  { name: "Time", of: tookMs, word: duration, better: (less) => `${less} faster` },
  { name: "Requests to models", of: ({ usage }) => usage?.requests, word: numberWord, better: (less) => `${less} fewer` },
  { name: "Tokens", of: ({ usage }) => (usage === undefined ? undefined : usage.inputTokens + usage.outputTokens), word: numberWord, better: (less) => `${less} fewer` },
  { name: "Cost", of: ({ usage }) => usage?.costMicros || undefined, word: costWord, better: (less) => `${less} cheaper` },
  { name: "Failed steps", of: ({ failedSteps }) => failedSteps ?? 0, word: numberWord, better: (less) => `${less} fewer` },
];

/** From the creation to the last state, in ms; undefined while the task goes on. */
function tookMs({ state, createdAt, statusAt }: Head): number | undefined {
  return isDone(state) && createdAt !== null && statusAt !== null ? Math.max(0, statusAt - createdAt) : undefined;
}

/**
 * The rows of a comparison. A number is called better only between tasks that are both completed: one that failed at once was not faster. Rows that
 * neither task has are left out.
 */
export function rowsOf(one: Head, other: Head): Row[] {
  const isFair = one.state === COMPLETED && other.state === COMPLETED;
  return MEASURES.flatMap(({ name, of, word, better }): Row[] => {
    const [first, second] = [of(one), of(other)];
    if (first === undefined && second === undefined) return [];
    const [left, right] = isFair && first !== undefined && second !== undefined ? [first, second] : [0, 0];
    const less = better(word(Math.abs(left - right)));
    return [{ name, values: [first === undefined ? undefined : word(first), second === undefined ? undefined : word(second)], better: [left < right ? less : "", right < left ? less : ""] }];
  });
}

/** What is to be said about the two states together. */
export function sentenceOf(one: Head, other: Head): string {
  if (!isDone(one.state) || !isDone(other.state)) return "The numbers are compared when both tasks have ended.";
  if (one.state === COMPLETED && other.state === COMPLETED) return "Both are completed.";
  if (one.state !== COMPLETED && other.state !== COMPLETED) return "Neither is completed, so their numbers are not compared.";
  return `Only the ${one.state === COMPLETED ? "first" : "second"} is completed, so their numbers are not compared.`;
}

const COMPLETED: TaskState = "TASK_STATE_COMPLETED";

const isDone = (state: TaskState): boolean => /_(COMPLETED|FAILED|CANCELED|REJECTED)$/.test(state);
