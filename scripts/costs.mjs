// `npm run costs`: builds, counts the costs of operations, and stores them for `npm test` and in docs/scale.md.
import "./lib/node-version.mjs";
import { readOptions } from "./lib/options.mjs";
import { packagedNode } from "./lib/packages.mjs";
import { inPackage, packageDir } from "./lib/paths.mjs";
import { environment, run } from "./lib/process.mjs";
import { setUpAndBuild } from "./lib/setup.mjs";
import { Stop, main } from "./lib/ui.mjs";

const usage = `Usage: npm run costs

Builds the Worker, counts what single operations cost (rows, alarms, statements, requests, messages, calls between JavaScript
and WebAssembly), says what has changed, and writes bench/costs.json and docs/scale.md. "npm test" fails when the costs are
not those of the file.

    -h, --help   this text`;

await main(async () => {
  readOptions({ usage });
  await setUpAndBuild();
  const args = ["--disable-warning=ExperimentalWarning", inPackage("bench", "gate", "accept.ts")];
  const { code } = await run(packagedNode(), args, { cwd: packageDir, env: environment({}) });
  if (code !== 0) throw new Stop("The costs were not counted; the messages are above.");
});
