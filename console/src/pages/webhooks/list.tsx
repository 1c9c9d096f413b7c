// The webhooks in trouble of all agents, or of one agent: suspended webhooks first.
import { signal, type Signal } from "@preact/signals";
import { useEffect, useRef, useState } from "preact/hooks";
import { runnableAgents } from "../../api/agents.ts";
import { Problem } from "../../api/problem.ts";
import { Choice } from "../../parts/choice.tsx";
import { Fact } from "../../parts/fact.tsx";
import { Failures } from "../../parts/failures.tsx";
import { Icon } from "../../parts/icon.tsx";
import { Loading, NoCatalogue } from "../../parts/loading.tsx";
import { TextFilter } from "../../parts/text-filter.tsx";
import { Time } from "../../parts/time.tsx";
import { hostOf, sentence, shortened } from "../../parts/words.ts";
import { go, href, place, useKept } from "../../route.ts";
import { isOperator } from "../../session/operator.ts";
import { troubled, type TroubledWebhook } from "./api.ts";
import { DeadLetters, HealthBadge, NextTry } from "./health.tsx";
import { FindTask } from "./find.tsx";
import { SendAgainDialog, type SendAgainTo } from "./send-again.tsx";

/** The interval at which the list is loaded again while the page is visible. */
const REFRESH_MS = 10_000;

const TROUBLES = [["", "Any"], ["failing", "Failing"], ["suspended", "Suspended"], ["deadLetters", "Events given up"]] as const;

const RANK = { suspended: 0, failing: 1, active: 2 } as const;

interface Found {
  agent: string;
  webhook: TroubledWebhook;
}

/** The result for an agent: its webhooks, or a problem, possibly with the webhooks of an earlier answer. */
interface Read {
  agent: string;
  webhooks: TroubledWebhook[];
  nextPageToken: string;
  problem?: Problem;
}

/** The results for all agents. After the person has loaded a further page, nothing is loaded in the background. */
interface Kept {
  reads: Signal<readonly Read[] | undefined>;
  isFurther: boolean;
}

export function WebhookList({ agent }: { agent: string }) {
  const query = place.value.query;
  const [trouble, owner] = [query.get("state") ?? "", query.get("owner") ?? ""];
  // For all agents, only agents that can have webhooks are called.
  const able = runnableAgents()?.filter(({ capabilities }) => capabilities?.pushNotifications === true);
  const known = able?.map(({ slug }) => slug);
  const agents = agent !== "" ? [agent] : known;
  const key = JSON.stringify([agent, trouble, owner, agents, isOperator.value]);
  const kept = useKept<Kept>(`webhooks ${key}`, () => ({ reads: signal(undefined), isFurther: false }));
  const reads = kept.reads.value;
  const [again, setAgain] = useState<SendAgainTo>();
  const reading = useRef<AbortController | undefined>(undefined);

  const read = async (isQuiet: boolean) => {
    if (agents === undefined) return;
    reading.current?.abort();
    const { signal } = (reading.current = new AbortController());
    const found = await Promise.all(agents.map((slug) => readAgent(slug, { trouble, owner, isQuiet, signal })));
    if (signal.aborted) return;
    // While a server cannot answer, its earlier answer is kept.
    const before = (one: Read) => (one.problem?.isPassing === true ? kept.reads.peek()?.find(({ agent }) => agent === one.agent) : undefined);
    kept.reads.value = found.map((one) => ({ ...one, ...before(one), ...(one.problem !== undefined && { problem: one.problem }) }));
    kept.isFurther = false;
  };
  const more = async (slug: string, pageToken: string) => {
    kept.isFurther = true;
    reading.current?.abort();
    const next = await readAgent(slug, { trouble, owner, pageToken, isQuiet: false });
    const joined = (before: Read) => (next.problem === undefined ? { ...next, webhooks: [...before.webhooks, ...next.webhooks] } : { ...before, problem: next.problem });
    kept.reads.value = kept.reads.value?.map((before) => (before.agent === slug ? joined(before) : before));
  };
  useEffect(() => {
    // A single agent may open the sign-in; the list of all agents opens no sign-in.
    if (!kept.isFurther) void read(agent === "" || kept.reads.peek() !== undefined);
    const timer = setInterval(() => {
      if (document.visibilityState === "visible" && !kept.isFurther) void read(true);
    }, REFRESH_MS);
    return () => (clearInterval(timer), reading.current?.abort());
  }, [kept]);

  const filter = (change: { agent?: string; state?: string; owner?: string }) => {
    const { agent: chosen = agent, state = trouble, owner: whose = owner } = change;
    go(href(chosen === "" ? ["webhooks"] : ["webhooks", chosen], { state, owner: whose }), { replace: true });
  };
  const webhooks = (reads ?? [])
    .flatMap(({ agent, webhooks }): Found[] => webhooks.map((webhook) => ({ agent, webhook })))
    .sort((one, two) => RANK[one.webhook.health] - RANK[two.webhook.health] || sinceOf(two.webhook) - sinceOf(one.webhook));
  const problems = (reads ?? []).flatMap(({ agent, problem }) => (problem === undefined ? [] : [{ agent, problem }]));
  // For all agents, a refusal of the operator role is only shown as a remark.
  const denied = problems.filter(({ problem }) => agent === "" && isOperator.value && problem.status === 403);
  const failed = problems.filter((one) => !denied.includes(one));
  const isRead = reads?.some(({ problem }) => problem === undefined) ?? false;
  const openSend = ({ agent, webhook }: Found, from?: number) =>
    setAgain({ agent, task: webhook.taskId, ...webhook, ...(from === undefined ? {} : { from }) });

  return (
    <section class="page">
      <div class="page-head">
        <div>
          <h1>Webhooks</h1>
          <p class="quiet">Those that are failing or suspended, and events that were given up.</p>
        </div>
        <button type="button" onClick={() => void read(agent === "")}>
          <Icon name="refresh" />
          <span>Refresh</span>
        </button>
      </div>
      <div class="row hook-filters">
        <Choice name="Agent" value={agent} of={[["", "All agents"], ...[...new Set([...(known ?? []), ...(agent === "" ? [] : [agent])])].map((slug) => [slug, slug] as const)]} choose={(agent) => filter({ agent })} />
        <Choice name="Trouble" value={trouble} of={TROUBLES} choose={(state) => filter({ state })} />
        {isOperator.value && <TextFilter name="Owner" value={owner} placeholder="All owners" apply={(owner) => filter({ owner })} />}
      </div>
      {known === undefined && agent === "" && <NoCatalogue />}
      <Failures what="webhooks" failed={failed} of={agents?.length ?? 0} retry={() => void read(agent === "")} />
      {reads === undefined && (known !== undefined || agent !== "") && <Loading />}
      {denied.length > 0 && <p class="quiet">You are no operator of {denied.map(({ agent: slug }) => slug).join(", ")}.</p>}
      {isRead && webhooks.length === 0 && <AllWell isFiltered={trouble !== "" || owner !== ""} />}
      {webhooks.length > 0 && (
        <ul class="hook-list" aria-label="Webhooks that need mending">
          {webhooks.map((found) => (
            <li key={`${found.agent}/${found.webhook.taskId}/${found.webhook.id}`}>
              <TroubledCard found={found} send={(from) => openSend(found, from)} />
            </li>
          ))}
        </ul>
      )}
      {(reads ?? []).map(({ agent: slug, nextPageToken }) =>
        nextPageToken === "" ? null : (
          <div key={slug} class="row">
            <button type="button" onClick={() => void more(slug, nextPageToken)}>
              More of {slug}
            </button>
          </div>
        ),
      )}
      <FindTask agents={known ?? []} agent={agent} />
      {again !== undefined && <SendAgainDialog to={again} close={() => setAgain(undefined)} done={() => void read(true)} />}
    </section>
  );
}

