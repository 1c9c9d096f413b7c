// `npm run pictures`: builds what has changed, and takes the pictures of the console that docs/console.md and the README show (tests/browser/pictures.ts).
import "./lib/node-version.mjs";
import { readOptions } from "./lib/options.mjs";
import { packagedNode } from "./lib/packages.mjs";
import { inPackage, packageDir } from "./lib/paths.mjs";
import { environment, run } from "./lib/process.mjs";
import { scratchFolder } from "./lib/scratch.mjs";
import { setUpAndBuild } from "./lib/setup.mjs";
import { Stop, main } from "./lib/ui.mjs";

const usage = `Usage: npm run pictures

Builds what has changed, starts the Worker and a browser, makes tasks, and takes the pictures of the console into the folder docs/pictures/.

    -h, --help   this text`;

await main(async () => {
  readOptions({ usage });
  await setUpAndBuild();
  const env = environment({ TMPDIR: scratchFolder() });
  const { code } = await run(packagedNode(), ["--disable-warning=ExperimentalWarning", inPackage("tests", "browser", "pictures.ts")], { cwd: packageDir, env });
  if (code !== 0) throw new Stop("The pictures were not taken; the messages are above.");
});
