// The tables of the comparison.

import { digits, milliseconds, type Section, type Spread } from "../figures.ts";
import { isMet, LEAST_ROUNDS, type Compared, type ComparedEntrant, type ComparedFigure, type Goal } from "./compared.ts";
import type { Role } from "./contest.ts";

const NAMES: Record<Exclude<Role, "against">, string> = { ours: "a2a-edge", alternative: "TypeScript", agents: "`agents`", floor: "floor" };

/** All figures beside their goals. `against` is the folder of another build, if there is one. */
export function goals(all: Compared[], against?: string): Section {
  const roles: [Role, string][] = [["ours", NAMES.ours], ...(against === undefined ? [] : [["against", against] as [Role, string]]), ["alternative", NAMES.alternative], ["agents", NAMES.agents], ["floor", NAMES.floor]];
  const others = roles.slice(1);
  return {
    title: "Comparison",
    text:
      "a2a-edge beside what a user would run instead, and beside the cheapest way to the same on the platform without any protocol (the floor). TypeScript is the official SDK in " +
      "a Durable Object per task with D1 for listing (`bench/baselines/sdk.ts`). `agents` is Cloudflare's agents SDK: a durable task with a resumable stream in an object per task " +
      "(`bench/baselines/agents/worker.js`). It is no server of A2A (no states of tasks, lists, cards or webhooks, and nothing is written to D1), so only streams and steps " +
      "are compared with it. All run in the same runtime, each in a process of its own that is started for the row, and take turns; ratios are medians of the ratios within a round. " +
      "Of sends, reads and lists all make the same number in each round, since what an object costs grows with the number of objects that a process has made. " +
      "CPU is the processor time of all threads of the server's process, D1 and storage among them. That of a stream counts from its opening to its end. The delivery of the last " +
      "event counts from the timestamp of the status in that event; the hold of a chunk counts from the time at which the executor gave it, which is in its text, to its arrival. " +
      "The memory of a task and of a stream is what the process grows by for each of many; the floor is an object with a row, an alarm and a row in D1, and a hibernating socket " +
      "whose other end the front Worker has. A floor has what the protocol requires of any server: a send waits until its task is listed, a page has its total, the first event of a stream " +
      "is as long as a task and waits for a row and an alarm, a stream is opened by a POST with a body. " +
      `The interval contains the true median with a probability of 90 %. A goal is met if the farther end of the interval is within 5 % of it, over at least ${LEAST_ROUNDS} rounds.`,
    columns: ["", "figure", "goal", "reached", "interval", "met", ...others.map(([, name]) => `÷ ${name}`), ...roles.map(([, name]) => name)],
    rows: all.flatMap(({ title, figures }) =>
      figures.map((figure, index) => [
        index === 0 ? title : "",
        figure.title,
        figure.goal === undefined ? "" : goalOf(figure.goal, figure.unit),
        figure.goal === undefined || figure.reached === undefined ? "" : limited(figure.goal, figure.unit, figure.reached.value),
        intervalOf(figure),
        metOf(figure),
        ...others.map(([role]) => ratio(figure.ratios[role])),
        ...roles.map(([role]) => shown(figure.values[role], figure.unit)),
      ]),
    ),
  };
}

/** All entrants with all their figures. */
export function everything(all: Compared[]): Section {
  const rows = all.flatMap(({ title, figures, entrants }) =>
    entrants.map((entrant, index) => {
      const { cpuMs, perSecond, p50, firstMs, lastMs } = entrant.medians;
      const latency = p50 ?? firstMs ?? lastMs;
      return [
        index === 0 ? title : "", entrant.name, shown(cpuMs, " ms"), shown(perSecond, ""), latency === undefined ? "" : milliseconds(latency), further(figures, entrant),
      ];
    }),
  );
  return {
    title: "Everything that was compared",
    text:
      "All figures of the same runs. The latency is that of a request, of the first event or chunk, or of the delivery of the last one. What follows " +
      "TypeScript are `agents` and the floors: the first floor of each row is that of the table above. " +
      "The TypeScript baseline lists each change of a task's state before it shows it to anybody. The variant that gathers changes, as " +
      "a2a-edge does, forgets to list a task whose object dies meanwhile.",
    columns: ["", "what", "CPU", "per second", "latency, p50", "further"],
    rows,
  };
}

const COLUMNS = ["cpuMs", "perSecond", "p50", "firstMs", "lastMs"];

function further(figures: ComparedFigure[], { medians }: ComparedEntrant): string {
  const others = figures.filter(({ name }) => !COLUMNS.includes(name) && medians[name] !== undefined);
  return others.map(({ name, title, unit }) => `${title}: ${shown(medians[name], unit)}`).join("; ");
}

function goalOf(goal: Goal, unit: string): string {
  const to = goal.to === undefined ? "" : goal.by === "difference" ? " more than the floor" : ` ${goal.to === "alternative" ? NAMES.alternative : NAMES.floor}`;
  return `${goal.isRate === true ? "≥" : "≤"} ${limited(goal, unit, goal.limit)}${to}`;
}

/** What a goal limits, with its unit. */
function limited({ to, by }: Goal, unit: string, value: number): string {
  return `${digits(value)}${to === undefined || by === "difference" ? unit : "×"}`;
}

function intervalOf({ goal, reached }: ComparedFigure): string {
  if (goal === undefined || reached?.low === undefined || reached.high === undefined) return "";
  return `${digits(reached.low)} to ${digits(reached.high)}`;
}

function metOf({ goal, reached }: ComparedFigure): string {
  if (goal === undefined || reached === undefined) return "";
  const met = isMet(goal, reached);
  return met === undefined ? `${Math.min(reached.rounds, LEAST_ROUNDS)} of ${LEAST_ROUNDS} rounds` : met ? "yes" : "no";
}

const ratio = (spread: Spread | undefined): string => (spread === undefined ? "" : `${digits(spread.value)}×`);

const shown = (value: number | undefined, unit: string): string => (value === undefined ? "" : `${digits(value)}${unit}`);
