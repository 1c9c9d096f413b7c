// Imported first by every entry point, so that an old Node gets a clear message. scripts/ may only use syntax and
// modules of Node 16; otherwise this check would never run.
import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { atLeast } from "./versions.mjs";

const at = (path) => fileURLToPath(new URL(`../../${path}`, import.meta.url));

/** The Node with which a checkout starts: its npm packages include the Node that runs everything else. */
const OF_CHECKOUT = "20";

const { engines } = JSON.parse(readFileSync(at("package.json"), "utf8"));
const needed = existsSync(at("package-lock.json")) ? OF_CHECKOUT : engines.node.replace(">=", "");

if (!atLeast(process.versions.node, needed)) {
  console.error(`
Node.js ${needed} or newer is needed, this is ${process.versions.node} (${process.execPath}).

    Install the current LTS from https://nodejs.org, or: nvm install 24
`);
  process.exit(1);
}
