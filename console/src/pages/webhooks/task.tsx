// The webhooks of one task: their state, and the possible actions.
import { signal, type Signal } from "@preact/signals";
import { useEffect, useRef, useState } from "preact/hooks";
import { Problem } from "../../api/problem.ts";
import { ConfirmDialog } from "../../parts/confirm.tsx";
import { CopyButton } from "../../parts/copy.tsx";
import { Icon } from "../../parts/icon.tsx";
import { Loading } from "../../parts/loading.tsx";
import { notify } from "../../parts/notice.tsx";
import { ProblemBox } from "../../parts/problem.tsx";
import { hostOf } from "../../parts/words.ts";
import { href, useKept } from "../../route.ts";
import { isOperator } from "../../session/operator.ts";
import { remove, webhooksOf, type Webhook } from "./api.ts";
import { RegisterDialog } from "./register.tsx";
import { SendAgainDialog, type SendAgainTo } from "./send-again.tsx";
import { WebhookCard } from "./webhook.tsx";

/** The interval at which the webhooks are loaded again while the page is visible. */
const REFRESH_MS = 5_000;

export function TaskWebhooks({ agent, task }: { agent: string; task: string }) {
  const kept = useKept<Signal<readonly Webhook[] | undefined>>(`webhooks ${isOperator.value}`, () => signal(undefined));
  const webhooks = kept.value;
  const [problem, setProblem] = useState<unknown>();
  const [again, setAgain] = useState<SendAgainTo>();
  const [unwanted, setUnwanted] = useState<Webhook>();
  const [isRegistering, setRegistering] = useState(false);
  const reading = useRef<AbortController | undefined>(undefined);

  const read = async () => {
    reading.current?.abort();
    const { signal } = (reading.current = new AbortController());
    try {
      const found = await webhooksOf(agent, task, signal);
      if (signal.aborted) return;
      kept.value = found;
      setProblem(undefined);
    } catch (error) {
      if (!signal.aborted) setProblem(error);
    }
  };
  useEffect(() => {
    void read();
    return () => reading.current?.abort();
  }, [kept]);
  useEffect(() => {
    // A repeated request would be refused again, and would open the sign-in each time.
    if (problem instanceof Problem && !problem.isPassing) return;
    const timer = setInterval(() => document.visibilityState === "visible" && void read(), REFRESH_MS);
    return () => clearInterval(timer);
  }, [problem]);

  const sendTo = ({ config, deliveries }: Webhook, from?: number) => {
    const { deliveredGeneration, deadLetters = [] } = deliveries;
    setAgain({ agent, task, id: config.id, url: config.url, deliveredGeneration, deadLetters, ...(from === undefined ? {} : { from }) });
  };

  return (
    <section class="page">
      <div class="page-head">
        <div>
          <p class="quiet">
            <a href={href(["webhooks"])}>Webhooks</a> / {agent}
          </p>
          <h1>Webhooks of a task</h1>
          <p class="row quiet">
            <a href={href(["tasks", agent, task])}>
              <code>{task}</code>
            </a>
            <CopyButton of={() => task} label="Copy the id of the task" isBare />
          </p>
        </div>
        <div class="row">
          <button type="button" onClick={() => void read()}>
            <Icon name="refresh" />
            <span>Refresh</span>
          </button>
          {!isOperator.value && (
            <button type="button" class="primary" onClick={() => setRegistering(true)}>
              <Icon name="plus" />
              <span>Register a webhook</span>
            </button>
          )}
        </div>
      </div>
      {isOperator.value && <p class="quiet">Operators see how webhooks fare and send again; only the owner of the task registers and deletes them.</p>}
      {problem !== undefined && <ProblemBox problem={problem} retry={() => void read()} />}
      {webhooks === undefined && problem === undefined && <Loading />}
      {webhooks?.length === 0 && (
        <div class="empty">
          <Icon name="webhooks" />
          <h2>No webhook</h2>
          <p>A webhook is a URL that gets the events of the task as they happen.</p>
        </div>
      )}
      {webhooks !== undefined && webhooks.length > 0 && (
        <ul class="hook-list" aria-label="Webhooks of the task">
          {webhooks.map((webhook) => (
            <li key={webhook.config.id}>
              <WebhookCard
                agent={agent}
                task={task}
                webhook={webhook}
                send={(from) => sendTo(webhook, from)}
                remove={isOperator.value ? undefined : () => setUnwanted(webhook)}
              />
            </li>
          ))}
        </ul>
      )}
      {again !== undefined && <SendAgainDialog to={again} close={() => setAgain(undefined)} done={() => void read()} />}
      {isRegistering && <RegisterDialog agent={agent} task={task} close={() => setRegistering(false)} done={() => void read()} />}
      {unwanted !== undefined && (
        <RemoveDialog webhook={unwanted} agent={agent} task={task} close={() => setUnwanted(undefined)} done={() => void read()} />
      )}
    </section>
  );
}

function RemoveDialog({ webhook, agent, task, close, done }: { webhook: Webhook; agent: string; task: string; close: () => void; done: () => void }) {
  const { id, url } = webhook.config;
  const act = async () => {
    await remove(agent, task, id);
    notify("The webhook is deleted.");
    done();
  };
  return (
    <ConfirmDialog title="Delete the webhook?" leave="Cancel" act="Delete" action={act} close={close}>
      <strong><bdi>{hostOf(url)}</bdi></strong> gets nothing more, and its attempts and given up events are forgotten. Its signing secret is gone: a webhook that
      is registered later has another one.
    </ConfirmDialog>
  );
}
