// Measures how long runs of every kind wait over a deploy with the default settings, and writes the table into docs/upgrades.md:
//
//   node_modules/.bin/node tests/upgrade/figures.ts

import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { wrapped } from "../../scripts/lib/wrap.mjs";
import { marks, withSection } from "../conformance/sections.ts";
import { Deployment } from "./deploy.ts";
import { beginRuns, untilAllEnded } from "./runs.ts";
import { waitsOf } from "./waits.ts";

const page = fileURLToPath(new URL("../../docs/upgrades.md", import.meta.url));
const deployment = await Deployment.open();
try {
  await deployment.start("present");
  const runs = await beginRuns(deployment, 40);
  await deployment.kill();
  const accompanied = Promise.all(runs.map((run) => run.accompany()));
  await deployment.start("next");
  await accompanied;
  await untilAllEnded(deployment, runs);
  const table = waitsOf(deployment, runs);
  writeFileSync(page, withSection(readFileSync(page, "utf8"), marks("waits over a deploy"), wrapped(table)));
  process.stdout.write(`${table}\n`);
} finally {
  await deployment.close();
}
process.exit(0);
