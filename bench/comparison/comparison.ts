// The comparison with an alternative for users, and with the cost of the platform alone.

import { digits, milliseconds, type Effort, type Section } from "../figures.ts";
import { Cores } from "../processor.ts";
import { contest, ratio, typical, type Outcome } from "./contest.ts";
import { disciplines, type Discipline, type Goal } from "./disciplines.ts";
import { deliveries, ratios } from "./pictures.ts";

/** The keys of the comparisons, for `--only`. */
export const KEYS = ["send", "get", "list", "first-event", "fan-out"];

/** Runs the comparisons with these keys. `against` is the folder of another build. */
export async function comparison(effort: Effort, keys: string[], against: string | undefined): Promise<Section[]> {
  using cores = new Cores();
  const held: [Discipline, Outcome][] = [];
  for (const discipline of disciplines(effort, against).filter(({ key }) => keys.includes(key))) {
    held.push([discipline, await contest(discipline.entrants, discipline.rounds, cores)]);
  }
  const fanOut = held.find(([{ key }]) => key === "fan-out");
  const lines = held.flatMap(([discipline, outcome]) => discipline.goals.map((goal) => ({ discipline, outcome, goal })));
  return [
    {
      title: "Comparison",
      text:
        "a2a-edge beside what a user would run instead, the official SDK for TypeScript in a Durable Object per task with D1 for listing " +
        "(`bench/baselines/sdk.ts`), and beside the cheapest way to the same on the platform without any protocol (the floor). All " +
        "run in the same runtime with the same configuration, each in a process of its own that is started for the row, and take turns; " +
        "ratios are medians of the ratios within a round. CPU is the processor time of all threads of the server's process, " +
        "D1 and storage among them. That of a stream counts from its opening to its end. The delivery of the last event counts from " +
        `the timestamp of the status in that event. ${pinning(cores)}`,
      plots: [ratios(held), ...(fanOut === undefined ? [] : [deliveries(fanOut[1])])],
      columns: [
        "", "figure", "÷ TypeScript", "goal", "met", "÷ floor", ...(against === undefined ? [] : [`÷ ${against}`]),
        "a2a-edge", ...(against === undefined ? [] : [against]), "TypeScript", "floor",
      ],
      rows: lines.map(({ discipline, outcome, goal }, index) => {
        const reached = ratio(outcome, "ours", "alternative", goal.figure);
        const shown = (role: "ours" | "against" | "alternative" | "floor") => value(goal, typical(outcome, role, goal.figure));
        return [
          lines[index - 1]?.discipline === discipline ? "" : discipline.title,
          goal.title,
          times(reached),
          `${goal.isRate === true ? "≥" : "≤"} ${goal.ratio}×`,
          isMet(goal, reached),
          times(ratio(outcome, "ours", "floor", goal.figure)),
          ...(against === undefined ? [] : [times(ratio(outcome, "ours", "against", goal.figure))]),
          shown("ours"),
          ...(against === undefined ? [] : [shown("against")]),
          shown("alternative"),
          shown("floor"),
        ];
      }),
    },
    floors(held),
  ];
}

/** All entrants with all their figures. */
function floors(held: [Discipline, Outcome][]): Section {
  const rows = held.flatMap(([discipline, outcome]) =>
    [...outcome.keys()].map((entrant, index) => {
      const own: Outcome = new Map([[entrant, outcome.get(entrant) ?? []]]);
      const figure = (name: string, show: (value: number) => string): string => shownIf(typical(own, entrant.role, name), show);
      const latency = ["p50", "firstMs", "lastMs"].map((name) => figure(name, milliseconds)).find((text) => text !== "") ?? "";
      return [index === 0 ? discipline.title : "", entrant.name, figure("cpuMs", milliseconds), figure("perSecond", digits), latency];
    }),
  );
  return {
    title: "Everything that was compared",
    text:
      "All figures of the same runs. The latency is that of a request, of the first event, or of the delivery of the last one. What follows " +
      "TypeScript are the floors: the first of each row is that of the table above, and a send needs a D1 write besides, to be listed. " +
      "The TypeScript baseline lists each change of a task's state before it shows it to anybody. The variant that gathers changes, as " +
      "a2a-edge does, forgets to list a task whose object dies meanwhile.",
    columns: ["", "what", "CPU", "per second", "latency, p50"],
    rows,
  };
}

function pinning({ arePinned }: Cores): string {
  return arePinned ? "The servers are on one core and the load on another." : "Servers and load share the cores: this machine does not let them be pinned (`taskset`).";
}

function isMet({ ratio, isRate }: Goal, reached: number): string {
  if (Number.isNaN(reached)) return "";
  return (isRate === true ? reached >= ratio : reached <= ratio) ? "yes" : "no";
}

function value({ unit }: Goal, value: number): string {
  return shownIf(value, unit === "ms" ? milliseconds : digits);
}

function times(value: number): string {
  return shownIf(value, (known) => `${digits(known)}×`);
}

function shownIf(value: number, show: (value: number) => string): string {
  return Number.isNaN(value) ? "" : show(value);
}
