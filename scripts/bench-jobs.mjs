// `npm run bench:jobs`: builds what has changed, and does fourteen jobs in the console, whose clicks and seconds are the table of docs/jobs.md
// (tests/browser/jobs.ts).
import "./lib/node-version.mjs";
import { readOptions } from "./lib/options.mjs";
import { packagedNode } from "./lib/packages.mjs";
import { inPackage, packageDir } from "./lib/paths.mjs";
import { environment, run } from "./lib/process.mjs";
import { scratchFolder } from "./lib/scratch.mjs";
import { setUpAndBuild } from "./lib/setup.mjs";
import { Stop, main } from "./lib/ui.mjs";

const usage = `Usage: npm run bench:jobs

Builds what has changed, starts the Worker and a browser, does fourteen jobs in the console as a person does, counts clicks, keys and seconds, and writes
the table of docs/jobs.md. Ends with 1 if a job cannot be done.

    -h, --help   this text`;

await main(async () => {
  readOptions({ usage });
  await setUpAndBuild();
  const env = environment({ TMPDIR: scratchFolder() });
  const { code } = await run(packagedNode(), ["--disable-warning=ExperimentalWarning", inPackage("tests", "browser", "jobs.ts")], { cwd: packageDir, env });
  if (code !== 0) throw new Stop("Not every job could be done; the messages are above.");
});
