// The npm packages that the scripts need; one of them is Node itself.
import { existsSync, readFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { locked } from "./lock.mjs";
import { hasRust, inPackage, isCheckout, npmPackage, packageDir } from "./paths.mjs";
import { query, run } from "./process.mjs";
import { Stop, step } from "./ui.mjs";
import { atLeast } from "./versions.mjs";

/** The packages that a project has beside this one: those of the engine are for projects that compile one. */
const NEEDED = ["wrangler"];
const NEEDED_BY_RUST = ["binaryen", "esbuild"];

/** Makes sure that the npm packages are installed: in a checkout, installs them; elsewhere, requires `npm install`. */
export async function ensurePackages() {
  if (isCheckout) {
    if (packagesMatchLock()) return;
    await locked(inPackage(".wrangler", "set-up.lock"), async () => {
      if (!packagesMatchLock()) await installPackages();
    });
    return;
  }
  const missing = [...NEEDED, ...(hasRust ? NEEDED_BY_RUST : [])].filter((name) => npmPackage(name) === undefined);
  if (missing.length === 0) return;
  const { peerDependencies } = JSON.parse(readFileSync(inPackage("package.json"), "utf8"));
  const wanted = missing.map((name) => `${name}@${peerDependencies[name]}`).join(" ");
  throw new Stop(`npm packages are missing: ${missing.join(", ")}.\n\n    Run: npm install\n    If package.json does not name them: npm install --save-dev ${wanted}`);
}

/** The path of a file of an npm package. */
export function inNpmPackage(name, ...parts) {
  const folder = npmPackage(name);
  const path = folder && join(folder, ...parts);
  if (!path || !existsSync(path)) throw new Stop(`The npm package ${name} is missing or damaged.\n\n    Run: npm ${isCheckout ? "ci" : "install"}`);
  return path;
}

/** The version of an npm package, undefined if it is not installed. */
export function packageVersion(name) {
  const folder = npmPackage(name);
  return folder && JSON.parse(readFileSync(join(folder, "package.json"), "utf8")).version;
}

let node;

/**
 * The Node that runs wrangler, Vite and tests, some of which are TypeScript: that of an npm package in a checkout, if there is one for the platform,
 * and elsewhere the Node of this process, whose version was checked at its start.
 */
export function packagedNode() {
  node ??= isCheckout ? nodeOfCheckout() : process.execPath;
  return node;
}

function nodeOfCheckout() {
  const { platform, arch } = process;
  const folder = [`node-${platform}-${arch}`, `node-bin-${platform}-${arch}`].map(npmPackage).find(Boolean);
  const packaged = folder && join(folder, "bin", "node");
  if (packaged && query(packaged, ["--version"]) !== undefined) return packaged;
  // From 22.18 on, Node runs TypeScript without an option.
  if (atLeast(process.versions.node, "22.18")) return process.execPath;
  throw new Stop(
    `There is no packaged Node for ${platform}-${arch}, and this Node is ${process.versions.node}.\n\n` +
      "    Install Node 24 from https://nodejs.org, or: nvm install 24",
  );
}

function installPackages() {
  return step("Installing npm packages", async () => {
    // The installation removes the packaged Node, so npm must run on its original Node.
    const PATH = process.env.PATH.split(delimiter).filter((entry) => !entry.endsWith(join("node_modules", ".bin"))).join(delimiter);
    const { code } = await run("npm", ["ci", "--no-audit", "--no-fund", "--loglevel=error"], {
      cwd: packageDir,
      env: { ...process.env, PATH },
    });
    if (code !== 0) throw new Stop("npm ci failed; its messages are above. With a network problem, just run the command again.");
  });
}

/** Compares with npm's record of installed packages, which npm writes last. */
function packagesMatchLock() {
  const record = inPackage("node_modules", ".package-lock.json");
  if (!existsSync(record)) return false;
  const installed = JSON.parse(readFileSync(record, "utf8")).packages;
  const wanted = JSON.parse(readFileSync(inPackage("package-lock.json"), "utf8")).packages;
  const matches = ([path, entry]) => {
    const found = installed[path];
    return found ? found.version === entry.version && found.integrity === entry.integrity : entry.optional === true;
  };
  return (
    Object.entries(wanted).filter(([path]) => path !== "").every(matches) &&
    Object.keys(installed).every((path) => path in wanted)
  );
}
