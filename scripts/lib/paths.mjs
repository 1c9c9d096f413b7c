// The paths of the package, with these scripts, and of the project, whose Worker is built. In the repository they are
// the same.
import { existsSync, realpathSync } from "node:fs";
import { homedir } from "node:os";
import { basename, delimiter, dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";

/** The folder of the scripts, of the npm packages that they need, and of the migrations. Links are resolved. */
export const packageDir = dirname(dirname(dirname(realpathSync(fileURLToPath(import.meta.url)))));

/** The project: the nearest folder, from the current one upwards, with one of its manifests. */
export const projectDir = nearest(realpathSync(process.cwd()));

/** True if the project is the repository of a2a-edge itself. */
export const isRepository = projectDir === packageDir;

/** True if the package is a checkout, possibly linked, and was not installed by npm. */
export const isCheckout = basename(dirname(packageDir)) !== "node_modules" && existsSync(join(packageDir, "package-lock.json"));

/** True if the project compiles an engine of its own, with tools and executors in Rust. */
export const hasRust = existsSync(join(projectDir, "Cargo.toml"));

export const inPackage = (...parts) => join(packageDir, ...parts);
export const inProject = (...parts) => join(projectDir, ...parts);

/** A path for messages: relative to the project if it is inside. */
export function shown(path) {
  const inside = relative(projectDir, path);
  return inside.startsWith("..") ? path : inside;
}

/** The folder for tools that are compiled once, shared by all checkouts. */
export const cacheDir =
  process.env.A2A_EDGE_CACHE || join(process.env.XDG_CACHE_HOME || join(homedir(), ".cache"), "a2a-edge");

/** The state that `wrangler dev` keeps between starts, in the default place, so that a plain wrangler finds it too. */
export const stateDir = inProject(".wrangler", "state");

/**
 * The folder of an npm package that the scripts need, undefined if it is not installed. npm puts the packages of an
 * installed dependency next to it, but those of a linked one only into the target folder of the link.
 */
export function npmPackage(name) {
  return [packageDir, projectDir].flatMap(moduleFolders).map((folder) => join(folder, name)).find(existsSync);
}

/** The value of PATH for children: the commands of npm packages are first. */
export function searchPath(...first) {
  const commands = [packageDir, projectDir].flatMap(moduleFolders).map((folder) => join(folder, ".bin")).filter(existsSync);
  return [...new Set([...first, ...commands]), process.env.PATH].join(delimiter);
}

/** The `node_modules` folders that Node searches for packages, from a folder upwards. */
function moduleFolders(folder) {
  const own = basename(folder) === "node_modules" ? [] : [join(folder, "node_modules")];
  const above = dirname(folder);
  return above === folder ? own : [...own, ...moduleFolders(above)];
}

function nearest(start) {
  for (let folder = start; ; folder = dirname(folder)) {
    if (["wrangler.toml", "Cargo.toml", "package.json"].some((name) => existsSync(join(folder, name)))) return folder;
    if (dirname(folder) === folder) return start;
  }
}
