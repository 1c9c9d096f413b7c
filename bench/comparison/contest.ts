// A contest: several Workers do the same work in turn, round after round, so that a disturbance of the machine affects all of them.

import { median } from "../figures.ts";
import { computedMs, type Cores } from "../processor.ts";
import type { Worker } from "../workers.ts";

/** Figures of one Worker in one round, by their names. */
export type Measured = Record<string, number>;

/** The role of an entrant: this build, another build, the alternative for users, or the platform alone. */
export type Role = "ours" | "against" | "alternative" | "floor";

/** A Worker that takes part. */
export interface Entrant {
  role: Role;
  name: string;
  start: () => Promise<Worker>;
  /** Prepares the work, warms the Worker up, and returns the work to repeat. */
  prepare: (worker: Worker) => Promise<() => Promise<Measured>>;
}

/** The figures of each entrant, in the order of the rounds. */
export type Outcome = Map<Entrant, Measured[]>;

/**
 * Runs a contest. Each contest has its own processes, so that later work of one, such as an alarm, is not counted for another contest.
 */
export async function contest(entrants: Entrant[], rounds: number, cores: Cores): Promise<Outcome> {
  const workers: Worker[] = [];
  try {
    const outcome: Outcome = new Map(entrants.map((entrant) => [entrant, []]));
    const works = new Map<Entrant, () => Promise<Measured>>();
    for (const entrant of entrants) {
      const worker = await entrant.start();
      workers.push(worker);
      cores.giveTo(worker.pid);
      works.set(entrant, await entrant.prepare(worker));
    }
    for (let round = 0; round < rounds; round++) {
      // The first entrant changes from round to round.
      for (let turn = 0; turn < entrants.length; turn++) {
        const entrant = entrants[(round + turn) % entrants.length] as Entrant;
        const measured = await works.get(entrant)?.();
        if (measured !== undefined) outcome.get(entrant)?.push(measured);
      }
    }
    return outcome;
  } finally {
    for (const worker of workers) await worker.stop();
  }
}

/** The processor time of work in a Worker, in milliseconds, together with the result of the work. */
export async function computing<Given>({ pid }: Worker, work: () => Promise<Given>): Promise<[Given, number]> {
  const before = computedMs(pid);
  const given = await work();
  return [given, computedMs(pid) - before];
}

/** The median of a figure over the rounds; NaN for a role without an entrant. */
export function typical(outcome: Outcome, role: Role, figure: string): number {
  const rounds = roundsOf(outcome, role, figure);
  return rounds.length === 0 ? NaN : median(rounds);
}

/** The median of the ratios of a figure between two entrants, each within one round. */
export function ratio(outcome: Outcome, one: Role, other: Role, figure: string): number {
  const [ours, theirs] = [roundsOf(outcome, one, figure), roundsOf(outcome, other, figure)];
  const ratios = ours.map((value, round) => value / (theirs[round] ?? NaN)).filter((value) => !Number.isNaN(value));
  return ratios.length === 0 ? NaN : median(ratios);
}

function roundsOf(outcome: Outcome, role: Role, figure: string): number[] {
  const [, rounds = []] = [...outcome].find(([entrant]) => entrant.role === role) ?? [];
  return rounds.flatMap((measured) => measured[figure] ?? []).filter((value) => !Number.isNaN(value));
}
