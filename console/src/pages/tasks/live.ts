// The timeline of one task while it is shown: loaded from its end, and kept up to date.
import { signal } from "@preact/signals";
import { localEndpoint } from "../../api/endpoint.ts";
import { Problem } from "../../api/problem.ts";
import { actOn, timelinePage, type Entry, type Head, type TaskOf } from "../../api/timeline.ts";
import { isFinal } from "../../api/types.ts";

/** The number of entries in a page. */
const PAGE = 100;
/** Events that follow faster than this are loaded together. */
const PAUSE_MS = 250;
/** The interval at which the steps of a run, which are not events, are loaded while the page is visible. */
export const STEPS_MS = 2000;
/** The times after the end of a task at which the timeline is loaded again: notifications may still be sent. */
const AFTERWARDS_MS = [2000, 8000, 30_000];
/** The first pause before a broken stream is opened again; doubled up to a limit. */
const RECONNECT_MS = 500;
const MAX_RECONNECT_MS = 15_000;

export type Following = "live" | "polling" | "broken" | "over";

export class LiveTimeline {
  /** The newest head; undefined until the first answer. */
  readonly head = signal<Head | undefined>(undefined);
  /** Oldest first. */
  readonly entries = signal<readonly Entry[]>([]);
  readonly problem = signal<unknown>(undefined);
  readonly following = signal<Following>("polling");
  /** The state of the earlier entries: there are none, there are some, or they are being loaded. */
  readonly earlier = signal<"none" | "some" | "reading">("none");

  readonly #task: TaskOf;
  readonly #over = new AbortController();
  #earlierToken = "";
  #resumeToken = "";
  #isAsking = false;
  #isWanted = false;
  #timers = new Set<ReturnType<typeof setTimeout>>();
  #afterwards = [...AFTERWARDS_MS];

