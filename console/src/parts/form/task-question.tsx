// The question of a task of this Worker on pages without a chat: what the agent asks, and the fields for the answer, which is sent from here.
//
//     <TaskQuestion key={task.status.message?.messageId} agent="demo" task={task} done={() => …} />
import { useContext, useState } from "preact/hooks";
import { takesFiles } from "../../api/card.ts";
import { localEndpoint } from "../../api/endpoint.ts";
import { isWaiting, type Part, type SendMessageResponse, type Task } from "../../api/types.ts";
import { useLoaded } from "../loaded.ts";
import { Parts } from "../part.tsx";
import { ProblemBox } from "../problem.tsx";
import { Whose } from "../whose.ts";
import { Question, schemaIn } from "./question.tsx";

export interface TaskQuestionProps {
  /** The slug of the task's agent. */
  agent: string;
  /** As GetTask answers it; nothing is shown unless it waits for its client. */
  task: Task;
  /** Called when the agent has got the answer: the task has changed. */
  done: () => void;
}

export function TaskQuestion({ agent, task, done }: TaskQuestionProps) {
  const { value: card } = useLoaded((signal) => localEndpoint(agent).card({ signal }), agent);
  const [problem, setProblem] = useState<unknown>();
  const [sending, setSending] = useState<"no" | "yes" | "done">("no");
  // A repeated answer has the same id, so that the agent gets it once (docs/calling.md).
  const [messageId] = useState(() => crypto.randomUUID());
  const whose = useContext(Whose);
  const { state, message } = task.status;
  if (!isWaiting(state)) return null;
  if (sending === "done") return <p role="status">The answer was sent.</p>;
  const answer = async (parts: Part[]): Promise<void> => {
    setSending("yes");
    setProblem(undefined);
    const { id: taskId, contextId } = task;
    const sent = { messageId, role: "ROLE_USER", parts, taskId, ...(contextId === undefined ? {} : { contextId }) };
    try {
      await localEndpoint(agent).call<SendMessageResponse>("SendMessage", { message: sent, configuration: { returnImmediately: true } });
      setSending("done");
      done();
    } catch (error) {
      setSending("no");
      setProblem(error);
    }
  };
  const schema = schemaIn(message);
  const parts = (message?.parts ?? []).filter(({ data }) => schema === undefined || data !== schema);
  return (
    <section class="stack" aria-label={`The agent asks${whose}`}>
      <h2>The agent asks</h2>
      {parts.length > 0 && (
        <div class="asked">
          <Parts parts={parts} />
        </div>
      )}
      {problem !== undefined && <ProblemBox problem={problem} />}
      <Question state={state} message={message} answer={(given) => void answer(given)} isSending={sending === "yes"} takesFiles={takesFiles(card)} />
    </section>
  );
}
