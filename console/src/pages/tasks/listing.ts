// The tasks of one agent or of all, newest first, a page at a time.
import { signal } from "@preact/signals";
import { json } from "../../api/http.ts";
import { Problem } from "../../api/problem.ts";
import type { ListTasksResponse, Task } from "../../api/types.ts";
import type { Failed } from "../../parts/failures.tsx";
import { actAs } from "../../session/operator.ts";

export interface Filters {
  /** Empty for all agents. */
  agent: string;
  state: string;
  context: string;
  /** The earliest time of the status, in the format of RFC 3339; empty for all. */
  since: string;
  /** For operators: the owner of the tasks; empty for all owners. */
  owner: string;
}

export interface ListedTask {
  agent: string;
  task: Task;
  owner: string | undefined;
}

/** The number of tasks shown at first, and added each time. */
const STEP = 25;
/** The intervals at which the first page is loaded again while visible: for one agent, and for all agents. */
const RENEW_MS = 10_000;
const RENEW_ALL_MS = 30_000;

/** The loaded tasks of one agent. */
interface Source {
  agent: string;
  found: ListedTask[];
  token: string;
  total: number;
}

export class Listing {
  readonly tasks = signal<readonly ListedTask[]>([]);
  readonly failed = signal<readonly Failed[]>([]);
  /** The number of matching tasks; undefined until all agents have answered. */
  readonly total = signal<number | undefined>(undefined);
  /** The number of agents that have answered. */
  readonly answered = signal(0);
  readonly isReading = signal(true);
  readonly hasMore = signal(false);

  readonly #agents: readonly string[];
  readonly #filters: Filters;
  #sources: Source[] = [];
  #shown = STEP;

  constructor(agents: readonly string[], filters: Filters) {
    this.#agents = agents;
    this.#filters = filters;
    void this.read();
  }

  /** Loads the list again regularly while it is visible; returns a function that stops this. */
  renewed(): () => void {
    this.#renew();
    const timer = setInterval(this.#renew, this.#agents.length > 1 ? RENEW_ALL_MS : RENEW_MS);
    document.addEventListener("visibilitychange", this.#renew);
    return () => {
      clearInterval(timer);
      document.removeEventListener("visibilitychange", this.#renew);
    };
  }

  /** Loads the first page again. */
  async read(): Promise<void> {
    this.isReading.value = true;
    const isFirst = this.total.value === undefined;
    const failed: Failed[] = [];
    const before = new Map(this.#sources.map((source) => [source.agent, source]));
    const reading = this.#agents.map(async (agent): Promise<Source | undefined> => {
      try {
        // With several agents, the sign-in is not opened for those that require it; the person may open it.
        return await this.#page(agent, "", !isFirst || this.#agents.length > 1);
      } catch (problem) {
        failed.push({ agent, problem });
        // While a server cannot answer, its earlier answer is kept.
        return problem instanceof Problem && problem.isPassing ? before.get(agent) : undefined;
      }
    });
    this.#sources = (await Promise.all(reading)).filter((source) => source !== undefined);
    if (failed.length === 0) this.#shown = STEP;
    this.answered.value = this.#sources.length;
    this.failed.value = failed;
    this.#show();
    this.isReading.value = false;
  }

  /** Shows more tasks, which are older. */
  async more(): Promise<void> {
    this.isReading.value = true;
    this.#shown += STEP;
    try {
      // A task may be shown only if no agent has a newer task that is not loaded yet.
      for (const source of this.#sources) {
        while (source.token !== "" && this.#needs(source)) {
          const next = await this.#page(source.agent, source.token, true);
          source.found.push(...next.found);
          source.token = next.token;
        }
      }
    } catch (problem) {
      this.failed.value = [...this.failed.value, { agent: "", problem }];
    }
    this.#show();
    this.isReading.value = false;
  }

  #needs(source: Source): boolean {
    const last = source.found.at(-1);
    if (last === undefined) return true;
    return this.#merged().indexOf(last) < this.#shown;
  }

  async #page(agent: string, pageToken: string, isQuiet: boolean): Promise<Source> {
    const { state, context, since, owner } = this.#filters;
    const query = { pageSize: STEP, pageToken, status: state, contextId: context, statusTimestampAfter: since, historyLength: 1 };
    const page = await json<ListTasksResponse>({ agent, path: `/${agent}/tasks`, query, headers: { "act-as": actAs(owner) }, isQuiet });
    const found = page.tasks.map((task) => {
      const owner = task.metadata?.["urn:a2a-edge:owner"];
      return { agent, task, owner: typeof owner === "string" ? owner : undefined };
    });
    return { agent, found, token: page.nextPageToken, total: page.totalSize };
  }

  #merged(): ListedTask[] {
    const time = ({ task }: ListedTask) => task.status.timestamp ?? "";
    return this.#sources.flatMap(({ found }) => found).sort((one, two) => (time(one) < time(two) ? 1 : time(one) > time(two) ? -1 : 0));
  }

  #show(): void {
    const all = this.#merged();
    this.tasks.value = all.slice(0, this.#shown);
    this.hasMore.value = all.length > this.#shown || this.#sources.some(({ token }) => token !== "");
    this.total.value = this.#sources.reduce((sum, { total }) => sum + total, 0);
  }

  /** Loads the first page again, unless more tasks are shown. */
  #renew = (): void => {
    if (document.visibilityState === "visible" && this.#shown === STEP && !this.isReading.value) void this.read();
  };
}
