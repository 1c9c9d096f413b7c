// The comparison as pictures.

import { bars, lines, type Plot } from "../plots/svg.ts";
import type { Compared } from "./compared.ts";
import { curveKey, PERCENTILES } from "./curve.ts";

/** All figures of which TypeScript has one, too, as ratios to it, with marks at the goals that are set against it. */
export function ratios(all: Compared[]): Plot {
  const groups = all.flatMap(({ title, figures }) =>
    figures.filter(({ values }) => values.alternative !== undefined && values.ours !== undefined).map(({ title: what, values, ratios, goal }) => ({
      title: `${title.split(/[,;]/)[0]}: ${what.replace(/, p50$/, "")}`,
      values: [ratios.alternative?.value ?? NaN, 1, values.floor === undefined ? NaN : values.floor / (values.alternative ?? NaN)],
      ...(goal?.to === "alternative" && { goal: goal.limit }),
    })),
  );
  return {
    name: "benchmarks-comparison",
    alt: "Figures of the table below as bars for a2a-edge, for TypeScript, which is 1, and for the floor; marks show the goals that are set against TypeScript",
    svg: bars(["a2a-edge", "TypeScript = 1", "floor"], groups, "×"),
  };
}

/** The part of the streams that have received the last event, over time; undefined if that was not measured. */
export function deliveries(all: Compared[]): Plot | undefined {
  const shown = all.flatMap(({ entrants }) => entrants).filter(({ role, medians }) => role !== "against" && medians[curveKey(50)] !== undefined);
  if (shown.length === 0) return undefined;
  const line = ({ name, medians }: (typeof shown)[number]) => ({
    name,
    points: PERCENTILES.map((percent): [number, number] => [medians[curveKey(percent)] ?? NaN, percent]).filter(([at]) => !Number.isNaN(at)),
  });
  return {
    name: "benchmarks-streams",
    alt: "How many of the streams on one task had its last event after how many milliseconds, for each server",
    svg: lines(shown.map(line), ["ms since the event", "% of the streams"]),
  };
}