/** The result for one agent. The refusal of an agent without webhooks is not a problem. */
async function readAgent(agent: string, options: Parameters<typeof troubled>[1]): Promise<Read> {
  try {
    return { agent, ...(await troubled(agent, options)) };
  } catch (error) {
    const none = { agent, webhooks: [], nextPageToken: "" };
    if (!(error instanceof Problem) || error.reason === "PUSH_NOTIFICATION_NOT_SUPPORTED") return none;
    return { ...none, problem: error };
  }
}

function sinceOf({ failingSince, deadLetters }: TroubledWebhook): number {
  return failingSince ?? deadLetters[0]?.at ?? 0;
}

function AllWell({ isFiltered }: { isFiltered: boolean }) {
  return (
    <div class="empty">
      <Icon name="check" />
      <h2>{isFiltered ? "Nothing like that is wrong" : "All is well"}</h2>
      <p>{isFiltered ? "No webhook matches these filters." : "No webhook is failing or suspended, and no event was given up."}</p>
    </div>
  );
}

function TroubledCard({ found, send }: { found: Found; send: (from?: number) => void }) {
  const { agent, webhook } = found;
  const { health, failingSince, nextAttemptAt, lastError, deadLetters } = webhook;
  return (
    <article class="card stack">
      <div class="hook-head">
        <h2>
          <bdi>{hostOf(webhook.url)}</bdi>
        </h2>
        <HealthBadge health={health} />
        <span class="quiet hook-ids">
          Webhook <bdi>{webhook.id}</bdi> of <a href={href(["webhooks", agent, webhook.taskId])}>task {shortened(webhook.taskId)}</a> of {agent}
          {webhook.owner !== undefined && (
            <>
              , owner <bdi>{webhook.owner}</bdi>
            </>
          )}
        </span>
      </div>
      <dl class="hook-facts">
        {failingSince !== null && (
          <Fact name="Since">
            <Time at={failingSince} />
          </Fact>
        )}
        {health !== "active" && (
          <Fact name="Next try">
            <NextTry health={health} at={nextAttemptAt} />
          </Fact>
        )}
        <Fact name="Last error" isWide>
          <bdi>{sentence(lastError ?? "None")}</bdi>
        </Fact>
      </dl>
      {deadLetters.length > 0 && <DeadLetters of={deadLetters} webhook={`${webhook.id} of ${agent}, task ${webhook.taskId}`} sendFrom={send} />}
      <div class="actions">
        <a class="button" data-row href={href(["webhooks", agent, webhook.taskId])}>
          Attempts
        </a>
        <button type="button" onClick={() => send()}>
          Send again…
        </button>
      </div>
    </article>
  );
}
