// A contest: several Workers do the same work in turn, round after round, so that a disturbance of the machine affects all of them.

import { computedMs, type Cores } from "../processor.ts";
import type { Worker } from "../workers.ts";

/** Figures of one Worker in one round, by their names. */
export type Measured = Record<string, number>;

/** The role of an entrant: this build, another build, the official SDK, Cloudflare's agents SDK, or the platform alone. */
export type Role = "ours" | "against" | "alternative" | "agents" | "floor";

/** One that takes part. */
export interface Named {
  role: Role;
  name: string;
}

/** A Worker that takes part. */
export interface Entrant extends Named {
  start: () => Promise<Worker>;
  /** Prepares the work, warms the Worker up, and returns the work to repeat. */
  prepare: (worker: Worker) => Promise<() => Promise<Measured>>;
}

/** The figures of an entrant, in the order of the rounds. */
export interface Taken extends Named {
  rounds: Measured[];
}

/** The figures of all entrants. */
export type Outcome = Taken[];

/** An entrant that takes longer to prepare, or for a round, has failed. */
const PATIENCE_MS = 180_000;

/** How often a Worker that fails is started again in a contest. */
const RESTARTS = 3;

/**
 * Runs a contest. Each contest has its own processes, so that later work of one, such as an alarm, is not counted for another contest. An entrant that fails is reported,
 * started anew, and measured again.
 */
export async function contest(entrants: Entrant[], rounds: number, cores: Cores): Promise<Outcome> {
  const stands = entrants.map((entrant) => new Stand(entrant, cores));
  try {
    for (const stand of stands) await stand.prepared();
    return await inTurn(stands, rounds, (stand) => stand.measured());
  } finally {
    for (const stand of stands) await stand.stop();
  }
}

/** Takes the figures of all, round after round; the first one changes from round to round. */
export async function inTurn<One extends Named>(all: One[], rounds: number, measure: (one: One) => Promise<Measured>): Promise<Outcome> {
  const outcome = all.map(({ role, name }): Taken => ({ role, name, rounds: [] }));
  for (let round = 0; round < rounds; round++) {
    for (let turn = 0; turn < all.length; turn++) {
      const index = (round + turn) % all.length;
      outcome[index]?.rounds.push(await measure(all[index] as One));
    }
  }
  return outcome;
}

/** Repeats work that fails, and reports each failure. */
export async function persistent<Given>(name: string, work: () => Promise<Given>, repair: () => Promise<unknown> = async () => {}, repeats = RESTARTS): Promise<Given> {
  for (let failures = 1; ; failures++) {
    try {
      return await work();
    } catch (error) {
      if (failures > repeats) throw error;
      process.stderr.write(`\n${name} has failed and is tried again: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
      await repair();
    }
  }
}

/** Fails when work takes too long. It is left alone then; the end of its Worker ends it. */
async function inTime<Given>(work: Promise<Given>): Promise<Given> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`it took longer than ${PATIENCE_MS / 1_000} s`)), PATIENCE_MS);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** An entrant with its running Worker. */
class Stand implements Named {
  readonly role: Role;
  readonly name: string;
  readonly #entrant: Entrant;
  readonly #cores: Cores;
  #worker: Worker | undefined;
  #work: (() => Promise<Measured>) | undefined;

  constructor(entrant: Entrant, cores: Cores) {
    this.role = entrant.role;
    this.name = entrant.name;
    this.#entrant = entrant;
    this.#cores = cores;
  }

  prepared(): Promise<void> {
    return persistent(this.name, () => inTime(this.#prepare()), () => this.stop());
  }

  measured(): Promise<Measured> {
    const work = async (): Promise<Measured> => {
      if (this.#work === undefined) await this.#prepare();
      if (this.#work === undefined) throw new Error(`${this.name} has no work`);
      return this.#work();
    };
    return persistent(this.name, () => inTime(work()), () => this.stop());
  }

  /** Ends the Worker. What is wrong with one that has failed was reported already. */
  async stop(): Promise<void> {
    const worker = this.#worker;
    this.#worker = this.#work = undefined;
    await worker?.stop().catch(() => {});
  }

  async #prepare(): Promise<void> {
    this.#worker = await this.#entrant.start();
    this.#cores.giveTo(this.#worker.pid);
    this.#work = await this.#entrant.prepare(this.#worker);
  }
}

/** The processor time of work in a Worker, in milliseconds, together with the result of the work. */
export async function computing<Given>({ pid }: Worker, work: () => Promise<Given>): Promise<[Given, number]> {
  const before = computedMs(pid);
  const given = await work();
  return [given, computedMs(pid) - before];
}

/** The outcomes of several contests of the same entrants as one. */
export function pooled(outcomes: Outcome[]): Outcome {
  const [first = [], ...others] = outcomes;
  return first.map(({ role, name, rounds }, index) => ({ role, name, rounds: [...rounds, ...others.flatMap((other) => other[index]?.rounds ?? [])] }));
}
