// The npm packages of package-lock.json, and the Node among them.
import { existsSync, readFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { binDir, inRoot, root } from "./paths.mjs";
import { query, run } from "./process.mjs";
import { atLeast } from "./requirements.mjs";
import { Stop, step } from "./ui.mjs";

/** Installs the npm packages where node_modules is not what package-lock.json asks for. */
export async function ensurePackages() {
  if (packagesMatchLock()) return;
  await step("Installing npm packages", async () => {
    // The project's own Node goes away during the installation: npm runs on the one it came with.
    const PATH = process.env.PATH.split(delimiter).filter((entry) => !entry.endsWith(join("node_modules", ".bin"))).join(delimiter);
    const { code } = await run("npm", ["ci", "--no-audit", "--no-fund", "--loglevel=error"], {
      cwd: root,
      env: { ...process.env, PATH },
    });
    if (code !== 0) throw new Stop("npm ci failed; its messages are above. With a network problem, just run the command again.");
  });
}

/**
 * The Node that runs wrangler and the end-to-end tests (wrangler wants 22.12, running TypeScript files 22.18).
 * It is an npm package, except where none exists for the platform.
 */
export function packagedNode() {
  const packaged = join(binDir, "node");
  if (query(packaged, ["--version"]) !== undefined) return packaged;
  if (atLeast(process.versions.node, "22.18")) return process.execPath;
  throw new Stop(
    `There is no packaged Node for ${process.platform}-${process.arch}, and this Node is ${process.versions.node}.\n\n` +
      "    Install Node 24 from https://nodejs.org, or: nvm install 24",
  );
}

/** Compares with npm's own record of what it installed, which it writes last. */
function packagesMatchLock() {
  const record = inRoot("node_modules", ".package-lock.json");
  if (!existsSync(record)) return false;
  const installed = JSON.parse(readFileSync(record, "utf8")).packages;
  const wanted = JSON.parse(readFileSync(inRoot("package-lock.json"), "utf8")).packages;
  const matches = ([path, entry]) => {
    const found = installed[path];
    return found ? found.version === entry.version && found.integrity === entry.integrity : entry.optional === true;
  };
  return (
    Object.entries(wanted).filter(([path]) => path !== "").every(matches) &&
    Object.keys(installed).every((path) => path in wanted)
  );
}
