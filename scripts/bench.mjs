// `npm run bench`: builds, measures and writes docs/benchmarks.md. What is measured is in bench/.
import "./lib/node-version.mjs";
import { passedOn, readOptions } from "./lib/options.mjs";
import { packagedNode } from "./lib/packages.mjs";
import { inPackage, packageDir } from "./lib/paths.mjs";
import { environment, run } from "./lib/process.mjs";
import { scratchFolder } from "./lib/scratch.mjs";
import { setUpAndBuild } from "./lib/setup.mjs";
import { Stop, main, say, seconds } from "./lib/ui.mjs";

const usage = `Usage: npm run bench [-- --quick]

Builds the Worker, measures it and writes docs/benchmarks.md.

    --quick      rough figures in a minute or two; docs/benchmarks.md stays as it is
    -h, --help   this text`;

await main(async () => {
  const { values } = readOptions({ usage, options: { quick: { type: "boolean" } } });
  await setUpAndBuild();
  const begun = Date.now();
  const env = environment({ A2A_BENCH_GZIP: await gzipSize(), TMPDIR: scratchFolder() });
  const options = ["--disable-warning=ExperimentalWarning", inPackage("bench", "main.ts"), ...passedOn(values, ["quick"])];
  const { code } = await run(packagedNode(), options, { cwd: packageDir, env });
  if (code !== 0) throw new Stop("The benchmarks failed; the messages are above.");
  say(`\nMeasured in ${seconds(begun)}.`);
});

/** The size of the upload, as `npm run size` prints it. */
async function gzipSize() {
  const { output } = await run(process.execPath, [inPackage("scripts", "size.mjs")], { cwd: packageDir, quiet: true });
  const size = /^total .* ([\d.]+ KB) gzip$/m.exec(output)?.[1];
  if (size === undefined) throw new Stop(`npm run size told no size:\n\n${output}`);
  return size;
}
