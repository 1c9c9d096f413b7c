// The tasks of one agent or of all, newest first, a page at a time.
import { signal } from "@preact/signals";
import { json } from "../../api/http.ts";
import { Problem } from "../../api/problem.ts";
import type { ListTasksResponse, Task } from "../../api/types.ts";
import { actAs } from "../../session/operator.ts";

export interface Filters {
  /** Empty for all agents. */
  agent: string;
  state: string;
  context: string;
  /** An instant of RFC 3339; empty for all. */
  since: string;
  /** For operators: whose tasks; empty for those of all. */
  owner: string;
}

export interface ListedTask {
  agent: string;
  task: Task;
  owner: string | undefined;
}

/** An agent whose tasks cannot be listed, and why. */
export interface Failed {
  agent: string;
  problem: unknown;
}

/** How many tasks are shown at first, and more each time. */
const STEP = 25;
/** How often the first page is read again while it is seen: one agent, and all of them. */
const RENEW_MS = 10_000;
const RENEW_ALL_MS = 30_000;

/** What is known of the tasks of one agent. */
interface Source {
  agent: string;
  found: ListedTask[];
  token: string;
  total: number;
}

export class Listing {
  readonly tasks = signal<readonly ListedTask[]>([]);
  readonly failed = signal<readonly Failed[]>([]);
  /** How many match; undefined until all agents have answered. */
  readonly total = signal<number | undefined>(undefined);
  readonly isReading = signal(true);
  readonly hasMore = signal(false);

  readonly #agents: readonly string[];
  readonly #filters: Filters;
  readonly #over = new AbortController();
  readonly #timer: ReturnType<typeof setInterval>;
  #sources: Source[] = [];
  #shown = STEP;

  constructor(agents: readonly string[], filters: Filters) {
    this.#agents = agents;
    this.#filters = filters;
    void this.read();
    this.#timer = setInterval(this.#renew, agents.length > 1 ? RENEW_ALL_MS : RENEW_MS);
    document.addEventListener("visibilitychange", this.#renew);
  }

  close(): void {
    clearInterval(this.#timer);
    document.removeEventListener("visibilitychange", this.#renew);
    this.#over.abort();
  }

  /** Reads the first page anew. */
  async read(): Promise<void> {
    this.isReading.value = true;
    const isFirst = this.total.value === undefined;
    const failed: Failed[] = [];
    const reading = this.#agents.map(async (agent): Promise<Source | undefined> => {
      try {
        // Of several agents those that want to know who asks are left to the person.
        return await this.#page(agent, "", !isFirst || this.#agents.length > 1);
      } catch (problem) {
        if (!this.#over.signal.aborted) failed.push({ agent, problem });
        return undefined;
      }
    });
    const sources = await Promise.all(reading);
    if (this.#over.signal.aborted) return;
    this.#sources = sources.filter((source) => source !== undefined);
    this.#shown = STEP;
    this.failed.value = failed;
    this.#show();
    this.isReading.value = false;
  }

  /** Shows more tasks, which are older. */
  async more(): Promise<void> {
    this.isReading.value = true;
    this.#shown += STEP;
    try {
      // A task may be shown if no agent can have a newer one that was not read.
      for (const source of this.#sources) {
        while (source.token !== "" && this.#needs(source)) {
          const next = await this.#page(source.agent, source.token, true);
          source.found.push(...next.found);
          source.token = next.token;
        }
      }
    } catch (problem) {
      if (!this.#over.signal.aborted) this.failed.value = [...this.failed.value, { agent: "", problem }];
    }
    if (this.#over.signal.aborted) return;
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
    const page = await json<ListTasksResponse>({ agent, path: `/${agent}/tasks`, query, headers: { "act-as": actAs(owner) }, isQuiet, signal: this.#over.signal });
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

  /** Reads the first page again, unless the person has gone further. */
  #renew = (): void => {
    if (document.visibilityState === "visible" && this.#shown === STEP && !this.isReading.value) void this.read();
  };
}

/** Whether an agent wants to know who asks. */
export function asksToSignIn({ problem }: Failed): boolean {
  return problem instanceof Problem && problem.status === 401;
}
