// The list of tasks and its filters.
import { useEffect } from "preact/hooks";
import { agentOf, runnableAgents } from "../../api/agents.ts";
import { costOf, durationOf, MAX_TEXT, nameOf, textOf } from "../../api/tasks.ts";
import { stepRow } from "../../find/rows.ts";
import { SavedViews } from "../../find/saved-views.tsx";
import { Choice } from "../../parts/choice.tsx";
import { Failures } from "../../parts/failures.tsx";
import { Icon } from "../../parts/icon.tsx";
import { Loading, NoCatalogue } from "../../parts/loading.tsx";
import { costWord } from "../../parts/numbers.ts";
import { FailedSteps, failedStepsOf, STATES, StateBadge, stateWord } from "../../parts/state.tsx";
import { TextFilter } from "../../parts/text-filter.tsx";
import { duration, Time } from "../../parts/time.tsx";
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
  const given = {
    agent,
    state: query.get("state") ?? "",
    context: query.get("context") ?? "",
    since,
    steps,
    owner: isOperator.value ? (query.get("owner") ?? "") : "",
    text: (query.get("text") ?? "").slice(0, MAX_TEXT),
  };
  const key = JSON.stringify([given, isOperator.value, agents]);
  const listing = useKept(`tasks ${key}`, () => {
    const length = SINCE[since]?.ms;
    const filters: Filters = { ...given, isWaiting: false, since: length === undefined ? "" : new Date(Date.now() - length).toISOString() };
    return new Listing(agent === "" ? agents : [agent], filters);
  });
  useEffect(() => listing.renewed(), [listing]);
  const set = (changed: Partial<typeof given>) => go(href(["tasks"], { ...given, ...changed }), { replace: true });
  const { agent: _, ...filters } = given;
  const isFiltered = Object.values(filters).some((text) => text !== "");
  return (
    <section class="page tasks">
      <header class="page-head">
        <h1>Tasks</h1>
        <button type="button" class="small" disabled={listing.isReading.value} onClick={() => void listing.read()}>
          <Icon name="refresh" /> Refresh
        </button>
      </header>
      <SavedViews filters={given} />
      <FilterForm agents={agents} given={given} set={set} />
      <Failures what="tasks" failed={listing.failed.value} of={agents.length} retry={() => void listing.read()} />
      {listing.tasks.value.length > 0 ? (
        <Table listing={listing} given={given} hasAgents={agent === ""} />
      ) : listing.isReading.value ? (
        <Loading />
      ) : (
        listing.answered.value > 0 && <Nothing agent={agent} listing={listing} isFiltered={isFiltered} hasContext={given.context !== ""} />
      )}
    </section>
  );
}

/** The filters in the address. */
type Given = Omit<Filters, "isWaiting">;

interface FormProps {
  agents: string[];
  given: Given;
  set: (changed: Partial<Given>) => void;
}

function FilterForm({ agents, given, set }: FormProps) {
  return (
    <form class="filters" role="search" aria-label="Filter the tasks" onSubmit={(event) => event.preventDefault()}>
      <Choice name="Agent" value={given.agent} of={[["", "All agents"], ...agents.map((slug) => [slug, slug] as const)]} choose={(agent) => set({ agent })} />
      <Choice name="State" value={given.state} of={[["", "All states"], ...STATES.map((state) => [state, stateWord(state)] as const)]} choose={(state) => set({ state })} />
      <Choice name="Changed" value={given.since} of={[["", "At any time"], ...Object.entries(SINCE).map(([name, { word }]) => [name, word] as const)]} choose={(since) => set({ since })} />
      <Choice name="Steps" value={given.steps} of={[["", "All"], ["failed", "With failed steps"]]} choose={(steps) => set({ steps })} />
      <TextFilter name="Text" value={given.text} placeholder="What was asked, or said" maxLength={MAX_TEXT} apply={(text) => set({ text })} />
      <TextFilter name="Context" value={given.context} placeholder="Any" apply={(context) => set({ context })} />
      {isOperator.value && <TextFilter name="Owner" value={given.owner} placeholder="All" apply={(owner) => set({ owner })} />}
    </form>
  );
}

