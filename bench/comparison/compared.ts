// What a contest has shown: the medians of its figures, and what they are compared with. Plain data, which bench/results.json keeps.

import { median, spreadOf, type Spread } from "../figures.ts";
import type { Measured, Named, Outcome, Role } from "./contest.ts";

/** A figure of a contest. */
export interface Figure {
  /** The name of the measured figure. */
  name: string;
  /** The title in the table, for example `CPU of a request`. */
  title: string;
  /** What follows the number. */
  unit: " ms" | " KB" | "";
  goal?: Goal;
}

/** A goal: a limit for the figure itself, or for its ratio to that of another entrant or its difference from it. */
export interface Goal {
  to?: "alternative" | "floor";
  by?: "ratio" | "difference";
  limit: number;
  /** True if larger figures are better. */
  isRate?: boolean;
}

/** A figure of all roles. */
export interface ComparedFigure extends Figure {
  /** The medians, by role. */
  values: Partial<Record<Role, number>>;
  /** The ratios to other roles. */
  ratios: Partial<Record<Role, Spread>>;
  /** What the goal limits. */
  reached?: Spread;
}

/** All figures of one entrant: their medians, by name. */
export interface ComparedEntrant extends Named {
  medians: Measured;
}

/** The results of one contest. */
export interface Compared {
  title: string;
  figures: ComparedFigure[];
  entrants: ComparedEntrant[];
}

/** The rounds that a goal needs. */
export const LEAST_ROUNDS = 15;

/** How far the interval may be beyond the goal. */
const TOLERANCE = 0.05;

/** Compares the figures of a contest. */
export function compare(title: string, figures: Figure[], outcome: Outcome): Compared {
  return { title, figures: figures.map((figure) => comparedFigure(figure, outcome)), entrants: outcome.map(({ role, name, rounds }) => ({ role, name, medians: mediansOf(rounds) })) };
}

function comparedFigure(figure: Figure, outcome: Outcome): ComparedFigure {
  const roles = [...new Set(outcome.map(({ role }) => role))];
  const ours = roundsOf(outcome, "ours", figure.name);
  const ratiosTo = (role: Role): number[] => paired(ours, roundsOf(outcome, role, figure.name), (own, other) => own / other);
  const known = <Value>(of: (role: Role) => Value | undefined): Partial<Record<Role, Value>> =>
    Object.fromEntries(roles.flatMap((role) => {
      const value = of(role);
      return value === undefined ? [] : [[role, value]];
    }));
  const reached = figure.goal && spreadOf(limited(figure.goal, ours, (role) => roundsOf(outcome, role, figure.name)));
  return {
    ...figure,
    values: known((role) => spreadOf(roundsOf(outcome, role, figure.name).filter((value) => !Number.isNaN(value)))?.value),
    ratios: known((role) => (role === "ours" ? undefined : spreadOf(ratiosTo(role)))),
    ...(reached && { reached }),
  };
}

/** What a goal limits, in each round. */
function limited({ to, by }: Goal, ours: number[], roundsOf: (role: Role) => number[]): number[] {
  if (to === undefined) return ours.filter((value) => !Number.isNaN(value));
  return paired(ours, roundsOf(to), (own, other) => (by === "difference" ? own - other : own / other));
}

/** Ratios and differences are taken within a round. */
function paired(ours: number[], others: number[], combine: (own: number, other: number) => number): number[] {
  return ours.map((own, round) => combine(own, others[round] ?? NaN)).filter((value) => !Number.isNaN(value));
}

/** The figure of the first entrant with this role, in each round. */
function roundsOf(outcome: Outcome, role: Role, figure: string): number[] {
  const rounds = outcome.find((taken) => taken.role === role)?.rounds ?? [];
  return rounds.map((measured) => measured[figure] ?? NaN);
}

/** The medians of all figures, by name. */
export function mediansOf(rounds: Measured[]): Measured {
  const names = [...new Set(rounds.flatMap((measured) => Object.keys(measured)))];
  return Object.fromEntries(names.flatMap((name) => {
    const values = rounds.flatMap((measured) => measured[name] ?? []).filter((value) => !Number.isNaN(value));
    return values.length === 0 ? [] : [[name, median(values)]];
  }));
}

/**
 * Whether a goal was met: the end of the 90 % interval that is farther away may be beyond it by 5 %. Undefined while there are too few rounds.
 */
export function isMet({ limit, isRate }: Goal, { low, high, rounds }: Spread): boolean | undefined {
  if (rounds < LEAST_ROUNDS || low === undefined || high === undefined) return undefined;
  return isRate === true ? low >= limit * (1 - TOLERANCE) : high <= limit * (1 + TOLERANCE);
}
