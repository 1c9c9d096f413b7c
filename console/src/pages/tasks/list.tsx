// The list of tasks and its filters.
import { useEffect } from "preact/hooks";
import { agentOf, runnableAgents } from "../../api/agents.ts";
import type { Message } from "../../api/types.ts";
import { Choice } from "../../parts/choice.tsx";
import { Failures } from "../../parts/failures.tsx";
import { Icon } from "../../parts/icon.tsx";
import { Loading, NoCatalogue } from "../../parts/loading.tsx";
import { FailedSteps, failedStepsOf, STATES, StateBadge, stateWord } from "../../parts/state.tsx";
import { TextFilter } from "../../parts/text-filter.tsx";
import { Time } from "../../parts/time.tsx";
import { shortened } from "../../parts/words.ts";
import { go, href, place, useKept } from "../../route.ts";
import { isOperator } from "../../session/operator.ts";
import { Listing, type Filters, type ListedTask } from "./listing.ts";
import { RunAgain } from "./run-again.tsx";

/** The choices of the filter by time. */
const SINCE: Record<string, { word: string; ms: number }> = {
  hour: { word: "Last hour", ms: 3_600_000 },
  day: { word: "Last day", ms: 86_400_000 },
  week: { word: "Last week", ms: 7 * 86_400_000 },
};

export function TaskList() {
  const agents = runnableAgents();
  if (agents === undefined) {
    return (
      <section class="page">
        <h1>Tasks</h1>
        <NoCatalogue />
      </section>
    );
  }
  return <Listed agents={agents.map(({ slug }) => slug)} />;
}

function Listed({ agents }: { agents: string[] }) {
  const { path, query } = place.value;
  const agent = path[1] ?? query.get("agent") ?? "";
  const since = query.get("since") ?? "";
  const steps = query.get("steps") === "failed" ? "failed" : "";
  const given = { agent, state: query.get("state") ?? "", context: query.get("context") ?? "", since, steps, owner: isOperator.value ? (query.get("owner") ?? "") : "" };
  const key = JSON.stringify([given, isOperator.value, agents]);
  const listing = useKept(`tasks ${key}`, () => {
    const length = SINCE[since]?.ms;
    const filters: Filters = { ...given, since: length === undefined ? "" : new Date(Date.now() - length).toISOString() };
    return new Listing(agent === "" ? agents : [agent], filters);
  });
  useEffect(() => listing.renewed(), [listing]);
  const set = (changed: Partial<typeof given>) => go(href(["tasks"], { ...given, ...changed }), { replace: true });
  const isFiltered = [given.state, given.context, given.since, given.steps, given.owner].some((text) => text !== "");
  return (
    <section class="page tasks">
      <header class="page-head">
        <h1>Tasks</h1>
        <button type="button" class="small" disabled={listing.isReading.value} onClick={() => void listing.read()}>
          <Icon name="refresh" /> Refresh
        </button>
      </header>
      <FilterForm agents={agents} given={given} set={set} />
      <Failures what="tasks" failed={listing.failed.value} of={agents.length} retry={() => void listing.read()} />
      {listing.tasks.value.length > 0 ? (
        <Table listing={listing} hasAgents={agent === ""} />
      ) : listing.isReading.value ? (
        <Loading />
      ) : (
        listing.answered.value > 0 && <Nothing agent={agent} isFiltered={isFiltered} hasContext={given.context !== ""} />
      )}
    </section>
  );
}

interface FormProps {
  agents: string[];
  given: Filters;
  set: (changed: Partial<Filters>) => void;
}

function FilterForm({ agents, given, set }: FormProps) {
  return (
    <form class="filters" role="search" aria-label="Filter the tasks" onSubmit={(event) => event.preventDefault()}>
      <Choice name="Agent" value={given.agent} of={[["", "All agents"], ...agents.map((slug) => [slug, slug] as const)]} choose={(agent) => set({ agent })} />
      <Choice name="State" value={given.state} of={[["", "All states"], ...STATES.map((state) => [state, stateWord(state)] as const)]} choose={(state) => set({ state })} />
      <Choice name="Changed" value={given.since} of={[["", "At any time"], ...Object.entries(SINCE).map(([name, { word }]) => [name, word] as const)]} choose={(since) => set({ since })} />
      <Choice name="Steps" value={given.steps} of={[["", "All"], ["failed", "With failed steps"]]} choose={(steps) => set({ steps })} />
      <TextFilter name="Context" value={given.context} placeholder="Any" apply={(context) => set({ context })} />
      {isOperator.value && <TextFilter name="Owner" value={given.owner} placeholder="All" apply={(owner) => set({ owner })} />}
    </form>
  );
}

