// Imported first by every entry point, so that an old Node gets a clear message. scripts/ may only use syntax and
// modules of Node 16; otherwise this check would never run.
const needed = 20;

if (Number(process.versions.node.split(".")[0]) < needed) {
  console.error(`
Node.js ${needed} or newer is needed, this is ${process.versions.node} (${process.execPath}).

    Install the current LTS from https://nodejs.org, or: nvm install 24
`);
  process.exit(1);
}
