// The figures in docs/comparison.md: what is between two comments of the page is made of the results.

import { wrapped } from "../../scripts/lib/wrap.mjs";
import type { ComparedFigure } from "../comparison/compared.ts";
import { digits } from "../figures.ts";
import { tableOf } from "../markdown.ts";
import type { DisciplineKey } from "./keys.ts";
import type { Origin, Results } from "./results.ts";

/** The page with the figures of these results. Throws if the page has no place for them. */
export function withFigures(text: string, results: Results): string {
  return Object.entries(PARTS).reduce((page, [name, make]) => replaced(page, name, make(results)), text);
}

/** The parts of the page, by the names in their comments. */
const PARTS: Record<string, (results: Results) => string> = { sdk: besideSdk, agents: besideAgents };

function replaced(page: string, name: string, text: string): string {
  const [begin, end] = [`<!-- figures of ${name}, written by npm run bench -->`, `<!-- end of the figures of ${name} -->`];
  const [from, to] = [page.indexOf(begin), page.indexOf(end)];
  if (from < 0 || to < from) throw new Error(`docs/comparison.md has no ${begin}`);
  return `${page.slice(0, from)}${begin}\n\n${wrapped(text)}\n\n${page.slice(to)}`;
}

/** Rows of the table: the title, and the figure of a comparison. */
const SDK_ROWS: [string, DisciplineKey, string][] = [
  ["CPU of a send", "send", "cpuMs"],
  ["CPU of GetTask", "get", "cpuMs"],
  ["CPU of a list of 20", "list", "cpuMs"],
  ["first event of a stream", "first-event", "firstMs"],
  ["CPU of one of 200 streams on a task", "fan-out", "cpuMs"],
  ["CPU of a streamed answer of 500 chunks", "chunks", "cpuMs"],
  ["its rows for each chunk", "chunks", "rowsPerChunk"],
  ["longest hold of a chunk", "chunks", "longestMs"],
  ["memory of a task at work", "memory", "taskKb"],
  ["memory of an idle stream", "memory", "streamKb"],
];

function besideSdk({ compared, sections }: Results): string {
  const { rows, origins } = figuresOf(compared, SDK_ROWS, "alternative");
  const far = sections.distance?.tables[0]?.rows;
  const farSend = (name: string): string => far?.find(([who]) => who === name)?.[1] ?? "";
  if (far !== undefined) rows.push(["a send, with D1 30 ms away", farSend("a2a-edge"), farSend("TypeScript"), ""]);
  const upload = sections.size?.tables[0]?.rows[0];
  if (upload !== undefined) rows.push(["upload, gzip", upload[1] ?? "", upload[4] ?? "", ""]);
  return `${measured([...origins, far && sections.distance?.origin, upload && sections.size?.origin])}\n\n${tableOf(["", "a2a-edge", "the SDK", "ratio"], rows)}`;
}

const AGENTS_ROWS: [string, DisciplineKey, string][] = [
  ["first event of a stream", "first-event", "firstMs"],
  ["CPU of a stream of a quick task", "first-event", "cpuMs"],
  ["CPU of one of 200 streams on a task", "fan-out", "cpuMs"],
  ["delivery of the last event to 200 streams", "fan-out", "lastMs"],
  ["CPU of a streamed answer of 500 chunks", "chunks", "cpuMs"],
  ["its rows for each chunk", "chunks", "rowsPerChunk"],
  ["longest hold of a chunk", "chunks", "longestMs"],
];

function besideAgents({ compared, sections }: Results): string {
  const { rows, origins } = figuresOf(compared, AGENTS_ROWS, "agents");
  const steps = sections.steps?.tables[0]?.rows ?? [];
  rows.push(...steps.map(([title = "", ours = "", theirs = ""]) => [title, ours, theirs, ""]));
  const upload = sections.size?.tables[0]?.rows[0];
  if (upload !== undefined) rows.push(["upload, gzip", upload[1] ?? "", upload[5] ?? "", ""]);
  return `${measured([...origins, sections.steps?.origin, upload && sections.size?.origin])}\n\n${tableOf(["", "a2a-edge", "`agents` 0.32", "ratio"], rows)}`;
}

/** The rows of which the other side has a figure, and where they come from. */
function figuresOf(compared: Results["compared"], rows: [string, DisciplineKey, string][], role: "alternative" | "agents"): { rows: string[][]; origins: (Origin | undefined)[] } {
  const found = rows.flatMap(([title, key, name]) => {
    const figure = compared[key]?.figures.find((one) => one.name === name);
    if (figure?.values[role] === undefined) return [];
    return { row: [title, shown(figure, "ours"), shown(figure, role), ratio(figure, role)], origin: compared[key]?.origin };
  });
  return { rows: found.map(({ row }) => row), origins: found.map(({ origin }) => origin) };
}

const shown = ({ values, unit }: ComparedFigure, role: "ours" | "alternative" | "agents"): string => {
  const value = values[role];
  return value === undefined ? "" : `${digits(value)}${unit}`;
};

const ratio = ({ ratios }: ComparedFigure, role: "alternative" | "agents"): string => {
  const spread = ratios[role];
  return spread === undefined ? "" : `${digits(spread.value)}×`;
};

/** The dates and revisions of the figures. */
function measured(origins: (Origin | undefined)[]): string {
  const known = new Set(origins.flatMap((origin) => (origin === undefined ? [] : `${origin.date} at ${origin.revision}`)));
  return `Measured on ${[...known].join(", and on ")}, in the runs of [benchmarks](benchmarks.md): one machine with two cores, everything local, so only ratios mean something.`;
}
