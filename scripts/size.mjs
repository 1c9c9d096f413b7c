// `npm run size`: what the upload weighs, against the limit.
import "./lib/node-version.mjs";
import { setUpAndBuild } from "./lib/setup.mjs";
import { printSize } from "./lib/size.mjs";
import { main } from "./lib/ui.mjs";

await main(async () => {
  await setUpAndBuild();
  if (!printSize("default")) process.exit(1);
});
