// What operations cost, as bench/costs.json keeps it.
//
// `npm test` fails when an operation costs something else, be it less: docs/scale.md is computed from the file, and what was
// gained is kept. `npm run costs` writes both.

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Counts } from "../counted.ts";
import { root } from "../workers.ts";

/** What is kept of an operation's counts. */
export const KEPT = [
  "objectRequests", "webSocketMessages", "alarms", "alarmsSet", "objectRowsWritten", "statements", "rowsRead", "rowsWritten",
  "queueSends", "queueMessages", "callsIn", "callsOut",
] as const satisfies (keyof Counts)[];

export type Kept = Record<(typeof KEPT)[number], number>;

/** Costs by the names of operations. */
export type Table = Record<string, Kept>;

const FILE = join(root, "bench", "costs.json");

/** The table that is kept. */
export function readTable(): Table {
  return JSON.parse(readFileSync(FILE, "utf8")) as Table;
}

/** Keeps another one, with an operation in each line. */
export function writeTable(table: Table): void {
  const lines = Object.entries(table).map(([name, kept]) => `  ${JSON.stringify(name)}: ${JSON.stringify(kept).replaceAll(",", ", ").replaceAll(":", ": ")}`);
  writeFileSync(FILE, `{\n${lines.join(",\n")}\n}\n`);
}

/** What differs between two lines of the table, in words; empty where nothing does. `left` names what is not compared. */
export function differences(name: string, expected: Kept, measured: Kept, left: readonly string[] = []): string[] {
  return KEPT.filter((kept) => !left.includes(kept)).flatMap((kept) => {
    // The file may be older than a name that is kept.
    const [before, now] = [(expected as Partial<Kept>)[kept] ?? 0, measured[kept]];
    if (Math.abs(now - before) <= before * margin(name, kept)) return [];
    return `${kept} ${now > before ? "grew" : "shrank"} from ${before} to ${now}`;
  });
}

/**
 * By which part counts may differ: notifications come in any order with what is done meanwhile, frames of streams one or
 * two at a time, what is heard from another agent or a model comes in any pieces, and a key may be imported with or before what else a
 * first token waits for.
 */
function margin(name: string, kept: keyof Kept): number {
  if (name === "a task of 10 steps with a webhook") return 0.15;
  // Its four events cross one by one where the machine is busy, which is most of what it costs.
  if (name.startsWith("SendStreamingMessage") && kept.startsWith("calls")) return 0.15;
  if (/a front of|asks a model|behind HTTP/.test(name) && kept.startsWith("calls")) return 0.1;
  return /stream|JWT that is new/i.test(name) && kept.startsWith("calls") ? 0.05 : 0;
}
