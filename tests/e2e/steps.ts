// Runs in steps, as the agent `faults` does them, and what must be true of them whatever happened meanwhile.

import type { Task } from "./client.ts";
import type { Arrival } from "./sink.ts";
import { Speaker, type Version } from "./speech.ts";
import { contents, subscribe, type EventStream, type StreamEvent } from "./stream.ts";

/** What a step tells the server that it calls. */
export interface StepCall {
  task: string;
  step: number;
  attempt: number;
}

/** The events of a run of so many steps that nothing disturbed, each in a few words: see `tell`. */
export function undisturbed(steps: number): string[] {
  const numbers = Array.from({ length: steps }, (_, index) => index + 1);
  return ["SUBMITTED", ...numbers.flatMap((number) => [`WORKING step ${number} of ${steps}`, `steps += ${number} ok`]), "COMPLETED"];
}

/** The artifact of a run of so many steps, as text. */
export function artifactOf(steps: number): string {
  return Array.from({ length: steps }, (_, index) => `${index + 1} ok\n`).join("");
}

/** An event in a few words. */
export function tell({ data }: StreamEvent): string {
  const { task, statusUpdate, artifactUpdate } = data.result ?? {};
  const text = (holder: { parts: { text?: string }[] } | undefined) => (holder?.parts ?? []).map((part) => part.text ?? "").join("");
  if (artifactUpdate !== undefined) return `${artifactUpdate.artifact.artifactId} += ${text(artifactUpdate.artifact).trim()}`;
  const status = (task ?? statusUpdate)?.status;
  return [status?.state.replace("TASK_STATE_", ""), text(status?.message)].filter(Boolean).join(" ");
}

/** Which attempt a task says that it is in. */
export function attemptOf(task: Task): number {
  return (task.metadata?.["urn:a2a-edge:attempt"] as number | undefined) ?? 1;
}

/** Which steps were done, in their order, by which attempt: `3@2` is step 3 in the second attempt. */
export function doneBy(arrivals: Arrival[]): string[] {
  return arrivals.map((arrival) => arrival.json<StepCall>()).map(({ step, attempt }) => `${step}@${attempt}`);
}

/**
 * What is wrong with the steps that a resumed run of `steps` steps did; nothing, if each came after the one before it and
 * none was done twice but where a later attempt found it interrupted.
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

/** What is wrong with a log, given what clients have seen of it: its generations, or an event that is not as it was seen. */
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

/** What of the events that a client of an older version has seen is not as the log tells it. */
export function wrongWords(log: StreamEvent[], seen: StreamEvent[]): string[] {
  const told = (event: StreamEvent | undefined) => (event === undefined ? "nothing" : tell(event));
  return seen.filter((event) => told(event) !== told(log[(event.id ?? 0) - 1])).map((event) => `event ${event.id} was seen as ${told(event)}`);
}

/** All events of a task that has ended. */
export async function logOf(endpoint: string, id: string): Promise<StreamEvent[]> {
  return (await subscribe(endpoint, id, 0)).rest();
}

/** A client that follows a task from its first event on. */
export class Follower {
  /** What it has seen, in the order in which it came. */
  readonly seen: StreamEvent[] = [];
  /** How many streams it has opened. */
  streams = 0;
  /** Done when it has seen the end of the task, has left, or has tried in vain for too long. */
  readonly done: Promise<void>;
  readonly #speaker: Speaker;
  readonly #id: string;
  readonly #returns: boolean;
  #stream: EventStream | undefined;
  #hasLeft = false;

  private constructor(speaker: Speaker, id: string, returns: boolean) {
    this.#speaker = speaker;
    this.#id = id;
    this.#returns = returns;
    this.done = this.#follow();
  }

  /** One that opens a new stream from its last event on whenever one breaks. */
  static persistent(endpoint: string, id: string): Follower {
    return new Follower(new Speaker(endpoint, "1.0"), id, true);
  }

  /** One that does not come back when its stream breaks. */
  static fleeting(endpoint: string, id: string, version: Version = "1.0"): Follower {
    return new Follower(new Speaker(endpoint, version), id, false);
  }

  /** Leaves without a word. */
  leave(): void {
    this.#hasLeft = true;
    this.#stream?.leave();
  }

  get #isOver(): boolean {
    const state = this.seen.at(-1)?.data.result?.statusUpdate?.status.state ?? "";
    return this.#hasLeft || /COMPLETED|FAILED|CANCELED|REJECTED/.test(state);
  }

  async #follow(): Promise<void> {
    let last = Date.now();
    do {
      try {
        this.#stream = await this.#speaker.stream("SubscribeToTask", { id: this.#id }, this.seen.at(-1)?.id ?? 0);
        this.streams += 1;
        last = Date.now();
        for await (const event of this.#stream) {
          this.seen.push(event);
          last = Date.now();
        }
      } catch {
        // The Worker is down, or went down.
      }
      if (this.#isOver || !this.#returns) return;
      await new Promise((resolve) => setTimeout(resolve, 20));
    } while (Date.now() - last < PATIENCE_MS);
  }
}

const PATIENCE_MS = 40_000;
