// What the page sees of a task while its server is killed: the lines that it shows, from the traffic. Pure, but for the signal.
import { signal } from "@preact/signals";
import type { Seen } from "../../api/endpoint.ts";
import { jsonIn } from "../../api/json-in.ts";
import { isFinal, type StreamResponse, type TaskState } from "../../api/types.ts";

/** One line, with the time since the beginning. */
export interface Sighting {
  at: number;
  tone: "" | "good" | "bad";
  text: string;
}

export class Sightings {
  readonly lines = signal<readonly Sighting[]>([]);
  /** The number of events that have come. */
  readonly events = signal(0);
  readonly #begun: number;
  readonly #word: (state: TaskState) => string;
  readonly #ids = new Map<number, number>();
  #isBroken = false;
  #isOver = false;

  /** `word` is the word for a state. */
  constructor(begun: number, word: (state: TaskState) => string) {
    this.#begun = begun;
    this.#word = word;
  }

  /** Notes an item of the traffic of the task. */
  take(seen: Seen): void {
    if (this.#isOver || seen.kind === "request") return;
    if (seen.kind === "event") {
      const id = Number(seen.id);
      if (this.#ids.size === 0) this.#add(seen.at, "", "The agent has got the message, and its task has begun.");
      if (id > 0) this.#ids.set(id, (this.#ids.get(id) ?? 0) + 1);
      this.events.value = this.#ids.size;
      const state = stateIn(seen.data);
      if (state !== undefined) this.reached(state, seen.at);
    } else if (seen.kind === "answer") {
      if (this.#isBroken && seen.status < 300) {
        this.#isBroken = false;
        this.#add(seen.at, "good", `The server is back, and the stream goes on behind event ${Math.max(...this.#ids.keys())}.`);
      }
    } else if (!this.#isBroken) {
      this.#isBroken = true;
      this.#add(seen.at, "bad", "The stream broke. The page asks for the rest until the server answers.");
    }
  }

  /** Notes that the server is killed now. */
  killed(at: number): void {
    this.#add(at, "bad", "The server is killed: its process ends at once, as in a crash.");
  }

  /** Notes the state of the task; the first final one ends the lines. The last line says whether anything was lost. */
  reached(state: TaskState, at: number): void {
    if (this.#isOver || !isFinal(state)) return;
    this.#isOver = true;
    const [first, last] = [Math.min(...this.#ids.keys()), Math.max(...this.#ids.keys())];
    const lost = last - first + 1 - this.#ids.size;
    const twice = [...this.#ids.values()].filter((times) => times > 1).length;
    const isWhole = lost === 0 && twice === 0;
    const events = isWhole ? `Events ${first} to ${last} have come, each once: nothing was lost.` : `Of events ${first} to ${last}, ${lost} did not come, and ${twice} came twice.`;
    this.#add(at, isWhole ? "good" : "bad", `The task has ended: ${this.#word(state)}. ${events}`);
  }

  #add(at: number, tone: Sighting["tone"], text: string): void {
    this.lines.value = [...this.lines.value, { at: Math.max(0, at - this.#begun), tone, text }];
  }
}

/** The state in an event of JSON-RPC, if it has one. */
function stateIn(data: string): TaskState | undefined {
  const { result } = (jsonIn(data) ?? {}) as { result?: StreamResponse };
  return result?.statusUpdate?.status.state ?? result?.task?.status.state;
}
