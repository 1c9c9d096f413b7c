// The agents that the agent of a task has asked, with how long each took: read from the task's timeline when the task ends or waits.
import { useEffect, useState } from "preact/hooks";
import { duration } from "../../parts/time.tsx";
import { href } from "../../route.ts";
import { timelinePage, type StepEntry, type TaskOf } from "../../api/timeline.ts";

/** Steps further back than the newest so many entries are not looked for. */
const ENTRIES = 100;

interface Asked {
  key: string;
  task: TaskOf;
  /** Undefined while the answer is awaited. */
  tookMs: number | undefined;
  hasFailed: boolean;
}

/** `settled` changes when the task ends or waits; undefined while it is under way. */
export function AskedAgents({ task, settled }: { task: TaskOf; settled: string | undefined }) {
  const [asked, setAsked] = useState<Asked[]>([]);
  useEffect(() => {
    if (settled === undefined) return;
    const leaving = new AbortController();
    // Without a timeline the conversation is complete all the same.
    timelinePage(task, { order: "desc", pageSize: ENTRIES }, { signal: leaving.signal, isQuiet: true }).then(
      ({ entries }) => leaving.signal.aborted || setAsked(askedIn(entries.reverse().filter((entry) => entry.kind === "step"))),
      () => undefined,
    );
    return () => leaving.abort();
  }, [task.agent, task.id, settled]);
  if (asked.length === 0) return null;
  return (
    <p class="states asked">
      {asked.map(({ key, task: given, tookMs, hasFailed }) => (
        <span key={key}>
          asked <a href={href(["tasks", given.agent, given.id])}>{given.agent}</a>
          {tookMs !== undefined && `, ${duration(tookMs)}`}
          {hasFailed && ", failed"}
        </span>
      ))}
    </p>
  );
}

/** A model's call lasts as long as the other task; its step that has the task only begins it. */
function askedIn(steps: readonly StepEntry[]): Asked[] {
  return steps.flatMap((step, nth) => {
    if (step.task === undefined) return [];
    const call = step.type !== "agent" ? step : steps.slice(nth).find(({ name }) => name === step.name.split(" ")[1]);
    return [{ key: `${step.at} ${step.name}`, task: step.task, tookMs: call?.durationMs, hasFailed: call?.failed === true }];
  });
}
