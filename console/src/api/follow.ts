// Follows one task: sends its messages, reads its events, and resumes after a broken connection from the newest known event.
import { signal } from "@preact/signals";
import type { CallOptions, Endpoint, Seen, TaskEvent } from "./endpoint.ts";
import { fold, isGap, UNKNOWN, withMessages, withOwn, withoutOwn, type Ids, type Story } from "./fold.ts";
import { Problem } from "./problem.ts";
import { onWake, pause, whenAwake } from "./waking.ts";
import { CREDENTIALS_MEDIA_TYPE, isFinal, isWaiting, type AgentCard, type Message, type SendMessageResponse, type StreamResponse, type Task } from "./types.ts";

/** The state of a task's connection. `waiting` reconnects at `until`; with `isSend`, the message is then sent again. */
export type Link =
  | { state: "idle" }
  | { state: "connecting" }
  | { state: "live" }
  | { state: "polling" }
  | { state: "waiting"; until: number; problem: Problem; isSend: boolean }
  | { state: "lost"; problem: Problem };

/** The mode of a send: with a stream of events, waiting for the answer, or without waiting. */
export type Mode = "stream" | "wait" | "return";

/** A message with its options. */
export interface Sending {
  message: Message;
  mode: Mode;
  acceptedOutputModes?: string[];
}

/** The abilities of an agent that matter here. */
export interface Abilities {
  canStream: boolean;
  ids: Ids;
  /** True if a send may be repeated with a key, and then creates nothing new. */
  isRepeatable: boolean;
}

export const GENERATION_EXTENSION = "urn:a2a-edge:generation:v1";

/** The abilities of an agent of this Worker, or of one elsewhere. */
export function abilitiesOf(card: AgentCard, isLocal: boolean): Abilities {
  const hasGenerations = card.capabilities?.extensions?.some(({ uri }) => uri === GENERATION_EXTENSION) === true;
  return { canStream: card.capabilities?.streaming === true, ids: isLocal && hasGenerations ? "generations" : "marks", isRepeatable: isLocal };
}

/** A task with more events is not replayed from its beginning; only its snapshot is shown. */
const MAX_REPLAYED = 4000;
const FIRST_PAUSE_MS = 400;
const MAX_PAUSE_MS = 15_000;
/** How often a send without an answer is repeated. */
const MAX_SENDS = 8;
/** If a server requires a longer pause before a message is sent again, the message is returned to the person. */
const MAX_SEND_PAUSE_S = 120;
/** Events that arrive within this time are shown together. */
const FRAME_MS = 24;

/** One task, from its first message or from its id. */
export class Feed {
  /** The shown part of the task. */
  readonly story = signal<Story>(UNKNOWN);
  readonly link = signal<Link>({ state: "idle" });
  readonly #endpoint: Endpoint;
  readonly #can: Abilities;
  readonly #watcher: () => (seen: Seen) => void;
  #story: Story = UNKNOWN;
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** Aborts the current reader of events; each reader has its own. */
  #reading = new AbortController();
  /** The snapshot is shown until the replay has reached this generation. */
  #hidesUntil = 0;
  #isClosed = false;
  /** True if a message was sent and it is not known if the server has received it. */
  #isUnsure = false;
  /** Ends the current pause. */
  #hasten = (): void => undefined;
  readonly #stopWaking: () => void;

