// The traffic of a conversation, newest last.
import { signal } from "@preact/signals";
import type { Seen } from "../../api/endpoint.ts";

/** A request with its answers. */
export interface Exchange {
  key: number;
  request: Extract<Seen, { kind: "request" }>;
  answers: readonly Answered[];
  /** How many of the oldest answers were dropped. */
  forgotten: number;
}

type Answered = Exclude<Seen, { kind: "request" }>;
type Growing = Omit<Exchange, "answers"> & { answers: Answered[] };

/** The limits; beyond them the oldest entries are dropped. */
const MAX_EXCHANGES = 60;
const MAX_ANSWERS = 1000;

export class RawLog {
  readonly exchanges = signal<readonly Exchange[]>([]);
  #count = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #all: Growing[] = [];

  /** The watcher of one call, or of several in sequence. */
  watcher(): (seen: Seen) => void {
    let own: Growing | undefined;
    return (seen) => {
      if (seen.kind === "request") {
        this.#count += 1;
        own = { key: this.#count, request: seen, answers: [], forgotten: 0 };
        this.#all.push(own);
        if (this.#all.length > MAX_EXCHANGES) this.#all.shift();
      } else if (own !== undefined) {
        own.answers.push(seen);
        if (own.answers.length > MAX_ANSWERS) {
          own.forgotten += own.answers.splice(0, MAX_ANSWERS / 4).length;
        }
      }
      this.#timer ??= setTimeout(() => {
        this.#timer = undefined;
        this.exchanges.value = this.#all.map((one) => ({ ...one, answers: [...one.answers] }));
      }, 60);
    };
  }

  clear(): void {
    this.#all = [];
    this.exchanges.value = [];
  }
}