function Table({ listing, given, hasAgents }: { listing: Listing; given: Given; hasAgents: boolean }) {
  const tasks = listing.tasks.value;
  const hasCosts = tasks.some(({ task }) => costOf(task) !== undefined);
  const hasOwners = tasks.some(({ owner }) => owner !== undefined);
  return (
    <>
      <table class="listed" onKeyDown={move}>
        <caption class="quiet">{captionOf(listing, given)}</caption>
        <thead>
          <tr>
            <th scope="col">Task</th>
            <th scope="col">State</th>
            {hasAgents && <th scope="col">Agent</th>}
            {hasOwners && <th scope="col">Owner</th>}
            <th scope="col" class="number">Took</th>
            {hasCosts && <th scope="col" class="number">Cost</th>}
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
            <Line key={`${listed.agent}/${listed.owner ?? ""}/${listed.task.id}`} listed={listed} hasAgents={hasAgents} hasOwners={hasOwners} hasCosts={hasCosts} />
          ))}
        </tbody>
      </table>
      <More listing={listing} />
    </>
  );
}

/** Shows older tasks, which a search has to look for. */
function More({ listing }: { listing: Listing }) {
  if (!listing.hasMore.value) return null;
  const isBehindBound = listing.isBounded.value && listing.tasks.value.length >= (listing.total.value ?? 0);
  return (
    <button type="button" class="more" disabled={listing.isReading.value} onClick={() => void listing.more()}>
      {listing.isReading.value ? "Loading…" : isBehindBound ? "Search older tasks" : "Show more"}
    </button>
  );
}

/** How many tasks are shown, of how many, and which were looked at. */
function captionOf({ tasks, total, looked, isBounded }: Listing, { text, steps }: Pick<Filters, "text" | "steps">): string {
  if (total.value === undefined) return "";
  const [count, of] = [tasks.value.length, total.value];
  if (text === "" && looked.value !== undefined) return `${count} with failed steps among the newest ${looked.value} of ${of} tasks`;
  if (text === "") return `${count} of ${of} tasks, newest first`;
  const number = steps === "" && count < of ? `${count} of ${of}` : String(count);
  const what = `${number} ${number === "1" ? "task" : "tasks"} with this text${steps === "" ? "" : " and failed steps"}`;
  if (!isBounded.value) return `${what}, newest first`;
  return `${what}${looked.value === undefined ? "" : ` among the newest ${looked.value} tasks`}; older tasks were not searched`;
}

function Line({ listed: { agent, task, owner }, hasAgents, hasOwners, hasCosts }: { listed: ListedTask; hasAgents: boolean; hasOwners: boolean; hasCosts: boolean }) {
  const name = nameOf(task);
  const said = textOf(task.status.message) || textOf(task.history?.at(-1));
  const [took, cost] = [durationOf(task), costOf(task)];
  return (
    <tr>
      <td class="first">
        <a data-row href={href(["tasks", agent, task.id], { owner })} title={task.id}>
          {name}
        </a>
        <span class="said quiet">
          {name !== shortened(task.id) && <code>{shortened(task.id)}</code>} {said !== name && <bdi>{said}</bdi>}
        </span>
      </td>
      <td data-name="State"><StateBadge state={task.status.state} /> <FailedSteps count={failedStepsOf(task)} /></td>
      {hasAgents && <td data-name="Agent">{agent}</td>}
      {hasOwners && <td data-name="Owner"><code>{owner}</code></td>}
      <td data-name="Took" class="number">{took !== undefined && duration(took)}</td>
      {hasCosts && <td data-name="Cost" class="number">{cost !== undefined && costWord(cost)}</td>}
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

/** The arrow keys move the focus from task to task. */
function move(event: KeyboardEvent): void {
  const step = ({ ArrowDown: 1, ArrowUp: -1 } as const)[event.key];
  if (step === undefined || document.activeElement?.matches("[data-row]") !== true) return;
  event.preventDefault();
  stepRow(step);
}

function Nothing({ agent, listing, isFiltered, hasContext }: { agent: string; listing: Listing; isFiltered: boolean; hasContext: boolean }) {
  const isOpen = agentOf(agent)?.isOpen === true;
  return (
    <div class="empty">
      <p>{isFiltered ? "No task matches the filters." : "There are no tasks yet."}</p>
      {listing.isBounded.value && <p>{listing.looked.value === undefined ? "Older tasks" : `The newest ${listing.looked.value} tasks were searched. Older ones`} were not searched yet.</p>}
      <More listing={listing} />
      {isOpen && !hasContext && !isOperator.value && <p class="quiet">Callers who are not known see the tasks of a context that they name, unless the agent's file opens its list.</p>}
      <p>
        <a href={href(agent === "" ? ["start"] : ["chat", agent])}>{agent === "" ? "Say hello to an agent" : "Talk to the agent"}</a>
      </p>
    </div>
  );
}