  /** `watcher` returns the watcher of a call. */
  constructor(endpoint: Endpoint, can: Abilities, watcher: () => (seen: Seen) => void) {
    this.#endpoint = endpoint;
    this.#can = can;
    this.#watcher = watcher;
    // While the machine slept, the connection may have died unnoticed.
    this.#stopWaking = onWake(() => {
      if (this.isOpen && !this.#isUnsure && this.link.value.state !== "idle") void this.#goOn(this.#begin());
    });
  }

  get taskId(): string | undefined {
    return this.#task?.id;
  }

  /** True if the task can receive messages: it is known, and not finished. */
  get isOpen(): boolean {
    const state = this.#task?.status.state;
    return state !== undefined && !isFinal(state);
  }

  /** The newest known state of the task: that of the snapshot until the replay has reached it. */
  get #task(): Task | undefined {
    return (this.#isBehind() ? this.story.peek() : this.#story).task;
  }

  /** Reads a task by its id, and then follows the task, unless `isStill` is true. @throws {Problem} if there is no such task. */
  async open(taskId: string, { isStill = false } = {}): Promise<Task> {
    const reading = this.#begin();
    const task = await this.#get(taskId, reading.signal);
    const generation = generationOf(task);
    this.#story = fold(UNKNOWN, { id: generation === 0 ? "" : String(generation), response: { task } }, this.#can.ids);
    const snapshot = (this.story.value = this.#story);
    if (isStill) return task;
    if (this.#can.ids === "generations" && this.#can.canStream && generation > 0 && generation <= MAX_REPLAYED) {
      // Only the events contain the order of entries; only the snapshot contains the messages of the client.
      this.#hidesUntil = generation;
      this.#story = { ...UNKNOWN, newest: "0" };
      void this.#follow(reading, { id: task.id, seed: task.history ?? [], snapshot });
    } else {
      void this.#follow(reading, { id: task.id, seed: [], snapshot });
    }
    return task;
  }

  /**
   * Sends a message, to this task if it is known. Returns the agent's direct message, if that is the answer.
   *
   * @throws {Problem} if the message was refused, or if it is not known if the server has received the message. The story is then the same
   * as before.
   */
  async send({ message, mode, acceptedOutputModes }: Sending): Promise<Message | undefined> {
    const reading = this.#begin();
    this.#story = withOwn(this.#story, shown(message));
    this.#publish();
    const configuration = {
      ...(acceptedOutputModes === undefined || acceptedOutputModes.length === 0 ? {} : { acceptedOutputModes }),
      ...(mode === "return" ? { returnImmediately: true } : {}),
    };
    const params = { message, ...(Object.keys(configuration).length === 0 ? {} : { configuration }) };
    const key = message.taskId === undefined && this.#can.isRepeatable ? message.messageId : undefined;
    const had = this.#story.newest;
    for (let sends = 1; ; sends += 1) {
      this.#isUnsure = true;
      try {
        const direct = await this.#sendOnce(mode, params, { ...this.#options(reading.signal), headers: this.#headers(key) });
        if (direct === undefined) void this.#goOn(reading);
        else this.link.value = { state: "idle" };
        return direct;
      } catch (error) {
        if (reading.signal.aborted) return undefined;
        const problem = asProblem(error);
        // Now that the task is known, it is followed instead.
        if (this.#story.newest !== had && this.#story.task !== undefined) {
          void this.#goOn(reading);
          return undefined;
        }
        if (problem.isPassing && this.#can.isRepeatable && sends < MAX_SENDS && (problem.retryAfter ?? 0) <= MAX_SEND_PAUSE_S) {
          await this.#rest(problem, sends, reading.signal, true);
          if (reading.signal.aborted) return undefined;
          continue;
        }
        this.#story = withoutOwn(this.#story, message.messageId);
        this.#publish();
        this.link.value = { state: "idle" };
        if (this.isOpen) void this.#goOn(reading);
        throw problem;
      } finally {
        this.#isUnsure = false;
      }
    }
  }

  /** Cancels the task. @throws {Problem} */
  async cancel(headers: Readonly<Record<string, string | undefined>> = {}): Promise<void> {
    const id = this.taskId;
    if (id === undefined) return this.close();
    const task = await this.#endpoint.call<Task>("CancelTask", { id }, { ...this.#options(undefined), headers: { ...this.#headers(undefined), ...headers } });
    this.#apply({ id: idOf(task), response: { task } });
  }

  /** Reconnects at once, before the end of the pause, or after giving up. */
  retry(): void {
    if (this.#isUnsure) this.#hasten();
    else if (this.isOpen && this.link.value.state !== "live") void this.#goOn(this.#begin());
  }

  /** Stops reading events. The task continues. */
  close(): void {
    this.#isClosed = true;
    this.#stopWaking();
    this.#reading.abort();
    clearTimeout(this.#timer);
  }

  async #sendOnce(mode: Mode, params: object, options: CallOptions): Promise<Message | undefined> {
    this.link.value = { state: "connecting" };
    if (mode === "stream") {
      let direct: Message | undefined;
      for await (const event of this.#endpoint.stream("SendStreamingMessage", params, options)) {
        direct ??= event.response.message;
        this.#take(event);
      }
      return direct;
    }
    const { task, message } = await this.#endpoint.call<SendMessageResponse>("SendMessage", params, options);
    if (task !== undefined) this.#apply({ id: idOf(task), response: { task } });
    else if (message === undefined) throw new Problem("The agent answered with neither a task nor a message.");
    return message;
  }

  /** Follows the task if it is known. */
  async #goOn(reading: AbortController): Promise<void> {
    const id = this.taskId;
    if (id !== undefined) await this.#follow(reading, { id, seed: [], snapshot: undefined });
  }

  /** Reads events until the task is finished, or `reading` is aborted. `snapshot` is the fallback if the events are not available. */
  async #follow(reading: AbortController, { id, seed, snapshot }: { id: string; seed: readonly Message[]; snapshot: Story | undefined }): Promise<void> {
    const { signal } = reading;
    for (let attempt = 1; !signal.aborted; attempt += 1) {
      if (!this.#isBehind() && !this.isOpen) break;
      if (!this.#can.canStream) return this.#poll(id, reading);
      try {
        this.link.value = attempt === 1 ? { state: "connecting" } : this.link.value;
        const { newest } = this.#story;
        for await (const event of this.#endpoint.stream("SubscribeToTask", { id }, { ...this.#options(signal), lastEventId: newest === "" ? undefined : newest })) {
          attempt = 1;
          if (!this.#take(event)) break;
          if (seed.length > 0 && !this.#isBehind()) {
            this.#story = withMessages(this.#story, seed);
            seed = [];
          }
        }
        if (this.#isBehind() && snapshot !== undefined && attempt > 3) this.#fallBack(snapshot);
        if (!this.#isBehind() && !this.isOpen) break;
        await pause(Math.min(MAX_PAUSE_MS, 100 * 2 ** attempt), signal);
      } catch (error) {
        if (signal.aborted) return;
        const problem = asProblem(error);
        if (this.#isBehind() && snapshot !== undefined) this.#fallBack(snapshot);
        if (problem.code === -32602 && this.#story.newest !== "" && attempt === 1) {
          // The server does not know this event id: the next stream begins with a snapshot.
          this.#story = { ...this.#story, newest: "" };
        } else if (problem.isPassing) {
          await this.#rest(problem, attempt, signal);
        } else if (problem.code === -32004 || problem.status === 404 || problem.status === 405) {
          // The task cannot be followed, for example because it is finished: it is polled instead.
          return this.#poll(id, reading);
        } else {
          this.link.value = { state: "lost", problem };
          return;
        }
      }
    }
    if (!signal.aborted) this.link.value = { state: "idle" };
  }

  /** Polls the task, if it cannot be followed. */
  async #poll(id: string, { signal }: AbortController): Promise<void> {
    for (let attempt = 1; !signal.aborted; attempt += 1) {
      try {
        const task = await this.#get(id, signal);
        this.#apply({ id: idOf(task), response: { task } });
        if (!this.isOpen) break;
        this.link.value = { state: "polling" };
        await pause(Math.min(5000, 500 + 250 * attempt), signal);
      } catch (error) {
        if (signal.aborted) return;
        const problem = asProblem(error);
        if (!problem.isPassing) {
          this.link.value = { state: "lost", problem };
          return;
        }
        await this.#rest(problem, attempt, signal);
      }
    }
    if (!signal.aborted) this.link.value = { state: "idle" };
  }

  /** Waits before the next attempt: longer each time, or as long as the server requires; ends early when the connection returns. */
  async #rest(problem: Problem, attempt: number, signal: AbortSignal, isSend = false): Promise<void> {
    const grown = Math.min(MAX_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (attempt - 1)) * (0.75 + Math.random() / 2);
    const ms = problem.retryAfter === undefined ? grown : Math.max(grown, problem.retryAfter * 1000);
    this.link.value = { state: "waiting", until: Date.now() + ms, problem, isSend };
    const hastened = new Promise<void>((resolve) => (this.#hasten = resolve));
    await Promise.race([pause(ms, signal), whenAwake(signal), hastened]);
  }

  /** Handles an event of a stream; returns false if earlier events are missing, so that the stream has to be resumed. */
  #take(event: TaskEvent): boolean {
    if (isGap(this.#story, event, this.#can.ids) && this.#story.task !== undefined) return false;
    const id = event.id === "" && event.response.task !== undefined ? idOf(event.response.task) : event.id;
    this.#apply({ id, response: event.response });
    return true;
  }

  #apply(event: { id: string; response: StreamResponse }): void {
    const before = this.#story.task?.status;
    this.#story = fold(this.#story, event, this.#can.ids);
    const task = this.#story.task;
    this.#publish();
    const hasGoneOn = before !== undefined && isWaiting(before.state) && event.response.task === undefined && task !== undefined && !isWaiting(task.status.state);
    // Another client has answered: its message is only in the history.
    if (hasGoneOn && task !== undefined && !this.#isBehind()) void this.#readHistory(task.id);
  }

  async #readHistory(id: string): Promise<void> {
    const { history = [] } = await this.#get(id, this.#reading.signal).catch(() => ({ history: [] }) as Partial<Task>);
    this.#story = withMessages(this.#story, history);
    this.#publish();
  }

  async #get(id: string, signal: AbortSignal): Promise<Task> {
    return this.#endpoint.call<Task>("GetTask", { id }, this.#options(signal));
  }

  #isBehind(): boolean {
    return Number(this.#story.newest) < this.#hidesUntil;
  }

  #fallBack(snapshot: Story): void {
    this.#hidesUntil = 0;
    this.#story = snapshot;
    this.#publish();
  }

  /** Publishes the story, at most once per frame. */
  #publish(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      if (!this.#isBehind() && !this.#isClosed) this.story.value = this.#story;
    }, FRAME_MS);
  }

  /**
   * Replaces the current reader: two readers at a time would double events without ids. An interrupted replay is given up in favour of the
   * snapshot, from which the new reader continues.
   */
  #begin(): AbortController {
    if (this.#isBehind()) this.#fallBack(this.story.peek());
    this.#reading.abort();
    this.#reading = new AbortController();
    return this.#reading;
  }

  #options(signal: AbortSignal | undefined): CallOptions {
    const told = this.#watcher();
    const watch = (seen: Seen) => {
      if (seen.kind === "answer" && seen.status < 300 && seen.body === "" && signal?.aborted === false) this.link.value = { state: "live" };
      told(seen);
    };
    return { signal, watch, headers: this.#headers(undefined) };
  }

  #headers(key: string | undefined): Record<string, string | undefined> {
    return { "a2a-extensions": this.#can.ids === "generations" ? GENERATION_EXTENSION : undefined, "idempotency-key": key };
  }
}

/** The message in the form of the history: without credentials. */
function shown(message: Message): Message {
  return { ...message, parts: message.parts.map((part) => (part.mediaType === CREDENTIALS_MEDIA_TYPE ? { ...part, data: {} } : part)) };
}

/** The generation in the metadata of a task; 0 without it. */
export function generationOf(task: Task): number {
  const told = task.metadata?.[`${GENERATION_EXTENSION}/generation`];
  return typeof told === "number" ? told : 0;
}

function idOf(task: Task): string {
  const generation = generationOf(task);
  return generation === 0 ? "" : String(generation);
}

function asProblem(error: unknown): Problem {
  return error instanceof Problem ? error : new Problem(error instanceof Error ? error.message : String(error));
}
