// A conversation with an agent: the tasks and the direct messages of one context, in their order.
import { computed, signal } from "@preact/signals";
import type { Endpoint } from "../../api/endpoint.ts";
import { Feed, type Abilities, type Mode } from "../../api/follow.ts";
import { Problem } from "../../api/problem.ts";
import { isWaiting, type ListTasksResponse, type Message, type Part, type Task } from "../../api/types.ts";
import { RawLog } from "./raw-log.ts";

/** A task, or a message with the direct message that answered it. */
export type Item = { kind: "task"; key: string; feed: Feed } | { kind: "said"; key: string; sent: Message; answer: Message };

/** The contents of the composer. */
export interface Draft {
  parts: Part[];
  mode: Mode;
  acceptedOutputModes: string[];
  /** The id of the chosen skill, unless the arguments identify it. */
  skill: string | undefined;
  /** True if a new task begins although another is open. */
  isNewTask: boolean;
}

/** How many of the newest tasks of a context are shown. */
const MAX_TASKS = 30;
const KEY = "a2a-edge.chat";

export class Conversation {
  readonly items = signal<readonly Item[]>([]);
  readonly contextId = signal<string | undefined>(undefined);
  /** The reason why the conversation cannot be shown. */
  readonly problem = signal<Problem | undefined>(undefined);
  readonly isLoading = signal(false);
  /** True while a message that begins a task has no answer yet. */
  readonly isSending = computed(() => this.#unanswered.value !== undefined);
  readonly raw = new RawLog();
  /** The task that receives the next message, if one is open. */
  readonly current = computed(() => {
    const last = this.items.value.at(-1);
    if (last?.kind !== "task") return undefined;
    return last.feed.story.value.task !== undefined && last.feed.isOpen ? last.feed : undefined;
  });
  /** The id of the newest task. */
  readonly taskId = computed(() => {
    const last = this.items.value.findLast((item) => item.kind === "task");
    return last?.kind === "task" ? last.feed.story.value.task?.id : undefined;
  });
  /**
   * The feed of the last sent message, until its task is known. The stream may stay open after the task has ended, and the next message does not have to
   * wait for that.
   */
  readonly #unanswered = signal<Feed | undefined>(undefined);
  readonly #endpoint: Endpoint;
  readonly #can: Abilities;
  #isClosed = false;

  constructor(endpoint: Endpoint, can: Abilities) {
    this.#endpoint = endpoint;
    this.#can = can;
  }

  /** Shows a task, and the other entries of its context. */
  async open(taskId: string): Promise<void> {
    this.isLoading.value = true;
    this.problem.value = undefined;
    const feed = this.#feed();
    try {
      const task = await feed.open(taskId);
      this.items.value = [itemOf(feed, taskId)];
      if (task.contextId !== undefined) await this.#join(task.contextId, task);
    } catch (error) {
      feed.close();
      if (!this.#isClosed) this.problem.value = error instanceof Problem ? error : new Problem(String(error));
    } finally {
      this.isLoading.value = false;
    }
  }

  /** Shows the entries of a context; the next message continues the context. */
  async openContext(contextId: string): Promise<void> {
    this.isLoading.value = true;
    await this.#join(contextId, undefined);
    this.isLoading.value = false;
  }

  /** Sends a message. @throws {Problem} if it was refused; the conversation is then the same as before. */
  async send(draft: Draft): Promise<void> {
    const current = draft.isNewTask ? undefined : this.current.value;
    const task = current?.story.value.task;
    const contextId = task?.contextId ?? this.contextId.value;
    const message: Message = {
      messageId: crypto.randomUUID(),
      role: "ROLE_USER",
      parts: draft.parts,
      ...(task === undefined ? {} : { taskId: task.id }),
      ...(contextId === undefined ? {} : { contextId }),
      ...(draft.skill === undefined ? {} : { metadata: { skillId: draft.skill } }),
    };
    const feed = current ?? this.#feed();
    if (current === undefined) {
      const item = itemOf(feed, message.messageId);
      this.items.value = [...this.items.value, item];
      const stop = feed.story.subscribe(({ task: begun }) => {
        if (begun === undefined) return;
        queueMicrotask(() => stop());
        this.#answered(feed);
        this.contextId.value ??= begun.contextId;
        this.#store();
      });
      this.#unanswered.value = feed;
    }
    try {
      const answer = await feed.send({ message, mode: draft.mode, acceptedOutputModes: draft.acceptedOutputModes });
      if (answer !== undefined && current === undefined) this.#said(feed, message, answer);
    } catch (error) {
      if (current === undefined) this.#drop(feed);
      throw error;
    } finally {
      this.#answered(feed);
      this.#store();
    }
  }

  #answered(feed: Feed): void {
    if (this.#unanswered.peek() === feed) this.#unanswered.value = undefined;
  }

  close(): void {
    this.#isClosed = true;
    for (const item of this.items.value) if (item.kind === "task") item.feed.close();
  }

  /** Adds the other known entries of the context: those that this tab has stored, and the tasks that the agent lists. */
  async #join(contextId: string, opened: Task | undefined): Promise<void> {
    this.contextId.value = contextId;
    const kept = stored(this.#endpoint.key, contextId);
    const listed = await this.#listed(contextId);
    if (this.#isClosed) return;
    const place = new Map(kept.map((item, at) => [typeof item === "string" ? item : item.sent.messageId, at]));
    const ids = kept.filter((item) => typeof item === "string").concat(listed.filter((id) => !place.has(id) && id !== opened?.id));
    const tasks = ids.filter((id) => !this.#shows(id)).slice(-MAX_TASKS);
    const read = await Promise.all(tasks.map((id) => this.#read(id, { isStill: opened !== undefined || id !== ids.at(-1) })));
    if (this.#isClosed) return;
    const said = kept.flatMap((item): Item[] => (typeof item === "string" ? [] : [{ kind: "said", key: item.sent.messageId, ...item }]));
    // Messages may have been sent while the tasks were loaded.
    const earlier = read.filter((item) => item !== undefined && !this.#shows(item.key)) as Item[];
    const known = new Map([...earlier, ...said, ...this.items.value].map((item) => [item.key, item]));
    // In the order of this tab's own list. Unknown tasks come first, by their time; entries that were sent since the list was read come last.
    const begun = (key: string) => listed.indexOf(key) - listed.length;
    const isEarlier = (key: string) => key === opened?.id || listed.includes(key);
    const order = ({ key }: Item) => place.get(key) ?? (!isEarlier(key) ? Number.MAX_SAFE_INTEGER : key === opened?.id && place.size > 0 ? place.size : begun(key));
    this.items.value = [...known.values()].sort((one, other) => order(one) - order(other));
  }

  /** True if the conversation shows the task with this id. */
  #shows(id: string): boolean {
    return this.items.value.some((item) => item.kind === "task" && item.feed.taskId === id);
  }

  /** The ids of the tasks of a context, oldest first; empty if the agent does not list them. */
  async #listed(contextId: string): Promise<string[]> {
    try {
      const params = { contextId, pageSize: MAX_TASKS, historyLength: 0 };
      const { tasks } = await this.#endpoint.call<ListTasksResponse>("ListTasks", params, { isQuiet: true, watch: this.raw.watcher() });
      return tasks.map(({ id }) => id).reverse();
    } catch {
      return [];
    }
  }

  async #read(id: string, options: { isStill: boolean }): Promise<Item | undefined> {
    const feed = this.#feed();
    try {
      await feed.open(id, options);
      return itemOf(feed, id);
    } catch {
      feed.close();
      return undefined;
    }
  }

  #feed(): Feed {
    return new Feed(this.#endpoint, this.#can, () => this.raw.watcher());
  }

  /** Handles the direct message of an agent: there is no task. */
  #said(feed: Feed, sent: Message, answer: Message): void {
    feed.close();
    this.contextId.value ??= answer.contextId;
    this.items.value = this.items.value.map((item) => (item.kind === "task" && item.feed === feed ? { kind: "said", key: sent.messageId, sent, answer } : item));
  }

  #drop(feed: Feed): void {
    feed.close();
    this.items.value = this.items.value.filter((item) => item.kind !== "task" || item.feed !== feed);
  }

  #store(): void {
    const contextId = this.contextId.value;
    if (contextId === undefined) return;
    const kept = this.items.value.flatMap((item): Kept[] => {
      if (item.kind === "said") return [{ sent: item.sent, answer: item.answer }];
      const id = item.feed.taskId;
      return id === undefined ? [] : [id];
    });
    try {
      sessionStorage.setItem(keyOf(this.#endpoint.key, contextId), JSON.stringify(kept));
    } catch {
      // Without storage, a reload shows only the tasks that the agent lists.
    }
  }
}

/** True if the task of a feed has asked and waits. */
export function asks(feed: Feed | undefined): boolean {
  const state = feed?.story.value.task?.status.state;
  return state !== undefined && isWaiting(state);
}

/** The stored form of an item: the id of its task, or its two messages, which are stored nowhere else. */
type Kept = string | { sent: Message; answer: Message };

function stored(endpoint: string, contextId: string): Kept[] {
  try {
    const found: unknown = JSON.parse(sessionStorage.getItem(keyOf(endpoint, contextId)) ?? "[]");
    return Array.isArray(found) ? (found as Kept[]) : [];
  } catch {
    return [];
  }
}

function keyOf(endpoint: string, contextId: string): string {
  return `${KEY}:${endpoint}:${contextId}`;
}

function itemOf(feed: Feed, key: string): Item {
  return { kind: "task", key, feed };
}
