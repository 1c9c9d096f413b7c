// The dialog that sends the events of a task to a webhook again, from a chosen event on.
import { useEffect, useState } from "preact/hooks";
import { Dialog } from "../../parts/dialog.tsx";
import { notify } from "../../parts/notice.tsx";
import { ProblemBox } from "../../parts/problem.tsx";
import { hostOf } from "../../parts/words.ts";
import { Problem } from "../../api/problem.ts";
import { newestGeneration, sendAgain, type DeadLetter } from "./api.ts";
import { Field } from "./field.tsx";

/** The webhook to which events are sent again. */
export interface SendAgainTo {
  agent: string;
  task: string;
  id: string;
  url: string;
  deliveredGeneration: number;
  deadLetters: readonly DeadLetter[];
  /** The first event, if already chosen. */
  from?: number;
}

/** `done` is called after the server has accepted the request. */
export function SendAgainDialog({ to, close, done }: { to: SendAgainTo; close: () => void; done: () => void }) {
  const [newest, setNewest] = useState<number>();
  const [problem, setProblem] = useState<unknown>();
  const [isSending, setSending] = useState(false);
  const [from, setFrom] = useState(String(to.from ?? to.deadLetters[0]?.generation ?? ""));

  useEffect(() => {
    newestGeneration(to.agent, to.task).then(
      (found) => {
        setNewest(found);
        setFrom((chosen) => (chosen === "" ? String(Math.min(to.deliveredGeneration + 1, found)) : chosen));
      },
      (error: unknown) => setProblem(error),
    );
  }, []);

  const generation = Number(from);
  const isWhole = Number.isSafeInteger(generation) && generation >= 1;
  const count = newest !== undefined && isWhole ? Math.max(0, newest - generation + 1) : undefined;
  const send = async (event: Event) => {
    event.preventDefault();
    if (!isWhole || isSending) return;
    setSending(true);
    setProblem(undefined);
    try {
      await sendAgain(to.agent, to.task, to.id, generation);
      notify(`The events from generation ${generation} on are sent again.`);
      done();
      close();
    } catch (error) {
      setProblem(error);
      setSending(false);
    }
  };
  const violations = problem instanceof Problem ? problem.violations : [];
  const choices: [string, number][] = [
    ...to.deadLetters.map(({ generation }): [string, number] => [`Given up: ${generation}`, generation]),
    ...(newest === undefined ? [] : ([["From the first event", 1], [`The newest alone: ${newest}`, newest]] as [string, number][])),
  ];

  return (
    <Dialog title="Send again" close={close}>
      <form class="stack" onSubmit={(event) => void send(event)}>
        <p>
          To <strong><bdi>{hostOf(to.url)}</bdi></strong>: every event of the task from this generation on, in order. The receiver may have had some of them; each
          keeps its <code>webhook-id</code>.
        </p>
        <Field label="From generation" errors={violations.filter(({ field }) => field === "fromGeneration").map(({ description }) => description)}>
          {(input) => <input type="number" min="1" max={newest} step="1" required value={from} {...input} onInput={(event) => setFrom(event.currentTarget.value)} />}
        </Field>
        {choices.length > 0 && (
          <div class="row" role="group" aria-label="Generations to begin with">
            {choices.map(([label, value]) => (
              <button key={label} type="button" class="small" aria-pressed={generation === value} onClick={() => setFrom(String(value))}>
                {label}
              </button>
            ))}
          </div>
        )}
        <p class="quiet" role="status">
          {newest === undefined ? "Asking for the newest generation…" : count === undefined ? `The newest is ${newest}.` : countOf(count, newest)}
        </p>
        {problem !== undefined && violations.length === 0 && <ProblemBox problem={problem} />}
        <div class="actions">
          <button type="button" onClick={close}>
            Cancel
          </button>
          <button type="submit" class="primary" disabled={isSending || !isWhole}>
            {isSending ? "Sending…" : "Send again"}
          </button>
        </div>
      </form>
    </Dialog>
  );
}

function countOf(count: number, newest: number): string {
  const events = count === 1 ? "1 event" : `${count} events`;
  return `Up to ${events}; the newest has generation ${newest}. Events that the webhook filters out are not sent.`;
}
