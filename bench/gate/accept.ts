// `npm run costs`: measures the current costs of operations, and writes bench/costs.json and docs/scale.md.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { scalePage } from "../scale/page.ts";
import { root } from "../workers.ts";
import { measureAll } from "./operations.ts";
import { differences, readTable, withoutNoise, writeTable } from "./table.ts";

const before = readTable();
const table = withoutNoise(before, await measureAll());
for (const [name, kept] of Object.entries(table)) {
  const expected = before[name];
  const changes = expected === undefined ? ["is new"] : differences(name, expected, kept);
  if (changes.length > 0) process.stdout.write(`    ${name}: ${changes.join(", ")}\n`);
}
writeTable(table);
writeFileSync(join(root, "docs", "scale.md"), scalePage(table));
process.stdout.write("Written to bench/costs.json and docs/scale.md.\n");
process.exit();
