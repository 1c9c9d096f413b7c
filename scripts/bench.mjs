// `npm run bench`: builds, measures, and writes docs/benchmarks.md and figures of docs/comparison.md. bench/ contains the measurements.
import "./lib/node-version.mjs";
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { ensureNpm } from "./lib/npm-folder.mjs";
import { passedOn, readOptions } from "./lib/options.mjs";
import { packagedNode } from "./lib/packages.mjs";
import { inPackage, packageDir } from "./lib/paths.mjs";
import { environment, run } from "./lib/process.mjs";
import { scratchFolder } from "./lib/scratch.mjs";
import { setUpAndBuild } from "./lib/setup.mjs";
import { Stop, main, say, seconds } from "./lib/ui.mjs";

/** The measured files of a build. */
const FILES = ["index_bg.wasm", "test-agents.json"];

const usage = `Usage: npm run bench [-- --quick] [--only NAME,NAME] [--runs NUMBER] [--against FOLDER]

Builds the Worker, measures it beside what it is compared with, and writes the figures into bench/results.json, docs/benchmarks.md and
docs/comparison.md. What is not measured there keeps its figures, with their date and revision. With --quick or --against, prints the figures only.

    --quick            rough figures in three minutes: the first rows of the comparison, costs and start, or what --only names
    --only NAME,NAME   some rows of the comparison: send, get, list, first-event, fan-out, chunks, memory, start, isolate, or all of them: comparison;
                       some sections: steps, size, requests, access, agents, functions, streams, webhooks, lists, costs, distance, attacks,
                       bodies, console
    --runs NUMBER      takes the medians of several runs, one after the other; a goal needs 15 rounds, which three runs have
    --against FOLDER   compares with another build, too: a copy of build/ from before a change, or build/ of another checkout or version
    -h, --help         this text`;

await main(async () => {
  const options = { quick: { type: "boolean" }, only: { type: "string" }, runs: { type: "string" }, against: { type: "string" } };
  const { values, refuse } = readOptions({ usage, options });
  const missing = FILES.find((name) => values.against !== undefined && !existsSync(resolve(values.against, name)));
  if (missing !== undefined) throw refuse(`--against needs a folder that holds a build; ${values.against} has no ${missing}.`);
  if (values.runs !== undefined && !/^[1-9]\d?$/.test(values.runs)) throw refuse(`--runs is a number from 1 to 99, not ${values.runs}.`);
  await setUpAndBuild();
  await ensureNpm(inPackage("bench", "baselines", "agents"), "Installing Cloudflare's agents SDK, which is compared");
  const begun = Date.now();
  const env = environment({ TMPDIR: scratchFolder() });
  const args = ["--disable-warning=ExperimentalWarning", inPackage("bench", "main.ts"), ...passedOn(values, Object.keys(options))];
  const { code } = await run(packagedNode(), args, { cwd: packageDir, env });
  if (code !== 0) throw new Stop("The benchmarks failed; the messages are above.");
  say(`\nMeasured in ${seconds(begun)}.`);
});
