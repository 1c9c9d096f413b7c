// What waits for the person: the questions and the requests for credentials of all agents, answered in their places.
import { signal, type Signal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { runnableAgents } from "../../api/agents.ts";
import { nameOf } from "../../api/tasks.ts";
import type { TaskState } from "../../api/types.ts";
import { Answer } from "../../parts/form/answer.tsx";
import { Failures } from "../../parts/failures.tsx";
import { Icon } from "../../parts/icon.tsx";
import { Loading, NoCatalogue } from "../../parts/loading.tsx";
import { StateBadge } from "../../parts/state.tsx";
import { Time } from "../../parts/time.tsx";
import { shortened } from "../../parts/words.ts";
import { href, useKept } from "../../route.ts";
import { isOperator } from "../../session/operator.ts";
import { Listing, type ListedTask } from "../tasks/listing.ts";
import { answered, found, SETTLED_MS } from "./count.ts";
import "./waiting.css";

/** What the page keeps: the list, and the questions that are answered, which the list may still show for a moment. */
interface Kept {
  listing: Listing;
  done: Signal<ReadonlySet<string>>;
}

export function WaitingPage() {
  // An agent without operators refuses whoever acts as one.
  const able = runnableAgents()?.filter(({ access }) => !isOperator.value || access?.hasOperators === true);
  const agents = able?.map(({ slug }) => slug);
  return (
    <section class="page waiting">
      {agents === undefined ? (
        <>
          <h1>{title()}</h1>
          <NoCatalogue />
        </>
      ) : (
        <Waiting agents={agents} />
      )}
    </section>
  );
}

const title = () => (isOperator.value ? "Waiting for callers" : "Waiting for you");

function Waiting({ agents }: { agents: string[] }) {
  const { listing, done } = useKept<Kept>(`waiting ${JSON.stringify([isOperator.value, agents])}`, () => ({
    listing: new Listing(agents, { agent: "", state: "", context: "", since: "", steps: "", owner: "", text: "", isWaiting: true }),
    done: signal(new Set()),
  }));
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => listing.renewed(), [listing]);
  const tasks = listing.tasks.value.filter((listed) => !done.value.has(keyOf(listed)));
  const gone = listing.tasks.value.length - tasks.length;
  const total = (listing.total.value ?? 0) - gone;
  useEffect(() => {
    if (!listing.isReading.value && listing.answered.value > 0 && gone === 0) found(listing.totals);
  }, [listing, listing.isReading.value, gone]);
  const end = (listed: ListedTask) => {
    // The focus goes to what comes next, or to the heading.
    heading.current?.focus();
    done.value = new Set([...done.value, keyOf(listed)]);
    answered(listed.agent);
    // The agent may ask on.
    setTimeout(listing.renew, SETTLED_MS);
  };
  return (
    <>
      <header class="page-head">
        <div>
          <h1 ref={heading} tabIndex={-1}>
            {title()}
          </h1>
          {isOperator.value && <p class="quiet">Operators see the questions of all callers. Callers answer them.</p>}
        </div>
        <button type="button" class="small" disabled={listing.isReading.value} onClick={() => void listing.read()}>
          <Icon name="refresh" /> Refresh
        </button>
      </header>
      <Failures what="tasks" failed={listing.failed.value} of={agents.length} retry={() => void listing.read()} />
      {tasks.length > 0 && <p class="quiet">{`${tasks.length} of ${Math.max(total, tasks.length)}, the newest first`}</p>}
      {(["TASK_STATE_INPUT_REQUIRED", "TASK_STATE_AUTH_REQUIRED"] as const).map((state) => (
        <Those key={state} state={state} tasks={tasks.filter(({ task }) => task.status.state === state)} end={end} />
      ))}
      {agents.length === 0 && <p class="empty">No agent of this server has operators.</p>}
      {tasks.length === 0 && (listing.isReading.value ? <Loading /> : listing.answered.value > 0 && <Nothing />)}
      {listing.hasMore.value && (
        <button type="button" class="more" disabled={listing.isReading.value} onClick={() => void listing.more()}>
          {listing.isReading.value ? "Loading…" : "Show more"}
        </button>
      )}
    </>
  );
}

const WORDS = { TASK_STATE_INPUT_REQUIRED: "Questions", TASK_STATE_AUTH_REQUIRED: "Requests for credentials" } as const;

function Those({ state, tasks, end }: { state: TaskState & keyof typeof WORDS; tasks: readonly ListedTask[]; end: (listed: ListedTask) => void }) {
  if (tasks.length === 0) return null;
  return (
    <section class="stack" aria-label={WORDS[state]}>
      <h2>
        {WORDS[state]} <span class="quiet">{tasks.length}</span>
      </h2>
      <ul class="waiting-list">
        {tasks.map((listed) => (
          <li key={keyOf(listed)} class="card stack">
            <WaitingTask listed={listed} end={() => end(listed)} />
          </li>
        ))}
      </ul>
    </section>
  );
}

function WaitingTask({ listed: { agent, task, owner }, end }: { listed: ListedTask; end: () => void }) {
  const name = nameOf(task);
  return (
    <>
      <div class="waiting-head">
        <h3>
          <a data-row href={href(["tasks", agent, task.id], { owner })} title={task.id}>
            {name}
          </a>
        </h3>
        <StateBadge state={task.status.state} />
        <p class="quiet">
          {agent}
          {owner !== undefined && (
            <>
              , of <bdi>{owner}</bdi>
            </>
          )}
          , task <code>{shortened(task.id)}</code>, asked <Time at={task.status.timestamp} />
          {!isOperator.value && (
            <>
              , <a href={href(["chat", agent, task.id])}>the conversation</a>
            </>
          )}
        </p>
      </div>
      <Answer agent={agent} task={task} name={name} isReadOnly={isOperator.value} done={end} />
    </>
  );
}

/** Identifies a question: a task may ask more than once. */
function keyOf({ agent, owner, task }: ListedTask): string {
  return `${agent}/${owner ?? ""}/${task.id}/${task.status.timestamp ?? ""}`;
}

function Nothing() {
  return (
    <div class="empty">
      <Icon name="check" />
      <h2>{isOperator.value ? "No task waits for its caller" : "Nothing waits for you"}</h2>
      <p>Questions of agents, and their requests for credentials, appear here.</p>
    </div>
  );
}
