// What was measured, as data: bench/results.json. docs/benchmarks.md, its pictures and figures of docs/comparison.md are made of it.

import { readFileSync, writeFileSync } from "node:fs";
import type { Compared } from "../comparison/compared.ts";
import { digits, median, type Section } from "../figures.ts";
import { DISCIPLINES, SECTIONS, type DisciplineKey, type Key, type SectionKey } from "./keys.ts";

/** When and where something was measured. */
export interface Origin {
  date: string;
  /** The commit of the measured build; with changes, if files differed from it. */
  revision: string;
  machine: string;
  storage: string;
  software: string;
  /** The number of runs: sections have the medians of them, comparisons the rounds of all. */
  runs: number;
}

/** The results by the names of keys.ts. */
export interface Results {
  compared: Partial<Record<DisciplineKey, Compared & { origin: Origin }>>;
  sections: Partial<Record<SectionKey, { origin: Origin; tables: Section[] }>>;
}

const FILE = new URL("../results.json", import.meta.url);

export const readResults = (): Results => JSON.parse(readFileSync(FILE, "utf8")) as Results;

/** Stores results in the order of keys.ts, with one line for each value of their tables. */
export function writeResults({ compared, sections }: Results): void {
  const ordered = <Name extends string, Value>(names: readonly Name[], all: Partial<Record<Name, Value>>) =>
    Object.fromEntries(names.flatMap((name) => (all[name] === undefined ? [] : [[name, all[name]]])));
  const text = JSON.stringify({ compared: ordered(DISCIPLINES, compared), sections: ordered(SECTIONS, sections) }, null, 1);
  // Lists without objects are on one line.
  writeFileSync(FILE, `${text.replace(/\[\s+((?:"(?:[^"\\]|\\.)*"|[-\w.]+)(?:,\s+(?:"(?:[^"\\]|\\.)*"|[-\w.]+))*)\s+\]/g, (_, items: string) => `[${items.replace(/,\s*\n\s*/g, ", ")}]`)}\n`);
}

/** New results beside older ones of what was not measured again. */
export const combined = (before: Results, taken: Results): Results => ({
  compared: { ...before.compared, ...taken.compared },
  sections: { ...before.sections, ...taken.sections },
});

/** The origins of all results that there are, in the order of keys.ts. */
export const origins = ({ compared, sections }: Results): [Key, Origin][] =>
  [...DISCIPLINES.map((key) => [key, compared[key]?.origin] as const), ...SECTIONS.map((key) => [key, sections[key]?.origin] as const)]
    .flatMap(([key, origin]): [Key, Origin][] => (origin === undefined ? [] : [[key, origin]]));

/** The same tables of several runs as one: each number is the median of the runs. */
export function merged(runs: Section[][]): Section[] {
  const [first = [], ...others] = runs;
  return first.map((table, index) => ({
    ...table,
    rows: table.rows.map((row, line) => row.map((cell, column) => mergedCell([cell, ...others.map((run) => run[index]?.rows[line]?.[column] ?? cell)]))),
  }));
}

const NUMBER = /\d[\d,]*(?:\.\d+)?/g;

/** Cells that differ in more than their numbers stay as the first run had them. */
function mergedCell(cells: string[]): string {
  const [first = ""] = cells;
  if (cells.some((cell) => cell.replace(NUMBER, "") !== first.replace(NUMBER, ""))) return first;
  let position = -1;
  return first.replace(NUMBER, (written) => {
    position += 1;
    const numbers = cells.map((cell) => Number((cell.match(NUMBER)?.[position] ?? written).replaceAll(",", "")));
    return numbers.every((number) => number === numbers[0]) ? written : digits(median(numbers));
  });
}
