// Measures, prints the figures and writes docs/benchmarks.md. Started by scripts/bench.mjs, which builds first.

import { mkdirSync, writeFileSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { parseArgs } from "node:util";
import { access } from "./access.ts";
import { agents } from "./agents.ts";
import { attacks } from "./attacks/attacks.ts";
import { comparison, KEYS } from "./comparison/comparison.ts";
import { console_ } from "./console.ts";
import { costs } from "./costs.ts";
import { distance } from "./distance.ts";
import type { Effort, Section } from "./figures.ts";
import { functions } from "./functions.ts";
import { listing } from "./listing.ts";
import { load } from "./load.ts";
import { memory } from "./memory.ts";
import { page, table } from "./report.ts";
import { residents } from "./residents.ts";
import { startup } from "./startup.ts";
import { streams } from "./streams.ts";
import { webhooks } from "./webhooks.ts";
import { root } from "./workers.ts";

const { values } = parseArgs({ options: { quick: { type: "boolean" }, only: { type: "string" }, against: { type: "string" } } });
const isQuick = values.quick === true;
const gzip = process.env["A2A_BENCH_GZIP"] ?? "";
const effort: Effort = isQuick ? { rounds: 3, sliceMs: 200, streamRounds: 2, isQuick } : { rounds: 5, sliceMs: 400, streamRounds: 5, isQuick };

/** The sections by their names for `--only`; the comparison's rows have names, too. */
const benchmarks: Record<string, () => Promise<Section | Section[]>> = {
  comparison: () => comparison(effort, compared, values.against && relative(root, resolve(values.against))),
  requests: () => load(effort),
  access: () => access(effort),
  agents: () => agents(effort),
  functions: () => functions(effort),
  streams: () => streams(effort),
  webhooks: () => webhooks(effort),
  lists: () => listing(effort),
  costs: () => costs(effort),
  distance: () => distance(effort),
  attacks: () => attacks(effort),
  memory: async () => [await residents(effort), await memory(effort)],
  start: () => startup(gzip),
  console: () => console_(effort),
};

/** The sections of `--quick`, unless `--only` selects others. */
const QUICK = ["comparison", "costs", "start"];

const names = values.only?.split(",") ?? (isQuick ? QUICK : Object.keys(benchmarks));
const unknown = names.find((name) => !(name in benchmarks) && !KEYS.includes(name));
if (unknown !== undefined) {
  process.stderr.write(`There is no section "${unknown}", but these: ${[...Object.keys(benchmarks), ...KEYS].join(", ")}\n`);
  process.exit(1);
}
const compared = names.includes("comparison") ? KEYS : KEYS.filter((key) => names.includes(key));
const chosen = Object.keys(benchmarks).filter((name) => names.includes(name) || (name === "comparison" && compared.length > 0));

const sections: Section[] = [];
for (const name of chosen) {
  const begun = performance.now();
  const taken = [(await benchmarks[name]?.()) ?? []].flat();
  sections.push(...taken);
  const seconds = Math.round((performance.now() - begun) / 1000);
  for (const section of taken) process.stdout.write(`\n==> ${section.title} (${seconds} s)\n\n${table(section)}\n`);
}

const isWhole = !isQuick && values.only === undefined && values.against === undefined;
if (isWhole) {
  mkdirSync(join(root, "docs"), { recursive: true });
  writeFileSync(join(root, "docs", "benchmarks.md"), page(sections));
  for (const { name, svg } of sections.flatMap(({ plots = [] }) => plots)) writeFileSync(join(root, "docs", `${name}.svg`), svg);
  process.stdout.write("\nWritten to docs/benchmarks.md.\n");
}
process.exit();