  /** Continues with the entries of `before`, a closed timeline of the same task. */
  constructor(task: TaskOf, before?: LiveTimeline) {
    this.#task = task;
    document.addEventListener("visibilitychange", this.#onVisible);
    if (before?.head.value === undefined) void this.#begin();
    else this.#goOn(before);
  }

  /** Stops all updates. */
  close(): void {
    document.removeEventListener("visibilitychange", this.#onVisible);
    this.#over.abort();
    for (const timer of this.#timers) clearTimeout(timer);
  }

  /** Loads at most `pages` pages of entries before the loaded ones. */
  async readEarlier({ pages }: { pages: number }): Promise<void> {
    if (this.earlier.value !== "some") return;
    this.earlier.value = "reading";
    const read: Entry[] = [];
    try {
      for (let count = 0; count < pages && this.#earlierToken !== ""; count++) {
        const page = await timelinePage(this.#task, { pageSize: PAGE, pageToken: this.#earlierToken }, { signal: this.#over.signal });
        read.push(...page.entries);
        this.#earlierToken = page.nextPageToken;
      }
    } catch (error) {
      this.#fail(error);
    }
    this.entries.value = [...read.reverse(), ...this.entries.value];
    this.earlier.value = this.#earlierToken === "" ? "none" : "some";
  }

  /** Loads the entries after the loaded ones; at most one request at a time. */
  refresh(): void {
    if (this.#resumeToken === "") {
      if (this.problem.value !== undefined) void this.#begin();
      return;
    }
    this.#isWanted = true;
    if (!this.#isAsking) void this.#ask();
  }

  async #begin(): Promise<void> {
    this.problem.value = undefined;
    try {
      const page = await timelinePage(this.#task, { pageSize: PAGE, order: "desc" }, { signal: this.#over.signal });
      this.#take(page);
      this.entries.value = page.entries.reverse();
      this.#earlierToken = page.nextPageToken;
      this.earlier.value = page.nextPageToken === "" ? "none" : "some";
      this.#resumeToken = page.resumeToken ?? "";
    } catch (error) {
      this.#fail(error);
      return;
    }
    this.#keep();
  }

  #goOn(before: LiveTimeline): void {
    this.head.value = before.head.value;
    this.entries.value = before.entries.value;
    this.#earlierToken = before.#earlierToken;
    this.#resumeToken = before.#resumeToken;
    this.earlier.value = this.#earlierToken === "" ? "none" : "some";
    this.refresh();
    this.#keep();
  }

  /** Keeps the timeline up to date. */
  #keep(): void {
    if (isFinal(this.head.value!.state)) this.#lookAfterwards();
    else {
      void this.#follow();
      this.#later(STEPS_MS, this.#lookAtSteps);
    }
  }

  async #ask(): Promise<void> {
    this.#isAsking = true;
    try {
      while (this.#isWanted && !this.#over.signal.aborted) {
        this.#isWanted = false;
        for (;;) {
          const page = await timelinePage(this.#task, { pageSize: PAGE, pageToken: this.#resumeToken }, { signal: this.#over.signal, isQuiet: true });
          this.#resumeToken = page.resumeToken ?? this.#resumeToken;
          if (page.entries.length > 0) this.entries.value = [...this.entries.value, ...page.entries];
          this.#take(page);
          this.problem.value = undefined;
          if (page.nextPageToken === "") break;
        }
        if (this.#isWanted) await new Promise((resolve) => this.#later(PAUSE_MS, () => resolve(undefined)));
      }
    } catch (error) {
      this.#fail(error);
    } finally {
      this.#isAsking = false;
    }
  }

  #take({ entries: _, nextPageToken: __, resumeToken: ___, ...head }: Head & { entries: unknown; nextPageToken: unknown; resumeToken?: unknown }): void {
    const wasFinal = this.head.value !== undefined && isFinal(this.head.value.state);
    this.head.value = head;
    if (isFinal(head.state)) {
      this.following.value = "over";
      if (!wasFinal && this.#resumeToken !== "") this.#lookAfterwards();
    }
  }

  /** Follows the events of the task, and loads the timeline after each event. */
  async #follow(): Promise<void> {
    let pause = RECONNECT_MS;
    while (!this.#over.signal.aborted && this.head.value !== undefined && !isFinal(this.head.value.state)) {
      try {
        const options = { signal: this.#over.signal, lastEventId: String(this.head.value.generation), headers: actOn(this.#task), isQuiet: true };
        const opened = setTimeout(() => (this.following.value = "live"), PAUSE_MS);
        this.#timers.add(opened);
        try {
          for await (const _ of localEndpoint(this.#task.agent).stream("SubscribeToTask", { id: this.#task.id }, options)) {
            this.following.value = "live";
            pause = RECONNECT_MS;
            this.refresh();
          }
        } finally {
          clearTimeout(opened);
        }
        // The stream ends together with the task.
        this.refresh();
      } catch (error) {
        if (this.#over.signal.aborted) return;
        // The agent has no streams, or the task has ended.
        const isRefused = error instanceof Problem && !error.isPassing;
        this.following.value = isRefused ? "polling" : "broken";
        this.refresh();
        if (isRefused) return;
      }
      await new Promise((resolve) => this.#later(pause, () => resolve(undefined)));
      pause = Math.min(pause * 2, MAX_RECONNECT_MS);
    }
  }

  #lookAtSteps = (): void => {
    const head = this.head.value;
    if (head === undefined || isFinal(head.state)) return;
    if (document.visibilityState === "visible") this.refresh();
    this.#later(STEPS_MS, this.#lookAtSteps);
  };

  #lookAfterwards(): void {
    const next = this.#afterwards.shift();
    this.following.value = "over";
    if (next === undefined) return;
    this.#later(next, () => {
      if (document.visibilityState === "visible") this.refresh();
      this.#lookAfterwards();
    });
  }

  #onVisible = (): void => {
    if (document.visibilityState === "visible") this.refresh();
  };

  #later(ms: number, work: () => void): void {
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      if (!this.#over.signal.aborted) work();
    }, ms);
    this.#timers.add(timer);
  }

  #fail(error: unknown): void {
    if (!this.#over.signal.aborted) this.problem.value = error;
  }
}
