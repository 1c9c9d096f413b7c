// `npm run bench`: builds, measures and writes docs/benchmarks.md. bench/ contains the measurements.
import "./lib/node-version.mjs";
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { passedOn, readOptions } from "./lib/options.mjs";
import { packagedNode } from "./lib/packages.mjs";
import { inPackage, packageDir } from "./lib/paths.mjs";
import { environment, run } from "./lib/process.mjs";
import { scratchFolder } from "./lib/scratch.mjs";
import { setUpAndBuild } from "./lib/setup.mjs";
import { Stop, main, say, seconds } from "./lib/ui.mjs";

/** The measured files of a build. */
const FILES = ["index_bg.wasm", "test-agents.json"];

const usage = `Usage: npm run bench [-- --quick] [--only NAME,NAME] [--against FOLDER]

Builds the Worker, measures it beside what it is compared with, and writes docs/benchmarks.md. With an option, prints the figures only.

    --quick            rough figures in two minutes: comparison, costs and start, or what --only names
    --only NAME,NAME   some sections: comparison, requests, access, streams, webhooks, lists, costs, distance, attacks, memory, start,
                       console;
                       or some rows of the comparison: send, get, list, first-event, fan-out
    --against FOLDER   compares with another build, too, such as a copy of build/ from before a change
    -h, --help         this text`;

await main(async () => {
  const options = { quick: { type: "boolean" }, only: { type: "string" }, against: { type: "string" } };
  const { values, refuse } = readOptions({ usage, options });
  const missing = FILES.find((name) => values.against !== undefined && !existsSync(resolve(values.against, name)));
  if (missing !== undefined) throw refuse(`--against needs a folder that holds a build; ${values.against} has no ${missing}.`);
  await setUpAndBuild();
  const begun = Date.now();
  const env = environment({ A2A_BENCH_GZIP: await gzipSize(), TMPDIR: scratchFolder() });
  const args = ["--disable-warning=ExperimentalWarning", inPackage("bench", "main.ts"), ...passedOn(values, Object.keys(options))];
  const { code } = await run(packagedNode(), args, { cwd: packageDir, env });
  if (code !== 0) throw new Stop("The benchmarks failed; the messages are above.");
  say(`\nMeasured in ${seconds(begun)}.`);
});

/** The size of the upload, from the output of `npm run size`. */
async function gzipSize() {
  const { output } = await run(process.execPath, [inPackage("scripts", "size.mjs")], { cwd: packageDir, quiet: true });
  const size = /^total .* ([\d.]+ KB) gzip$/m.exec(output)?.[1];
  if (size === undefined) throw new Stop(`npm run size told no size:\n\n${output}`);
  return size;
}
