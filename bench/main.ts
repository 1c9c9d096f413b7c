// Takes all figures, prints them and writes docs/benchmarks.md. Started by scripts/bench.mjs, which builds first.

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { costs } from "./costs.ts";
import type { Effort, Section } from "./figures.ts";
import { listing } from "./listing.ts";
import { load } from "./load.ts";
import { memory } from "./memory.ts";
import { page, table } from "./report.ts";
import { startup } from "./startup.ts";
import { streams } from "./streams.ts";
import { webhooks } from "./webhooks.ts";
import { root } from "./workers.ts";

const isQuick = process.argv.includes("--quick");
const gzip = process.env["A2A_BENCH_GZIP"] ?? "";
const effort: Effort = isQuick ? { rounds: 3, sliceMs: 200, streamRounds: 2, isQuick } : { rounds: 7, sliceMs: 400, streamRounds: 5, isQuick };

const sections: Section[] = [];
for (const benchmark of [load, streams, webhooks, listing, costs, memory, () => startup(gzip)]) {
  const begun = performance.now();
  const section = await benchmark(effort);
  sections.push(section);
  const seconds = Math.round((performance.now() - begun) / 1000);
  process.stdout.write(`\n==> ${section.title} (${seconds} s)\n\n${table(section)}\n`);
}

if (!isQuick) {
  mkdirSync(join(root, "docs"), { recursive: true });
  writeFileSync(join(root, "docs", "benchmarks.md"), page(sections));
  process.stdout.write("\nWritten to docs/benchmarks.md.\n");
}
process.exit();
