// A task as it is when it ends or waits, and the question that it waits with.
import { useContext, useEffect, useState } from "preact/hooks";
import { wholeTask, type Head, type TaskOf } from "../../api/timeline.ts";
import { isFinal, isWaiting, type Task } from "../../api/types.ts";
import { Answer } from "../../parts/form/answer.tsx";
import { Whose } from "../../parts/whose.ts";
import { shortened } from "../../parts/words.ts";
import { isOperator } from "../../session/operator.ts";
import { answered } from "../waiting/count.ts";

export interface Whole {
  /** The task as it was read last. */
  whole: Task | undefined;
  problem: unknown;
  retry(): void;
}

/** The whole task, read each time it ends or waits; with `isEarly` also before. */
export function useWhole(task: TaskOf, { state, generation }: Head, { historyLength, isEarly = false }: { historyLength?: number; isEarly?: boolean } = {}): Whole {
  const [whole, setWhole] = useState<Task>();
  const [problem, setProblem] = useState<unknown>();
  const [attempt, setAttempt] = useState(0);
  const isSettled = isFinal(state) || isWaiting(state);
  useEffect(() => {
    if (!isSettled && !isEarly) return;
    const over = new AbortController();
    wholeTask(task, { historyLength, signal: over.signal }).then(
      (found) => (setWhole(found), setProblem(undefined)),
      (error: unknown) => over.signal.aborted || setProblem(error),
    );
    return () => over.abort();
  }, [task.agent, task.id, state, isSettled && generation, attempt]);
  return { whole, problem, retry: () => setAttempt(attempt + 1) };
}

/** The question of a task that waits, to be answered in place; nothing where it does not wait. Operators read it. */
export function Waiting({ task, head, whole, Heading, changed }: { task: TaskOf; head: Head; whole: Task | undefined; Heading: "h2" | "h3"; changed(): void }) {
  const whose = useContext(Whose);
  if (whole === undefined || !isWaiting(head.state) || whole.status.state !== head.state) return null;
  const done = (): void => {
    answered(task.agent);
    changed();
    // The form goes away.
    document.getElementById("main")?.focus({ preventScroll: true });
  };
  return (
    <section class="card stack" aria-label={`Waiting for an answer${whose}`}>
      <Heading>{isOperator.value ? "It waits for its caller" : "It waits for you"}</Heading>
      <Answer key={whole.status.timestamp} agent={task.agent} task={whole} name={`the task ${shortened(task.id)}`} isReadOnly={isOperator.value} done={done} />
    </section>
  );
}
