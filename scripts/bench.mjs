// `npm run bench`: builds, measures and writes docs/benchmarks.md. What is measured is in bench/.
import "./lib/node-version.mjs";
import { packagedNode } from "./lib/packages.mjs";
import { inRoot, root } from "./lib/paths.mjs";
import { environment, run } from "./lib/process.mjs";
import { scratchFolder } from "./lib/scratch.mjs";
import { setUpAndBuild } from "./lib/setup.mjs";
import { Stop, main, say, seconds } from "./lib/ui.mjs";

const usage = `Usage: npm run bench [-- --quick]

    --quick    rough figures in less than a minute; docs/benchmarks.md stays as it is`;

await main(async () => {
  const args = process.argv.slice(2);
  if (args.includes("--help") || args.includes("-h")) {
    say(usage);
    return;
  }
  const unknown = args.find((arg) => arg !== "--quick");
  if (unknown !== undefined) throw new Stop(`There is no option "${unknown}".\n\n${usage}`);

  await setUpAndBuild();
  const begun = Date.now();
  const env = environment({ A2A_BENCH_GZIP: await gzipSize(), TMPDIR: scratchFolder() });
  const options = ["--disable-warning=ExperimentalWarning", inRoot("bench", "main.ts"), ...args];
  const { code } = await run(packagedNode(), options, { cwd: root, env });
  if (code !== 0) throw new Stop("The benchmarks failed; the messages are above.");
  say(`\nMeasured in ${seconds(begun)}.`);
});

/** The size of the upload, as `npm run size` prints it. */
async function gzipSize() {
  const { output } = await run(process.execPath, [inRoot("scripts", "size.mjs")], { cwd: root, quiet: true });
  const size = /^total .* ([\d.]+ KB) gzip$/m.exec(output)?.[1];
  if (size === undefined) throw new Stop(`npm run size told no size:\n\n${output}`);
  return size;
}
