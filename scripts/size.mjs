// `npm run size`, `npx a2a-edge size`: prints the size of the upload, in the repository compared with the limit and the
// last release.
import "./lib/node-version.mjs";
import { readFileSync } from "node:fs";
import { command } from "./lib/command.mjs";
import { readOptions } from "./lib/options.mjs";
import { inPackage, isRepository } from "./lib/paths.mjs";
import { setUpAndBuild } from "./lib/setup.mjs";
import { acceptRooms, printRooms } from "./lib/rooms.mjs";
import { printConsoleSize, printSize, printUpload, recordRelease } from "./lib/size.mjs";
import { main } from "./lib/ui.mjs";

const OF_REPOSITORY = `Builds the Worker if anything has changed and prints its size, with the difference to the last release, and that of the
console. The exit code is 1 above one of the limits.

    --rooms      what the code of the module belongs to, each with its bound
    --accept     makes the present sizes of the rooms their bounds (scripts/rooms.json)
    --release    keeps the sizes in scripts/last-release.json, as those of the version in package.json`;

const OF_PROJECT = `Prints the size of what a deploy uploads, and that of the console.
`;

const usage = `Usage: ${command("size")}

${isRepository ? OF_REPOSITORY : OF_PROJECT}
    -h, --help   this text`;

await main(async () => {
  const { values } = readOptions({ usage, options: isRepository ? { rooms: { type: "boolean" }, accept: { type: "boolean" }, release: { type: "boolean" } } : {} });
  await setUpAndBuild();
  if (!isRepository) {
    await printUpload();
    printConsoleSize();
    return;
  }
  if (values.accept) acceptRooms();
  const fits = [printSize("default"), printRooms({ all: values.rooms }), printConsoleSize()].every(Boolean);
  if (values.release) recordRelease("default", JSON.parse(readFileSync(inPackage("package.json"), "utf8")).version);
  if (!fits) process.exit(1);
});
