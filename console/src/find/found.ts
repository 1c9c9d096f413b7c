// What the palette finds: in the page itself at once, and among the tasks of the agents by a request to each of them.
import { catalogue } from "../api/agents.ts";
import { json } from "../api/http.ts";
import { askSeveral } from "../api/several.ts";
import { MAX_TEXT, nameOf, ownerOf, taskPage } from "../api/tasks.ts";
import type { Task } from "../api/types.ts";
import { fits } from "../parts/search.tsx";
import { stateWord } from "../parts/state.tsx";
import { shortened } from "../parts/words.ts";
import { href } from "../route.ts";
import { likelyAgents } from "../session/likely.ts";
import { actAs } from "../session/operator.ts";
import { views } from "./views.ts";

/** Something with an address. */
export interface Found {
  kind: "Page" | "Agent" | "Skill" | "View" | "Task" | "Context";
  title: string;
  detail: string;
  href: string;
}

/** The tasks that were found. */
export interface FoundTasks {
  tasks: Found[];
  /** The agents that have not looked at all of their tasks, with the number of tasks that they have looked at. */
  bounded: { agent: string; size: number }[];
  /** The agents that have not answered. */
  failed: string[];
}

/** The pages of the console: their titles by their names. */
export type Pages = Readonly<Record<string, string>>;

/** The largest number of results of one kind. */
const MOST = 6;
/** The smallest number of characters for which the agents are asked. */
export const MIN_TEXT = 2;

/** The pages, agents, skills and views with these words; without words the pages and the views. */
export function foundHere(text: string, pages: Pages): Found[] {
  const agents = catalogue.value?.agents ?? [];
  const every = text.trim() === "";
  const some = (found: Found[]) => found.slice(0, MOST);
  const isMeant = ({ title, detail }: Found) => every || fits([title, detail], text.trim());
  const shown = Object.entries(pages).map(([name, title]): Found => ({ kind: "Page", title, detail: "", href: href([name]) }));
  const saved = views.value.map(({ name, query }): Found => ({ kind: "View", title: name, detail: Object.values(query).join(", "), href: href(["tasks"], query) }));
  if (every) return [...shown, ...saved];
  const named = agents.filter(({ name, slug, description }) => fits([name, slug, description], text.trim()));
  const cards = named.map(({ name, slug }): Found => ({ kind: "Agent", title: name === "" ? slug : name, detail: `/${slug}`, href: href(["agents", slug]) }));
  const skills = agents.flatMap(({ name, slug, skills = [] }) => skills.map((skill): Found => ({ kind: "Skill", title: skill.name, detail: `${skill.id}, a skill of ${name}`, href: href(["chat", slug], { skill: skill.id }) })));
  return [...some(shown.filter(isMeant)), ...some(saved.filter(isMeant)), ...some(cards), ...some(skills.filter(isMeant))];
}

/** The tasks one of whose ids or texts contains the text. @throws if `signal` is aborted. */
export async function foundTasks(text: string, signal: AbortSignal): Promise<FoundTasks> {
  const agents = likelyAgents() ?? [];
  const sought = text.trim().slice(0, MAX_TEXT);
  const all = await askSeveral(agents, ({ slug }) => taskPage(slug, { text: sought, pageSize: MOST, signal }), signal);
  const tasks = all.flatMap(({ agent, answer }) => (answer?.tasks ?? []).map((task) => ({ agent: agent.slug, task })));
  tasks.sort((one, two) => ((one.task.status.timestamp ?? "") < (two.task.status.timestamp ?? "") ? 1 : -1));
  // A task whose whole id is known is found also if it is too old for a search.
  if (tasks.length === 0 && /^[0-9a-f]{64}$/.test(sought)) {
    const headers = { "act-as": actAs() };
    const named = await askSeveral(agents, ({ slug }) => json<Task>({ agent: slug, path: `/${slug}/tasks/${sought}`, query: { historyLength: 1 }, headers, signal, isQuiet: true }), signal);
    for (const { agent, answer } of named) if (answer !== undefined) tasks.push({ agent: agent.slug, task: answer });
  }
  return {
    tasks: [...contextsOf(tasks, sought), ...tasks.slice(0, 2 * MOST).map(({ agent, task }) => foundTask(agent, task))],
    bounded: all.flatMap(({ agent, answer }) => (answer?.isBounded === true ? [{ agent: agent.slug, size: answer.searchedSize ?? 0 }] : [])),
    failed: all.filter(({ problem }) => problem !== undefined).map(({ agent }) => agent.slug),
  };
}

function foundTask(agent: string, task: Task): Found {
  return { kind: "Task", title: nameOf(task), detail: `${stateWord(task.status.state)}, ${agent}, ${shortened(task.id)}`, href: href(["tasks", agent, task.id], { owner: ownerOf(task) }) };
}

/** The contexts whose ids begin with the text. */
function contextsOf(tasks: readonly { agent: string; task: Task }[], text: string): Found[] {
  const all = new Map<string, Found>();
  for (const { agent, task: { contextId } } of tasks) {
    if (contextId?.toLowerCase().startsWith(text.toLowerCase()) !== true || text.length < 4) continue;
    all.set(`${agent} ${contextId}`, { kind: "Context", title: contextId, detail: `The tasks of a context, ${agent}`, href: href(["tasks"], { agent, context: contextId }) });
  }
  return [...all.values()].slice(0, MOST);
}
