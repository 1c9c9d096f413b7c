// Measures, prints the figures, and stores them in bench/results.json, of which docs/benchmarks.md is made. Started by scripts/bench.mjs, which builds first.

import { relative, resolve } from "node:path";
import { parseArgs } from "node:util";
import { access } from "./access.ts";
import { agents } from "./agents.ts";
import { attacks } from "./attacks/attacks.ts";
import { compare, type Compared } from "./comparison/compared.ts";
import { persistent, pooled, type Outcome } from "./comparison/contest.ts";
import { disciplines } from "./comparison/disciplines.ts";
import { everything, goals } from "./comparison/tables.ts";
import { console_ } from "./console.ts";
import { costs } from "./costs.ts";
import { distance } from "./distance.ts";
import type { Effort, Section } from "./figures.ts";
import { functions } from "./functions.ts";
import { listing } from "./listing.ts";
import { load } from "./load.ts";
import { memory } from "./memory.ts";
import { Cores } from "./processor.ts";
import { isDiscipline, QUICK, selected, type DisciplineKey, type Key, type SectionKey } from "./results/keys.ts";
import { originNow } from "./results/origin.ts";
import { tableText } from "./results/page.ts";
import { merged, type Results } from "./results/results.ts";
import { store } from "./results/write.ts";
import { size } from "./size.ts";
import { steps } from "./steps.ts";
import { streams } from "./streams.ts";
import { telemetry } from "./telemetry.ts";
import { webhooks } from "./webhooks.ts";
import { root } from "./workers.ts";

const { values } = parseArgs({
  options: { quick: { type: "boolean" }, only: { type: "string" }, against: { type: "string" }, runs: { type: "string", default: "1" } },
});
const isQuick = values.quick === true;
const against = values.against && relative(root, resolve(values.against));
const effort: Effort = isQuick ? { rounds: 3, sliceMs: 200, streamRounds: 2, isQuick } : { rounds: 5, sliceMs: 400, streamRounds: 5, isQuick };

const origin = originNow();

/** How often a section that fails is measured again. */
const REPEATS = 1;

/** `project` is measured by `npm run bench:start`. */
const benchmarks: Record<Exclude<SectionKey, "project">, () => Promise<Section | Section[]>> = {
  steps: () => steps(effort),
  size: () => size(),
  requests: () => load(effort),
  access: () => access(effort),
  telemetry: () => telemetry(effort),
  agents: () => agents(effort),
  functions: () => functions(effort),
  streams: () => streams(effort),
  webhooks: () => webhooks(effort),
  lists: () => listing(effort),
  costs: () => costs(effort),
  distance: () => distance(effort),
  attacks: () => attacks(effort),
  bodies: () => memory(effort),
  console: () => console_(effort),
};

const isMeasured = (key: Key): key is Exclude<Key, "project"> => key !== "project";
const keys = chosen().filter(isMeasured);
const contests = disciplines(effort, against);
const outcomes = new Map<DisciplineKey, Outcome[]>();
const tables = new Map<SectionKey, Section[][]>();
const failed: string[] = [];
const runs = Number(values.runs);

for (let run = 1; run <= runs; run++) {
  for (const key of keys) await take(key, runs === 1 ? "" : `run ${run} of ${runs}: `);
  // What was measured so far is stored after each run.
  if (!isQuick && against === undefined) store(results());
}
if (!isQuick && against === undefined) process.stdout.write("\nWritten to bench/results.json, docs/benchmarks.md and docs/comparison.md.\n");
if (failed.length > 0) process.stderr.write(`\nNot measured, see above: ${failed.join(", ")}\n`);
process.exit(failed.length > 0 ? 1 : 0);

function chosen(): Key[] {
  try {
    const names = values.only?.split(",");
    if (names?.includes("project")) throw new Error("The section project is measured by `npm run bench:start`.");
    return selected(names ?? (isQuick ? QUICK : ["comparison", ...Object.keys(benchmarks)]));
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n`);
    process.exit(1);
  }
}

/** Measures one of the keys, and prints it. One that fails twice is left out. */
async function take(key: Exclude<Key, "project">, which: string): Promise<void> {
  const begun = performance.now();
  try {
    const taken = await persistent(key, () => (isDiscipline(key) ? contested(key) : sectioned(key)), undefined, REPEATS);
    const seconds = Math.round((performance.now() - begun) / 1000);
    for (const section of taken) process.stdout.write(`\n==> ${which}${section.title} (${key}, ${seconds} s)\n\n${tableText(section)}\n`);
  } catch (error) {
    process.stderr.write(`\n${key} was not measured: ${(error as Error).stack}\n`);
    failed.push(`${which}${key}`);
  }
}

async function contested(key: DisciplineKey): Promise<Section[]> {
  using cores = new Cores();
  const outcome = await contests[key].hold(cores);
  outcomes.set(key, [...(outcomes.get(key) ?? []), outcome]);
  const compared = comparedOf(key);
  return [goals([compared], against), everything([compared])];
}

async function sectioned(key: keyof typeof benchmarks): Promise<Section[]> {
  const taken = [await benchmarks[key]()].flat();
  tables.set(key, [...(tables.get(key) ?? []), taken]);
  return taken;
}

function comparedOf(key: DisciplineKey): Compared {
  const { title, figures } = contests[key];
  return compare(title, figures, pooled(outcomes.get(key) ?? []));
}

/** Everything that was measured so far, in all runs. */
function results(): Results {
  return {
    compared: Object.fromEntries([...outcomes].map(([key, all]) => [key, { ...comparedOf(key), origin: { ...origin, runs: all.length } }])),
    sections: Object.fromEntries([...tables].map(([key, all]) => [key, { origin: { ...origin, runs: all.length }, tables: merged(all) }])),
  };
}
