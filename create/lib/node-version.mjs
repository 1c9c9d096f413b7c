// Imported first, so that an old Node gets a clear message: the project needs the Node that wrangler needs.
import { readFileSync } from "node:fs";

const { engines } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"));
const needed = engines.node.replace(">=", "");
const [least, own] = [needed, process.versions.node].map((version) => version.split(".").map(Number));
const first = least.findIndex((part, index) => part !== own[index]);

if (first >= 0 && own[first] < least[first]) {
  console.error(`
Node.js ${needed} or newer is needed, this is ${process.versions.node} (${process.execPath}).

    Install the current LTS from https://nodejs.org, or: nvm install 24
`);
  process.exit(1);
}
