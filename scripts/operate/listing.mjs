// The tasks of several agents as one list, newest first. A page of each agent is in memory at a time.
import { EXIT, Failure } from "./failure.mjs";
import { eachOf } from "./server.mjs";
import { instant } from "./words.mjs";
import { list, number, record, text } from "./values.mjs";

const PAGE = 100;

/** The member of a task's metadata with the number of its failed steps, and with what its turns have used of models (docs/timeline.md). */
const FAILED_STEPS = "urn:a2a-edge:failed-steps";
const USAGE = "urn:a2a-edge:usage";
const OWNER = "urn:a2a-edge:owner";

export class Listing {
  #server;
  #agents;
  #filters;
  #pageSize;
  #onFailed;
  #isWhole;
  /** The number of matching tasks of the agents that have answered; known once the first task is. */
  total = 0;
  /** The agents some of whose tasks a search has not looked at, each with the number of tasks that it has looked at. */
  bounded = [];

  /**
   * `filters`: `state`, `context`, `since`, `owner`, `text`. `onFailed` gets the error of an agent that does not answer; the tasks of the others are listed.
   * A search by a text ends with what an agent looks at for one page, unless `isWhole`.
   */
  constructor(server, agents, filters, { atMost = PAGE, isWhole = true, onFailed }) {
    this.#server = server;
    this.#agents = agents;
    this.#filters = filters;
    this.#pageSize = Math.min(PAGE, atMost);
    this.#isWhole = isWhole;
    this.#onFailed = onFailed;
  }

  async *[Symbol.asyncIterator]() {
    const sources = (await eachOf(this.#agents, (agent) => this.#first(agent))).filter((source) => source !== undefined);
    this.total = sources.reduce((sum, { total }) => sum + total, 0);
    for (;;) {
      for (const source of sources) await this.#fill(source);
      const newest = sources
        .filter(({ tasks }) => tasks.length > 0)
        .reduce((one, other) => (one === undefined || other.tasks[0].at > one.tasks[0].at ? other : one), undefined);
      if (newest === undefined) return;
      yield newest.tasks.shift();
    }
  }

  async #first(agent) {
    const source = { agent, tasks: [], token: "", total: 0 };
    return (await this.#read(source)) ? source : undefined;
  }

  /** Reads on where all tasks of a page were taken. */
  async #fill(source) {
    while (source.tasks.length === 0 && source.token !== "") if (!(await this.#read(source))) source.token = "";
  }

  async #read(source) {
    const { agent, token } = source;
    try {
      const page = await pageOf(this.#server, agent, { ...this.#filters, token, pageSize: this.#pageSize });
      Object.assign(source, page);
      // A page that is not full ends where the search has ended.
      if (page.isBounded && !this.#isWhole && page.tasks.length < this.#pageSize) {
        source.token = "";
        this.bounded.push({ agent: agent.slug, size: page.searched });
      }
      return true;
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      this.#onFailed(error);
      return false;
    }
  }
}

/**
 * A page of an agent's tasks, newest first: `{ tasks, token, total }`, and of a search `searched` and `isBounded` (docs/calling.md). Without `token` it is the
 * first; that of the last page is empty.
 */
export async function pageOf(server, agent, { state, context, since, owner, text: sought, token, pageSize }) {
  const query = { pageSize, pageToken: token || undefined, status: state, contextId: context, statusTimestampAfter: since, text: sought, historyLength: 1 };
  const page = record(await server.json({ agent, path: `/${agent.slug}/tasks`, query, headers: server.asOperator(agent, owner) }));
  const next = text(page.nextPageToken) ?? "";
  if (!Array.isArray(page.tasks) || (next !== "" && next === token))
    throw new Failure(`${agent.slug} answered with something that is no page of tasks.`, EXIT.unreachable);
  return { tasks: page.tasks.map((task) => listedOf(agent.slug, record(task))), token: next, total: number(page.totalSize) ?? 0, searched: number(page.searchedSize) ?? 0, isBounded: page.isBounded === true };
}

/** What commands show of a task of ListTasks. */
export function listedOf(agent, task) {
  const [status, metadata] = [record(task.status), record(task.metadata)];
  return {
    agent,
    id: text(task.id) ?? "",
    context: text(task.contextId),
    state: text(status.state) ?? "",
    at: instant(status.timestamp) ?? 0,
    owner: text(metadata[OWNER]),
    failedSteps: number(metadata[FAILED_STEPS]) ?? 0,
    usage: metadata[USAGE] === undefined ? undefined : record(metadata[USAGE]),
    said: textOf(status.message) || textOf(list(task.history).at(-1)),
  };
}

/** The beginning of a message's text. */
function textOf(message) {
  const said = list(record(message).parts)
    .map((part) => text(record(part).text) ?? "")
    .join(" ");
  if (said.length <= 160) return said;
  // A copy: V8 keeps the whole text for as long as a slice of it is kept.
  return `${Buffer.from(said.slice(0, 160), "utf16le").toString("utf16le")}…`;
}
