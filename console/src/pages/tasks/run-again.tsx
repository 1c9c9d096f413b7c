// Runs a task again: the message that began it goes to its agent, or to another one, and both tasks are compared.
import { useRef, useState } from "preact/hooks";
import { messageAgain } from "../../api/again.ts";
import { runnableAgents } from "../../api/agents.ts";
import { localEndpoint } from "../../api/endpoint.ts";
import { Problem } from "../../api/problem.ts";
import { wholeTask, type TaskOf } from "../../api/timeline.ts";
import type { Message, SendMessageResponse } from "../../api/types.ts";
import { Dialog } from "../../parts/dialog.tsx";
import { Icon } from "../../parts/icon.tsx";
import { Parts } from "../../parts/part.tsx";
import { ProblemBox } from "../../parts/problem.tsx";
import { shortened } from "../../parts/words.ts";
import { go } from "../../route.ts";
import { isOperator } from "../../session/operator.ts";
import { compareAddress } from "../compare/address.ts";

/** A button to run a task again; with `hasOthers`, also one for each other agent. Operators see tasks of others, and run none of them. */
export function RunAgain({ task, hasOthers = false }: { task: TaskOf; hasOthers?: boolean }) {
  const [isBusy, setBusy] = useState(false);
  const [outcome, setOutcome] = useState<{ agent: string; problem?: unknown; said?: Message | undefined }>();
  // After a failure the same message is sent, so that an agent that has got it does not get it twice.
  const ids = useRef(new Map<string, string>());
  if (isOperator.value) return null;
  const run = async (agent: string) => {
    // A disabled button would lose the focus.
    if (isBusy) return;
    setBusy(true);
    setOutcome(undefined);
    try {
      const id = ids.current.get(agent) ?? crypto.randomUUID();
      ids.current.set(agent, id);
      const { task: begun, message: said } = await sendOnce(agent, messageAgain(await wholeTask(task), { id, isSameAgent: agent === task.agent }));
      ids.current.delete(agent);
      if (begun === undefined) setOutcome({ agent, said });
      else go(compareAddress(task, { agent, id: begun.id }));
    } catch (problem) {
      if (!(problem instanceof Problem && problem.isPassing)) ids.current.delete(agent);
      setOutcome({ agent, problem });
    } finally {
      setBusy(false);
    }
  };
  const others = hasOthers ? (runnableAgents() ?? []).filter(({ slug }) => slug !== task.agent) : [];
  return (
    <>
      <button type="button" class="small" aria-label={hasOthers ? undefined : `Run again ${shortened(task.id)}`} onClick={() => void run(task.agent)}>
        <Icon name="refresh" /> {isBusy ? "Sending…" : "Run again"}
      </button>
      {others.length > 0 && (
        <details class="menu" onKeyDown={closeByEscape}>
          <summary class="button small">Run with another agent</summary>
          <ul class="menu-list card">
            {others.map(({ slug, name }) => (
              <li key={slug}>
                <button type="button" class="plain" onClick={() => void run(slug)}>
                  <span>
                    <bdi>{name}</bdi> <code>/{slug}</code>
                  </span>
                </button>
              </li>
            ))}
          </ul>
        </details>
      )}
      {outcome !== undefined && (
        <Dialog title={outcome.problem === undefined ? "The agent has answered without a task" : "It was not run again"} close={() => setOutcome(undefined)}>
          <div class="stack">
            {outcome.problem !== undefined && <ProblemBox problem={outcome.problem} retry={outcome.problem instanceof Problem && outcome.problem.isPassing ? () => void run(outcome.agent) : undefined} />}
            {outcome.said !== undefined && <Parts parts={outcome.said.parts} />}
          </div>
        </Dialog>
      )}
    </>
  );
}

/** Sends a message to an agent of this Worker, once, however often it is called with this message. @throws {Problem} */
function sendOnce(agent: string, message: Message): Promise<SendMessageResponse> {
  const options = { headers: { "idempotency-key": message.messageId } };
  return localEndpoint(agent).call<SendMessageResponse>("SendMessage", { message, configuration: { returnImmediately: true } }, options);
}

/** Closes a menu, whose button then has the focus. */
function closeByEscape(event: KeyboardEvent & { currentTarget: HTMLDetailsElement }): void {
  if (event.key !== "Escape" || !event.currentTarget.open) return;
  event.currentTarget.open = false;
  event.currentTarget.querySelector("summary")?.focus();
}
