// Runs in steps, by the agent `faults`, and the checks that hold whatever interrupted them.

import type { Task } from "./client.ts";
import type { Arrival } from "./sink.ts";
import { Speaker, type Params, type Version } from "./speech.ts";
import { contents, subscribe, type EventStream, type StreamEvent } from "./stream.ts";

/** The body of a step's call to the server. */
export interface StepCall {
  task: string;
  step: number;
  attempt: number;
}

/** The events of an undisturbed run with this number of steps, each as a summary: see `tell`. */
export function undisturbed(steps: number): string[] {
  const numbers = Array.from({ length: steps }, (_, index) => index + 1);
  return ["SUBMITTED", ...numbers.flatMap((number) => [`WORKING step ${number} of ${steps}`, `steps += ${number} ok`]), "COMPLETED"];
}

/** The artifact of a run with this number of steps, as text. */
export function artifactOf(steps: number): string {
  return Array.from({ length: steps }, (_, index) => `${index + 1} ok\n`).join("");
}

/** A summary of an event. */
export function tell({ data }: StreamEvent): string {
  const { task, statusUpdate, artifactUpdate } = data.result ?? {};
  const text = (holder: { parts: { text?: string }[] } | undefined) => (holder?.parts ?? []).map((part) => part.text ?? "").join("");
  if (artifactUpdate !== undefined) return `${artifactUpdate.artifact.artifactId} += ${text(artifactUpdate.artifact).trim()}`;
  const status = (task ?? statusUpdate)?.status;
  return [status?.state.replace("TASK_STATE_", ""), text(status?.message)].filter(Boolean).join(" ");
}

/** The number of the attempt in a task's metadata. */
export function attemptOf(task: Task): number {
  return (task.metadata?.["urn:a2a-edge:attempt"] as number | undefined) ?? 1;
}

/** The finished steps, in order, each with its attempt: `3@2` is step 3 in the second attempt. */
export function doneBy(arrivals: Arrival[]): string[] {
  return arrivals.map((arrival) => arrival.json<StepCall>()).map(({ step, attempt }) => `${step}@${attempt}`);
}

/**
 * The errors in the steps of a resumed run of `steps` steps. Empty if each step followed its predecessor, and a step was
 * only repeated if a later attempt found it interrupted.
 */
export function wrongSteps(arrivals: Arrival[], steps: number): string[] {
  const wrong: string[] = [];
  let before: StepCall = { task: "", step: 0, attempt: 0 };
  for (const arrival of arrivals) {
    const call = arrival.json<StepCall>();
    const goesOn = call.step === before.step + 1 && call.attempt >= before.attempt;
    const repeats = call.step === before.step && call.attempt > before.attempt;
    const what = `step ${call.step} of attempt ${call.attempt} came after step ${before.step} of attempt ${before.attempt}`;
    if (!goesOn && !repeats) wrong.push(`${call.step <= before.step ? "duplicated" : "lost"}: ${what}`);
    before = call;
  }
  if (before.step !== steps) wrong.push(`lost: the last step was ${before.step} of ${steps}`);
  return wrong;
}

/** The errors in a log, compared with the events that clients have seen: wrong generations, or events that differ. */
export function wrongLog(log: StreamEvent[], ...seen: StreamEvent[][]): string[] {
  const wrong: string[] = [];
  for (const [index, { id }] of log.entries()) {
    if (id !== index + 1) wrong.push(`${(id ?? 0) <= index ? "duplicated" : "lost"}: event ${index + 1} has generation ${id}`);
  }
  const stored = new Map(contents(log).map(([id, content]) => [id, JSON.stringify(content)]));
  for (const [id, content] of seen.flatMap(contents)) {
    const now = stored.get(id);
    if (now !== JSON.stringify(content)) wrong.push(`lost: generation ${id} was seen as ${JSON.stringify(content)} and is ${now}`);
  }
  return wrong;
}

/** The events seen by a client of an older version that differ from the log. */
export function wrongWords(log: StreamEvent[], seen: StreamEvent[]): string[] {
  const told = (event: StreamEvent | undefined) => (event === undefined ? "nothing" : tell(event));
  return seen.filter((event) => told(event) !== told(log[(event.id ?? 0) - 1])).map((event) => `event ${event.id} was seen as ${told(event)}`);
}

/** All events of an ended task. */
export async function logOf(endpoint: string, id: string): Promise<StreamEvent[]> {
  return (await subscribe(endpoint, id, 0)).rest();
}

/** A client that follows a task from its first event on. */
export class Follower {
  /** The events seen so far, in order. */
  readonly seen: StreamEvent[] = [];
  /** When each of them was seen, in milliseconds since the epoch. */
  readonly times: number[] = [];
  /** The number of opened streams. */
  streams = 0;
  /** Resolves when it has seen the end of the task, has disconnected, or has failed for too long. */
  readonly done: Promise<void>;
  readonly #speaker: Speaker;
  readonly #begins: Params;
  readonly #returns: boolean;
  #stream: EventStream | undefined;
  #hasLeft = false;

  private constructor(speaker: Speaker, begins: Params, returns: boolean) {
    this.#speaker = speaker;
    this.#begins = begins;
    this.#returns = returns;
    this.done = this.#follow();
  }

  /** A client that opens a new stream from its last event on whenever a stream breaks. */
  static persistent(endpoint: string, id: string): Follower {
    return new Follower(new Speaker(endpoint, "1.0"), { id }, true);
  }

  /** A client that does not reconnect when its stream breaks. */
  static fleeting(endpoint: string, id: string, version: Version = "1.0"): Follower {
    return new Follower(new Speaker(endpoint, version), { id }, false);
  }

  /** A client that begins a task by SendStreamingMessage, and opens a new stream from its last event on whenever a stream breaks. */
  static sending(endpoint: string, params: Params): Follower {
    return new Follower(new Speaker(endpoint, "1.0"), params, true);
  }

  /** The id of the task; undefined before the first event of a client that sends. */
  get id(): string | undefined {
    return this.#begins["id"] as string | undefined ?? this.seen[0]?.data.result?.task?.id;
  }

  /** Disconnects without a message. */
  leave(): void {
    this.#hasLeft = true;
    this.#stream?.leave();
  }

  get #isOver(): boolean {
    const state = this.seen.at(-1)?.data.result?.statusUpdate?.status.state ?? "";
    return this.#hasLeft || /COMPLETED|FAILED|CANCELED|REJECTED/.test(state);
  }

  #open(): Promise<EventStream> {
    const { id } = this;
    if (id === undefined) return this.#speaker.stream("SendStreamingMessage", this.#begins);
    return this.#speaker.stream("SubscribeToTask", { id }, this.seen.at(-1)?.id ?? 0);
  }

  async #follow(): Promise<void> {
    let last = Date.now();
    do {
      try {
        this.#stream = await this.#open();
        this.streams += 1;
        last = Date.now();
        for await (const event of this.#stream) {
          this.seen.push(event);
          last = Date.now();
          this.times.push(last);
        }
      } catch {
        // The Worker is down or has just gone down.
      }
      if (this.#isOver || !this.#returns) return;
      await new Promise((resolve) => setTimeout(resolve, 20));
    } while (Date.now() - last < PATIENCE_MS);
  }
}

const PATIENCE_MS = 40_000;
