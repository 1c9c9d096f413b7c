// `npm run size`: what the upload weighs, against the limit.
import "./lib/node-version.mjs";
import { readOptions } from "./lib/options.mjs";
import { setUpAndBuild } from "./lib/setup.mjs";
import { printSize } from "./lib/size.mjs";
import { main } from "./lib/ui.mjs";

const usage = `Usage: npm run size

Builds the Worker if anything has changed and prints its size. The exit code is 1 above the limit.

    -h, --help   this text`;

await main(async () => {
  readOptions({ usage });
  await setUpAndBuild();
  if (!printSize("default")) process.exit(1);
});
