// The open question of a task of this Worker, with what answers it. An answer is sent from here.
import { useRef, useState } from "preact/hooks";
import { AnsweredMeanwhile, PendingAnswer } from "../../api/answer.ts";
import { takesFiles } from "../../api/card.ts";
import { localEndpoint } from "../../api/endpoint.ts";
import type { Part, Task } from "../../api/types.ts";
import { href } from "../../route.ts";
import { useLoaded } from "../loaded.ts";
import { notify } from "../notice.tsx";
import { Parts } from "../part.tsx";
import { ProblemBox } from "../problem.tsx";
import { Question, schemaIn } from "./question.tsx";

interface AnswerProps {
  agent: string;
  /** The task with its question. */
  task: Task;
  /** The name of the task, for labels. */
  name: string;
  /** True if the person may not answer, but reads alone. */
  isReadOnly: boolean;
  /** Called when the question is answered, or not open any more. */
  done: (after: Task | undefined) => void;
}

export function Answer({ agent, task, name, isReadOnly, done }: AnswerProps) {
  const { state, message } = task.status;
  const { value: card } = useLoaded(async (signal) => (isReadOnly ? undefined : localEndpoint(agent).card({ signal })), agent);
  const [isSending, setSending] = useState(false);
  const [problem, setProblem] = useState<unknown>();
  const pending = useRef<PendingAnswer>(undefined);
  const schema = schemaIn(message);
  const parts = message?.parts.filter(({ data }) => schema === undefined || data !== schema) ?? [];
  const answer = async (given: Part[]): Promise<void> => {
    setSending(true);
    setProblem(undefined);
    const sent = (pending.current = pending.current?.isOf(given) === true ? pending.current : new PendingAnswer(agent, task, given));
    try {
      const after = await sent.send();
      notify("The answer is sent.");
      done(after);
    } catch (error) {
      if (error instanceof AnsweredMeanwhile) {
        notify(error.message, { isBad: true });
        done(undefined);
      } else setProblem(error);
    } finally {
      setSending(false);
    }
  };
  return (
    <div class="answer stack">
      {parts.length > 0 ? (
        <Parts parts={parts} />
      ) : (
        schema === undefined && (
          <p class="quiet">
            {message === undefined ? "The agent asks without words, or at great length: " : "The agent asks without words: "}
            <a href={href(["chat", agent, task.id])}>see the conversation</a>.
          </p>
        )
      )}
      {!isReadOnly && <Question state={state} message={message} answer={(given) => void answer(given)} isSending={isSending} takesFiles={takesFiles(card)} name={name} />}
      {problem !== undefined && <ProblemBox problem={problem} />}
    </div>
  );
}
