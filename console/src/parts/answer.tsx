// The question of a task with what answers it: the form of its schema, fields for credentials, or words.
import { useRef, useState } from "preact/hooks";
import { AnsweredMeanwhile, PendingAnswer } from "../api/answer.ts";
import type { Part, Task } from "../api/types.ts";
import { Question, schemaIn } from "../pages/chat/question.tsx";
import { href } from "../route.ts";
import { notify } from "./notice.tsx";
import { Parts } from "./part.tsx";
import { ProblemBox } from "./problem.tsx";
import "./answer.css";

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
  const [isSending, setSending] = useState(false);
  const [problem, setProblem] = useState<unknown>();
  const pending = useRef<PendingAnswer>(undefined);
  const schema = schemaIn(message);
  const parts = message?.parts.filter(({ data }) => schema === undefined || data !== schema) ?? [];
  const answer = async (given: Part[]): Promise<boolean> => {
    setSending(true);
    setProblem(undefined);
    const sent = (pending.current = pending.current?.isOf(given) === true ? pending.current : new PendingAnswer(agent, task, given));
    try {
      const after = await sent.send();
      notify("The answer is sent.");
      done(after);
      return true;
    } catch (error) {
      if (error instanceof AnsweredMeanwhile) {
        notify(error.message, { isBad: true });
        done(undefined);
      } else setProblem(error);
      return false;
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
      {!isReadOnly && (
        <>
          {state === "TASK_STATE_AUTH_REQUIRED" || schema !== undefined ? <Question state={state} message={message} answer={(given) => void answer(given)} isSending={isSending} /> : null}
          {schema === undefined ? (
            <Words name={name} isForCredentials={state === "TASK_STATE_AUTH_REQUIRED"} isSending={isSending} answer={answer} />
          ) : (
            <details>
              <summary class="quiet">Answer in words</summary>
              <Words name={name} isForCredentials={false} isSending={isSending} answer={answer} />
            </details>
          )}
        </>
      )}
      {problem !== undefined && <ProblemBox problem={problem} />}
    </div>
  );
}

/** An answer as a text. Enter sends; Shift and Enter begin a new line. */
function Words({ name, isForCredentials, isSending, answer }: { name: string; isForCredentials: boolean; isSending: boolean; answer: (parts: Part[]) => Promise<boolean> }) {
  const [text, setText] = useState("");
  const submit = async () => {
    if (text.trim() !== "" && !isSending && (await answer([{ text }]))) setText("");
  };
  const onKey = (event: KeyboardEvent) => {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    void submit();
  };
  return (
    <form class="answer-words" onSubmit={(event) => (event.preventDefault(), void submit())}>
      <label>
        <span class="sr">{`Answer to ${name}`}</span>
        <textarea
          rows={2}
          value={text}
          required
          placeholder={isForCredentials ? "Say when you have signed in where the agent wants it" : "Your answer"}
          onInput={(event) => setText(event.currentTarget.value)}
          onKeyDown={onKey}
        />
      </label>
      <button type="submit" class="primary" disabled={isSending}>
        {isSending ? "Sending…" : "Answer"}
      </button>
    </form>
  );
}
