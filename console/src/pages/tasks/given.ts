// The tasks that a task has given to other agents of this Worker: their timelines, read when they are wanted.
import { signal } from "@preact/signals";
import { catalogueOnceRead } from "../../api/agents.ts";
import { timelinePage, type Entry, type Head, type TaskOf } from "../../api/timeline.ts";
import { findSpan, plus, sumOf, type Span, type Sum } from "./trace.ts";

/** At most this many tasks are read below one task. */
const MAX_TASKS = 50;
/** At most this many pages of a task are read. */
const [PAGE, PAGES] = [100, 5];
/** How deep tasks are shown inside each other. */
export const MAX_DEPTH = 4;

export type Given =
  | { state: "reading" }
  | { state: "failed"; problem: unknown }
  | { state: "read"; head: Head; entries: readonly Entry[]; isWhole: boolean };

/** The tasks below one task. */
export class GivenTasks {
  /** What was read, by `keyOf`. */
  readonly tasks = signal<ReadonlyMap<string, Given>>(new Map());
  /** True if all of them are to be shown. */
  readonly wantsAll = signal(false);
  readonly #over = new AbortController();
  readonly #reading = new Set<string>();

  close(): void {
    this.#over.abort();
  }

  of(task: TaskOf): Given | undefined {
    return this.tasks.value.get(keyOf(task));
  }

  /** Reads a task, unless it was read. With `isAgain` it is read anew, and what was read stays meanwhile. */
  async read(task: TaskOf, { isAgain = false } = {}): Promise<void> {
    const [key, tasks] = [keyOf(task), this.tasks.peek()];
    if (this.#reading.has(key) || (tasks.has(key) && !isAgain)) return;
    if (!tasks.has(key) && tasks.size >= MAX_TASKS) {
      return this.#set(task, { state: "failed", problem: new Error(`At most ${MAX_TASKS} tasks are read here; open it by itself.`) });
    }
    this.#reading.add(key);
    if (!tasks.has(key)) this.#set(task, { state: "reading" });
    try {
      const here = await catalogueOnceRead();
      if (here?.agents.some(({ slug }) => slug === task.agent) !== true) throw new Error("It is a task of an agent elsewhere.");
      const entries: Entry[] = [];
      let pageToken = "";
      let head: Head | undefined;
      for (let count = 0; count < PAGES && (count === 0 || pageToken !== ""); count++) {
        const query = pageToken === "" ? { pageSize: PAGE } : { pageSize: PAGE, pageToken };
        const page = await timelinePage(task, query, { signal: this.#over.signal, isQuiet: true });
        entries.push(...page.entries);
        pageToken = page.nextPageToken;
        head ??= page;
      }
      this.#set(task, { state: "read", head: head as Head, entries, isWhole: pageToken === "" });
    } catch (problem) {
      this.#set(task, { state: "failed", problem });
    } finally {
      this.#reading.delete(key);
    }
  }

  #set(task: TaskOf, given: Given): void {
    if (!this.#over.signal.aborted) this.tasks.value = new Map(this.tasks.peek()).set(keyOf(task), given);
  }
}

const keyOf = ({ agent, id }: TaskOf): string => `${agent}/${id}`;

/** The task of another agent that a span is about. */
export function givenOf({ step }: Span): TaskOf | undefined {
  return step !== undefined && "task" in step ? step.task : undefined;
}

/** True if one of the spans has given a task to another agent. */
export const givesTasks = (spans: readonly Span[]): boolean => findSpan(spans, (span) => givenOf(span) !== undefined) !== undefined;

/** What spans come to with the tasks below them that were read, each task once: `read` of them. */
export function treeSum(spans: readonly Span[], tasks: ReadonlyMap<string, Given>): Sum & { read: number } {
  const sum = { ...sumOf(spans), read: 0 };
  for (const given of tasks.values()) {
    if (given.state !== "read") continue;
    sum.read += 1;
    sum.failed += (given.head.failedSteps ?? 0) + (/FAILED|REJECTED/.test(given.head.state) ? 1 : 0);
    if (given.head.usage !== undefined) sum.usage = plus(sum.usage, given.head.usage);
  }
  return sum;
}
