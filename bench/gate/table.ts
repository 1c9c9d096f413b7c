// The stored costs of operations in bench/costs.json.
//
// `npm test` fails if the cost of an operation changes, even if it decreases: docs/scale.md is computed from the file, and an
// improvement must be stored. `npm run costs` writes both files.

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Counts } from "../counted.ts";
import { root } from "../workers.ts";

/** The stored counts of an operation. */
export const KEPT = [
  "objectRequests", "webSocketMessages", "alarms", "alarmsSet", "objectRowsWritten", "statements", "rowsRead", "rowsWritten",
  "queueSends", "queueMessages", "callsIn", "callsOut",
] as const satisfies (keyof Counts)[];

export type Kept = Record<(typeof KEPT)[number], number>;

/** Costs by the names of operations. */
export type Table = Record<string, Kept>;

const FILE = join(root, "bench", "costs.json");

/** Reads the stored table. */
export function readTable(): Table {
  return JSON.parse(readFileSync(FILE, "utf8")) as Table;
}

/** Stores a table, with one operation per line. */
export function writeTable(table: Table): void {
  const lines = Object.entries(table).map(([name, kept]) => `  ${JSON.stringify(name)}: ${JSON.stringify(kept).replaceAll(",", ", ").replaceAll(":", ": ")}`);
  writeFileSync(FILE, `{\n${lines.join(",\n")}\n}\n`);
}

/** The differences between two lines of the table, in words; empty if there are none. */
export function differences(name: string, expected: Kept, measured: Kept): string[] {
  return KEPT.flatMap((kept) => {
    // The file may be older than a newly stored count.
    const [before, now] = [(expected as Partial<Kept>)[kept] ?? 0, measured[kept]];
    if (Math.abs(now - before) <= before * margin(name, kept) || isUncounted(kept, expected, now - before)) return [];
    return `${kept} ${now > before ? "grew" : "shrank"} from ${before} to ${now}`;
  });
}

/** A table in which a count has the value of another one if both are the same but for tasks that are not counted yet. */
export function withoutNoise(before: Table, now: Table): Table {
  const read = (name: string, kept: Kept): number => {
    const expected = before[name];
    return expected !== undefined && isUncounted("rowsRead", expected, kept.rowsRead - expected.rowsRead) ? expected.rowsRead : kept.rowsRead;
  };
  return Object.fromEntries(Object.entries(now).map(([name, kept]) => [name, { ...kept, rowsRead: read(name, kept) }]));
}

/**
 * The rows that a write or a list reads for tasks that are not counted yet: 32 that the triggers leave uncounted (migrations/0002_fewer_rows.sql), and the
 * entries on the way to them.
 */
const UNCOUNTED = 36;

/** True if a difference is one of tasks that are not counted yet. */
function isUncounted(kept: keyof Kept, { statements }: Kept, difference: number): boolean {
  return kept === "rowsRead" && Math.abs(difference) <= UNCOUNTED * statements;
}

/**
 * The relative difference that counts may have. Notifications interleave with other work in any order, frames of streams arrive one or
 * two at a time, answers of other agents and models arrive in any pieces, and a key may be imported together with other work of a
 * first token or separately.
 */
function margin(name: string, kept: keyof Kept): number {
  if (name === "a task of 10 steps with a webhook") return 0.15;
  // On a busy machine its four events cross one by one, which is most of its cost.
  if (name.startsWith("SendStreamingMessage") && kept.startsWith("calls")) return 0.15;
  if (/a front of|asks a model|behind HTTP/.test(name) && kept.startsWith("calls")) return 0.1;
  return /stream|JWT that is new/i.test(name) && kept.startsWith("calls") ? 0.05 : 0;
}
