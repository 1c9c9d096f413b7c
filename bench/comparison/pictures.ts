// The comparison as pictures.

import { bars, lines, type Plot } from "../plots/svg.ts";
import { ratio, typical, type Entrant, type Outcome } from "./contest.ts";
import type { Discipline } from "./disciplines.ts";
import { curveKey, PERCENTILES } from "./streams.ts";

/** All figures as ratios to the alternative, with marks at the goals. */
export function ratios(held: [Discipline, Outcome][]): Plot {
  const groups = held.flatMap(([{ title, goals }, outcome]) =>
    goals.map(({ figure, title: what, ratio: goal }) => ({
      title: `${title.split(/[,;]/)[0]}: ${what.replace(/, p50$/, "")}`,
      values: [ratio(outcome, "ours", "alternative", figure), 1, ratio(outcome, "floor", "alternative", figure)],
      goal,
    })),
  );
  return {
    name: "benchmarks-comparison",
    alt: "Each figure of the table below as a bar for a2a-edge, for TypeScript, which is 1, and for the floor; a mark shows the goal",
    svg: bars(["a2a-edge", "TypeScript = 1", "floor"], groups, "×"),
  };
}

/** The part of the streams that have received the last event, over time. */
export function deliveries(outcome: Outcome): Plot {
  const shown = [...outcome.keys()].filter(({ role }) => role !== "against");
  const line = (entrant: Entrant) => {
    const own: Outcome = new Map([[entrant, outcome.get(entrant) ?? []]]);
    return { name: entrant.name, points: PERCENTILES.map((percent): [number, number] => [typical(own, entrant.role, curveKey(percent)), percent]) };
  };
  return {
    name: "benchmarks-streams",
    alt: "How many of the streams on one task had its last event after how many milliseconds, for a2a-edge, TypeScript and the floor",
    svg: lines(shown.map(line), ["ms since the event", "% of the streams"]),
  };
}
