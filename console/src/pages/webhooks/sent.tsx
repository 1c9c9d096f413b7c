// The dialog that shows one attempt: what was sent, and what the receiver answered.
import { useEffect, useState } from "preact/hooks";
import { Dialog } from "../../parts/dialog.tsx";
import { Fact } from "../../parts/fact.tsx";
import { JsonTree } from "../../parts/json.tsx";
import { Loading } from "../../parts/loading.tsx";
import { ProblemBox } from "../../parts/problem.tsx";
import { duration, Time } from "../../parts/time.tsx";
import { sentence } from "../../parts/words.ts";
import type { StreamResponse } from "../../api/types.ts";
import { eventOf, type Attempt, type WebhookConfig } from "./api.ts";

export function SentDialog({ agent, task, config, attempt, close }: { agent: string; task: string; config: WebhookConfig; attempt: Attempt; close: () => void }) {
  const { generation } = attempt;
  const [event, setEvent] = useState<StreamResponse>();
  const [problem, setProblem] = useState<unknown>();
  const read = (signal: AbortSignal) => {
    setProblem(undefined);
    eventOf(agent, task, generation, signal).then(
      (found) => (found === undefined ? setProblem(new Error("The server does not have this event.")) : setEvent(found)),
      (thrown: unknown) => signal.aborted || setProblem(thrown),
    );
  };
  useEffect(() => {
    const reading = new AbortController();
    read(reading.signal);
    return () => reading.abort();
  }, []);
  return (
    <Dialog title={`Attempt ${attempt.attempt} to send generation ${generation}`} close={close}>
      <div class="stack">
        <h3>Answer</h3>
        <Answer of={attempt} isKept={attempt.outcome !== "delivered"} />
        <h3>Headers</h3>
        <dl class="hook-headers">
          {headersOf(config, attempt).map(([name, value]) => (
            <Fact key={name} name={name}>
              {value}
            </Fact>
          ))}
        </dl>
        <h3>Body</h3>
        {problem !== undefined && <ProblemBox problem={problem} retry={() => read(new AbortController().signal)} />}
        {event === undefined && problem === undefined && <Loading />}
        {event !== undefined && <JsonTree value={event} label="Body of the notification" />}
        <p class="quiet">The body is the event as A2A 1.0 has it. A webhook that was registered in an older version gets the task in that version.</p>
      </div>
    </Dialog>
  );
}

/** What a receiver answered. `isKept` is true if the server keeps the text of such an answer. */
export function Answer({ of, isKept }: { of: Omit<Attempt, "outcome">; isKept: boolean }) {
  const { status, error, answer, at, durationMs } = of;
  return (
    <>
      <dl class="hook-facts">
        <Fact name="Status">{status ?? "None"}</Fact>
        <Fact name="When">
          <Time at={at} />
        </Fact>
        <Fact name="Took">{duration(durationMs)}</Fact>
        {status === undefined && error !== undefined && (
          <Fact name="Error" isWide>
            <bdi>{sentence(error)}</bdi>
          </Fact>
        )}
      </dl>
      {answer !== undefined ? (
        <>
          <pre class="hook-answer" tabIndex={0} role="region" aria-label="Text of the answer">
            {answer.text}
          </pre>
          {answer.isCut === true && <p class="quiet">The answer is longer than what is kept of it.</p>}
        </>
      ) : (
        status !== undefined && <p class="quiet">{isKept ? "No text of the answer is shown: it was empty or no text, is no longer kept, or is only for the owner of the task." : "Of an answer that accepts a notification no text is kept."}</p>
      )}
    </>
  );
}

/** The headers of an attempt. In place of secrets, their origin is named. */
function headersOf({ id, authentication, hasCredentials, hasToken, hasSigningSecret }: WebhookConfig, { at, generation }: Attempt): [string, string][] {
  const authorization = authentication === undefined ? "Bearer … (a JWT of this server, if it has a signing key)" : hasCredentials === false ? "" : `${authentication.scheme} …`;
  const token = hasToken === true ? "…" : "";
  const headers: [string, string][] = [
    ["content-type", "application/a2a+json"],
    ["webhook-id", `….${id}.${generation}`],
    ["webhook-timestamp", String(Math.floor(at / 1000))],
    ["webhook-signature", hasSigningSecret === true ? "v1,… (made with the signing secret)" : ""],
    ["a2a-generation", String(generation)],
    ["authorization", authorization],
    ["x-a2a-notification-token", token],
    ["a2a-notification-token", token],
  ];
  return headers.filter(([, value]) => value !== "");
}