function Table({ listing, hasAgents }: { listing: Listing; hasAgents: boolean }) {
  const tasks = listing.tasks.value;
  const hasOwners = tasks.some(({ owner }) => owner !== undefined);
  return (
    <>
      <table class="listed" onKeyDown={move}>
        <caption class="quiet">{captionOf(listing)}</caption>
        <thead>
          <tr>
            <th scope="col">Task</th>
            <th scope="col">State</th>
            {hasAgents && <th scope="col">Agent</th>}
            {hasOwners && <th scope="col">Owner</th>}
            <th scope="col">Context</th>
            <th scope="col">Changed</th>
            {!isOperator.value && (
              <th scope="col">
                <span class="sr">Again</span>
              </th>
            )}
          </tr>
        </thead>
        <tbody>
          {tasks.map((listed) => (
            <Line key={`${listed.agent}/${listed.owner ?? ""}/${listed.task.id}`} listed={listed} hasAgents={hasAgents} hasOwners={hasOwners} />
          ))}
        </tbody>
      </table>
      {listing.hasMore.value && (
        <button type="button" class="more" disabled={listing.isReading.value} onClick={() => void listing.more()}>
          {listing.isReading.value ? "Loading…" : "Show more"}
        </button>
      )}
    </>
  );
}

/** How many tasks are shown, and of how many. */
function captionOf({ tasks, total, looked }: Listing): string {
  if (total.value === undefined) return "";
  if (looked.value === undefined) return `${tasks.value.length} of ${total.value} tasks, newest first`;
  return `${tasks.value.length} with failed steps among the newest ${looked.value} of ${total.value} tasks`;
}

function Line({ listed: { agent, task, owner }, hasAgents, hasOwners }: { listed: ListedTask; hasAgents: boolean; hasOwners: boolean }) {
  const said = textOf(task.status.message) || textOf(task.history?.at(-1));
  return (
    <tr>
      <td class="first">
        <a href={href(["tasks", agent, task.id], { owner })}>
          <code>{shortened(task.id)}</code>
        </a>
        {said !== "" && <span class="said quiet" dir="auto">{said}</span>}
      </td>
      <td data-name="State"><StateBadge state={task.status.state} /> <FailedSteps count={failedStepsOf(task)} /></td>
      {hasAgents && <td data-name="Agent">{agent}</td>}
      {hasOwners && <td data-name="Owner"><code>{owner}</code></td>}
      <td data-name="Context">
        {task.contextId !== undefined && (
          <a href={href(["tasks"], { agent, context: task.contextId, owner })} title={`Tasks of the context ${task.contextId}`}>
            <code>{shortened(task.contextId, 8)}</code>
          </a>
        )}
      </td>
      <td data-name="Changed"><Time at={task.status.timestamp} /></td>
      {!isOperator.value && (
        <td>
          <RunAgain task={{ agent, id: task.id }} />
        </td>
      )}
    </tr>
  );
}

/** The beginning of a message's text, on one line. */
function textOf(message: Message | undefined): string {
  const text = message?.parts.map((part) => part.text ?? "").join(" ") ?? "";
  return text.length > 160 ? `${text.slice(0, 160)}…` : text;
}

/** The arrow keys move the focus from task to task. */
function move(event: KeyboardEvent & { currentTarget: HTMLTableElement }): void {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (step === undefined) return;
  const links = [...event.currentTarget.querySelectorAll<HTMLAnchorElement>("td.first a")];
  const next = links[links.indexOf(document.activeElement as HTMLAnchorElement) + step];
  if (next === undefined || !links.includes(document.activeElement as HTMLAnchorElement)) return;
  event.preventDefault();
  next.focus();
}

function Nothing({ agent, isFiltered, hasContext }: { agent: string; isFiltered: boolean; hasContext: boolean }) {
  const isOpen = agentOf(agent)?.isOpen === true;
  return (
    <div class="empty">
      <p>{isFiltered ? "No task matches the filters." : "There are no tasks yet."}</p>
      {isOpen && !hasContext && !isOperator.value && <p class="quiet">Callers who are not known see the tasks of a context that they name, unless the agent's file opens its list.</p>}
      <p>
        <a href={href(agent === "" ? ["start"] : ["chat", agent])}>{agent === "" ? "Say hello to an agent" : "Talk to the agent"}</a>
      </p>
    </div>
  );
}
