// `npm run package`: builds the engine if anything has changed, and packs a2a-edge and create-a2a-edge into the folder package/.
import "./lib/node-version.mjs";
import { readFileSync, rmSync } from "node:fs";
import { relative } from "node:path";
import { gunzipSync } from "node:zlib";
import { readOptions } from "./lib/options.mjs";
import { packCreate, packEngine } from "./lib/pack.mjs";
import { inPackage, packageDir } from "./lib/paths.mjs";
import { setUpAndBuild } from "./lib/setup.mjs";
import { main, say, step } from "./lib/ui.mjs";

const usage = `Usage: npm run package

Builds the engine if anything has changed, and packs the npm packages a2a-edge and create-a2a-edge into the folder package/.

    -h, --help   this text`;

const kilobytes = (bytes) => `${(bytes / 1000).toFixed(1)} KB`.padStart(11);

await main(async () => {
  readOptions({ usage });
  await setUpAndBuild();
  const folder = inPackage("package");
  rmSync(folder, { recursive: true, force: true });
  const tarballs = await step("Packing", async () => [await packEngine(folder), await packCreate(folder)]);
  for (const path of tarballs) {
    const packed = readFileSync(path);
    say(`${relative(packageDir, path).padEnd(36)} ${kilobytes(packed.length)}, unpacked ${kilobytes(gunzipSync(packed).length)}`);
  }
});
