// The tasks of one agent or of all, newest first, a page at a time.
import { signal } from "@preact/signals";
import { Problem } from "../../api/problem.ts";
import { ownerOf, taskPage } from "../../api/tasks.ts";
import type { Task } from "../../api/types.ts";
import type { Failed } from "../../parts/failures.tsx";
import { failedStepsOf } from "../../parts/state.tsx";

export interface Filters {
  /** Empty for all agents. */
  agent: string;
  state: string;
  context: string;
  /** The earliest time of the status, in the format of RFC 3339; empty for all. */
  since: string;
  /** `failed` for tasks with failed steps alone. The server does not select them, so the newest tasks are read. */
  steps: string;
  /** For operators: the owner of the tasks; empty for all owners. */
  owner: string;
  /** A text that one of the task's texts contains; empty for all tasks. */
  text: string;
  /** True for tasks that wait for their client. */
  isWaiting: boolean;
}

export interface ListedTask {
  agent: string;
  task: Task;
  owner: string | undefined;
}

/** The number of tasks shown at first, and added each time. */
const STEP = 25;
/** The largest number of pages of an agent that are read at once for tasks that the server does not select, and the size of such a page. */
const MOST_READ = 20;
const LARGE_PAGE = 100;
/** The intervals at which the first page is loaded again while visible: for one agent, and for all agents. */
const RENEW_MS = 10_000;
const RENEW_ALL_MS = 30_000;

/** The loaded tasks of one agent. */
interface Source {
  agent: string;
  found: ListedTask[];
  token: string;
  total: number;
  /** The number of tasks that were read. */
  read: number;
  /** True if a search has not looked at all tasks. */
  isBounded: boolean;
}

export class Listing {
  readonly tasks = signal<readonly ListedTask[]>([]);
  readonly failed = signal<readonly Failed[]>([]);
  /** The number of matching tasks; undefined until all agents have answered. */
  readonly total = signal<number | undefined>(undefined);
  /** The number of tasks that were looked at, if those that are shown were selected among the newest ones. */
  readonly looked = signal<number | undefined>(undefined);
  /** True if there are tasks that a search has not looked at. */
  readonly isBounded = signal(false);
  /** The number of agents that have answered. */
  readonly answered = signal(0);
  readonly isReading = signal(true);
  readonly hasMore = signal(false);

  readonly #agents: readonly string[];
  readonly #filters: Filters;
  #sources: Source[] = [];
  #shown = STEP;
  /** True if a search has gone on behind its first page: its numbers count from the beginning of each page on. */
  #isSearchedOn = false;

  constructor(agents: readonly string[], filters: Filters) {
    this.#agents = agents;
    this.#filters = filters;
    void this.read();
  }

  /** The numbers of matching tasks by agent. */
  get totals(): ReadonlyMap<string, number> {
    return new Map(this.#sources.map(({ agent, total }) => [agent, total]));
  }

  /** Loads the list again regularly while it is visible, unless it is a search, which costs more; returns a function that stops this. */
  renewed(): () => void {
    if (this.#isSearch) return () => undefined;
    this.renew();
    const timer = setInterval(this.renew, this.#agents.length > 1 ? RENEW_ALL_MS : RENEW_MS);
    document.addEventListener("visibilitychange", this.renew);
    return () => {
      clearInterval(timer);
      document.removeEventListener("visibilitychange", this.renew);
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
        const source = await this.#page(agent, "", !isFirst || this.#agents.length > 1);
        if (this.#filters.steps !== "") await this.#fill(source, ({ found }) => found.length < STEP);
        return source;
      } catch (problem) {
        failed.push({ agent, problem });
        // While a server cannot answer, its earlier answer is kept.
        return problem instanceof Problem && problem.isPassing ? before.get(agent) : undefined;
      }
    });
    this.#sources = (await Promise.all(reading)).filter((source) => source !== undefined);
    if (failed.length === 0) [this.#shown, this.#isSearchedOn] = [STEP, false];
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
        await this.#fill(source, (read) => this.#needs(read));
      }
    } catch (problem) {
      this.failed.value = [...this.failed.value, { agent: "", problem }];
    }
    this.#show();
    this.isReading.value = false;
  }

  get #isSearch(): boolean {
    return this.#filters.text !== "";
  }

  /**
   * Reads further pages of an agent while more are needed: one page after the other, and of tasks that the server does not select a bounded number. A search
   * looks at many tasks for each page.
   */
  async #fill(source: Source, needsMore: (source: Source) => boolean): Promise<void> {
    const most = this.#isSearch ? 1 : this.#filters.steps === "" ? Infinity : MOST_READ;
    for (let pages = 0; source.token !== "" && needsMore(source) && pages < most; pages++) {
      const next = await this.#page(source.agent, source.token, true);
      source.found.push(...next.found);
      source.token = next.token;
      source.read += next.read;
      source.isBounded = next.isBounded;
      if (this.#isSearch) this.#isSearchedOn = true;
    }
  }

  #needs(source: Source): boolean {
    const last = source.found.at(-1);
    if (last === undefined) return true;
    return this.#merged().indexOf(last) < this.#shown;
  }

  async #page(agent: string, pageToken: string, isQuiet: boolean): Promise<Source> {
    const { steps, ...filters } = this.#filters;
    const page = await taskPage(agent, { ...filters, pageSize: steps === "" ? STEP : LARGE_PAGE, pageToken, isQuiet });
    const found = page.tasks.map((task) => ({ agent, task, owner: ownerOf(task) }));
    const selected = steps === "" ? found : found.filter(({ task }) => failedStepsOf(task) > 0);
    return { agent, found: selected, token: page.nextPageToken, total: page.totalSize, read: page.searchedSize ?? found.length, isBounded: page.isBounded === true };
  }

  #merged(): ListedTask[] {
    const time = ({ task }: ListedTask) => task.status.timestamp ?? "";
    return this.#sources.flatMap(({ found }) => found).sort((one, two) => (time(one) < time(two) ? 1 : time(one) > time(two) ? -1 : 0));
  }

  #show(): void {
    const all = this.#merged();
    this.tasks.value = all.slice(0, this.#shown);
    this.hasMore.value = all.length > this.#shown || this.#sources.some(({ token }) => token !== "");
    this.total.value = this.#isSearchedOn ? all.length : this.#sources.reduce((sum, { total }) => sum + total, 0);
    this.isBounded.value = this.#sources.some(({ isBounded }) => isBounded);
    const isPartial = this.#filters.steps !== "" || (this.#isSearch && !this.#isSearchedOn);
    this.looked.value = !isPartial ? undefined : this.#sources.reduce((sum, { read }) => sum + read, 0);
  }

  /** Loads the first page again, unless more tasks are shown. */
  renew = (): void => {
    if (document.visibilityState === "visible" && this.#shown === STEP && !this.isReading.value) void this.read();
  };
}
