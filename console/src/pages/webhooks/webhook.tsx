// One webhook of a task, with its newest attempts.
import { useState } from "preact/hooks";
import { Fact } from "../../parts/fact.tsx";
import { Badge } from "../../parts/state.tsx";
import { duration, Time } from "../../parts/time.tsx";
import { hostOf, sentence } from "../../parts/words.ts";
import { type Attempt, type Webhook, type WebhookConfig } from "./api.ts";
import { CheckDialog } from "./check.tsx";
import { DeadLetters, HealthBadge, NextTry } from "./health.tsx";
import { SentDialog } from "./sent.tsx";
import { TestDialog } from "./test.tsx";

const EVENTS: Record<string, string> = { all: "All", status: "The task as it begins, and its states", artifacts: "Artifacts" };

/** `remove` is undefined if the person may not delete the webhook. */
export function WebhookCard({ agent, task, webhook, send, remove }: { agent: string; task: string; webhook: Webhook; send: (from?: number) => void; remove?: (() => void) | undefined }) {
  const { config, deliveries } = webhook;
  const [sent, setSent] = useState<Attempt>();
  const [isTesting, setTesting] = useState(false);
  const [isChecking, setChecking] = useState(false);
  const { health, failingSince, deliveredGeneration, nextAttemptAt, lastError, attempts, deadLetters = [] } = deliveries;
  return (
    <article class="card stack">
      <div class="hook-head">
        <h2>
          <bdi>{hostOf(config.url)}</bdi>
        </h2>
        <HealthBadge health={health} />
        <span class="quiet hook-ids">
          Webhook <bdi>{config.id}</bdi>
        </span>
      </div>
      <dl class="hook-facts">
        <Fact name="URL" isWide>
          <code>{config.url}</code>
        </Fact>
        <Fact name="Events">{EVENTS[config.events ?? "all"] ?? config.events}</Fact>
        <Fact name="Proves itself by">{proofsOf(config)}</Fact>
        <Fact name="Delivered up to generation">{deliveredGeneration}</Fact>
        {health !== "active" && (
          <>
            <Fact name="Next try">
              <NextTry health={health} at={nextAttemptAt} />
            </Fact>
            <Fact name={health === "suspended" ? "Troubled since" : "Failing since"}>
              <Time at={failingSince} />
            </Fact>
          </>
        )}
        {lastError !== null && (
          <Fact name="Last error" isWide>
            <bdi>{sentence(lastError)}</bdi>
          </Fact>
        )}
      </dl>
      {deadLetters.length > 0 && (
        <div class="stack hook-tight">
          <h3>Given up</h3>
          <DeadLetters of={deadLetters} webhook={config.id} sendFrom={send} />
        </div>
      )}
      <Attempts of={attempts} webhook={config.id} show={setSent} />
      <div class="actions">
        {remove !== undefined && (
          <button type="button" class="danger" onClick={remove}>
            Delete…
          </button>
        )}
        <button type="button" onClick={() => setChecking(true)}>
          Check a signature…
        </button>
        <button type="button" onClick={() => setTesting(true)}>
          Send a test…
        </button>
        <button type="button" onClick={() => send()}>
          Send again…
        </button>
      </div>
      {sent !== undefined && <SentDialog agent={agent} task={task} config={config} attempt={sent} close={() => setSent(undefined)} />}
      {isChecking && <CheckDialog agent={agent} task={task} config={config} close={() => setChecking(false)} />}
      {isTesting && <TestDialog agent={agent} task={task} config={config} close={() => setTesting(false)} />}
    </article>
  );
}

const OUTCOMES: Record<string, { word: string; tone: string }> = {
  delivered: { word: "Delivered", tone: "good" },
  retry: { word: "Failed", tone: "wait" },
  givenUp: { word: "Given up", tone: "bad" },
};

/** The newest attempts, newest first. */
function Attempts({ of: attempts, webhook, show }: { of: readonly Attempt[]; webhook: string; show: (attempt: Attempt) => void }) {
  if (attempts.length === 0) return <p class="quiet">Nothing was sent yet.</p>;
  return (
    <div class="stack hook-tight">
      <h3>Newest attempts</h3>
      <div class="scroll" tabIndex={0} role="region" aria-label={`Newest attempts of the webhook ${webhook}`}>
        <table class="hook-attempts">
          <thead>
            <tr>
              <th scope="col">When</th>
              <th scope="col">
                <span class="sr">Details</span>
              </th>
              <th scope="col">Outcome</th>
              <th scope="col">Answer</th>
              <th scope="col">Generation</th>
              <th scope="col">Attempt</th>
              <th scope="col">Took</th>
            </tr>
          </thead>
          <tbody>
            {[...attempts].reverse().map((one) => {
              const { at, generation, attempt, outcome, status, error, durationMs } = one;
              return (
                <tr key={`${at}/${generation}/${attempt}`}>
                  <td>
                    <Time at={at} />
                  </td>
                  <td>
                    <button type="button" class="small" onClick={() => show(one)}>
                      Details<span class="sr"> of attempt {attempt} to send generation {generation}</span>
                    </button>
                  </td>
                  <td>
                    <Badge tone={OUTCOMES[outcome]?.tone ?? "idle"}>{OUTCOMES[outcome]?.word ?? outcome}</Badge>
                  </td>
                  <td class="hook-said">{status === undefined ? <bdi>{sentence(error ?? "None")}</bdi> : status}</td>
                  <td class="hook-number">{generation}</td>
                  <td class="hook-number">{attempt}</td>
                  <td class="hook-number">{duration(durationMs)}</td>
                </tr>
              );
            })}
          </tbody>
        </table>
      </div>
    </div>
  );
}

/** The proofs by which the receiver recognizes genuine notifications. */
function proofsOf({ authentication, hasCredentials, hasToken, hasSigningSecret }: WebhookConfig): string {
  const proofs = [
    hasSigningSecret === true ? "signature" : "",
    authentication === undefined ? "" : `${authentication.scheme}${hasCredentials === false ? " without credentials" : " credentials"}`,
    hasToken === true ? "token" : "",
  ].filter((proof) => proof !== "");
  return proofs.length === 0 ? "nothing" : proofs.join(", ");
}
