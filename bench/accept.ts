// `npm run costs`: measures what operations cost now, and writes bench/costs.json.

import { differences, measureAll, readTable, writeTable } from "./gate.ts";

const before = readTable();
const table = await measureAll();
for (const [name, kept] of Object.entries(table)) {
  const expected = before[name];
  const changes = expected === undefined ? ["is new"] : differences(name, expected, kept);
  if (changes.length > 0) process.stdout.write(`    ${name}: ${changes.join(", ")}\n`);
}
writeTable(table);
process.stdout.write("Written to bench/costs.json.\n");
process.exit();
