// Stores results, and writes the pages that are made of them.

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../workers.ts";
import { withFigures } from "./comparison-page.ts";
import { page, plots } from "./page.ts";
import { combined, readResults, writeResults, type Results } from "./results.ts";

/** Puts new results in the place of those that are stored, and leaves others as they are. */
export function store(taken: Results): void {
  const results = combined(readResults(), taken);
  writeResults(results);
  const docs = (name: string): string => join(root, "docs", name);
  writeFileSync(docs("benchmarks.md"), page(results));
  for (const { name, svg } of plots(results)) writeFileSync(docs(`${name}.svg`), svg);
  writeFileSync(docs("comparison.md"), withFigures(readFileSync(docs("comparison.md"), "utf8"), results));
}
