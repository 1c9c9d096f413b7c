// The state of a task, as a word with a colour.
import type { Task, TaskState } from "../api/types.ts";
import { Icon } from "./icon.tsx";
import { TASK_STATES } from "../../../scripts/operate/states.mjs";

const WORDS: Record<string, { word: string; tone: string }> = TASK_STATES;

/** All states, in the order of the protocol. */
export const STATES = Object.keys(WORDS) as TaskState[];

/** The state in words. A state that the console does not know is shown unchanged. */
export function stateWord(state: string): string {
  return WORDS[state]?.word ?? state;
}

export function StateBadge({ state }: { state: string }) {
  return <Badge tone={WORDS[state]?.tone ?? "idle"}>{stateWord(state)}</Badge>;
}

/** The member of a task's metadata with the number of its failed steps (docs/timeline.md). */
const FAILED_STEPS = "urn:a2a-edge:failed-steps";

/** The number of failed steps in a task's metadata; 0 without it. */
export function failedStepsOf({ metadata }: Pick<Task, "metadata">): number {
  const told = metadata?.[FAILED_STEPS];
  return typeof told === "number" ? told : 0;
}

/** Marks a task with failed steps, whatever its final state. */
export function FailedSteps({ count }: { count: number }) {
  if (count === 0) return null;
  return (
    <span class="failed" title="A step failed, and the task went on. The timeline shows which.">
      <Icon name="warning" /> {count === 1 ? "1 failed step" : `${count} failed steps`}
    </span>
  );
}

/** A word with a dot in the colour of its tone: `good`, `bad`, `busy`, `wait` or `idle`. */
export function Badge({ tone, children }: { tone: string; children: string }) {
  return <span class={`badge ${tone}`}>{children}</span>;
}
