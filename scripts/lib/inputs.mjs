// The inputs of a build. Cargo lists the files after a build; a later comparison shows if the build is current.
import { createHash } from "node:crypto";
import { existsSync, readFileSync, readdirSync, statSync } from "node:fs";
import { dirname, join, relative, resolve, sep } from "node:path";
import { projectDir } from "./paths.mjs";

/** Files that cargo does not list, in the folder of each crate and in the project. */
const SETTINGS = ["Cargo.toml", ".cargo", "rust-toolchain", "rust-toolchain.toml"];

/**
 * The input files and folders of a build, relative to `root`, the project: sources, including those of path dependencies, the
 * files that their build scripts watch, and settings.
 */
export function inputsOf({ depInfo, targets, workspace }, root = projectDir) {
  const listed = readDepInfo(depInfo, root).filter((path) => !path.startsWith(targets + sep));
  const crates = new Set(listed.map(crateOf).filter(Boolean));
  const settings = [...crates, root, workspace].flatMap((folder) => SETTINGS.map((name) => join(folder, name)));
  const paths = [...listed, ...settings, join(workspace, "Cargo.lock")];
  return [...new Set(paths)].map((path) => relative(root, path)).sort();
}

/** A hash of the content of these files and folders. A missing file also changes the hash. */
export function contentHash(inputs, root = projectDir) {
  const hash = createHash("sha256");
  for (const input of inputs) {
    const path = resolve(root, input);
    hash.update(`\0${input}\0`);
    for (const file of filesUnder(path)) hash.update(`\0${relative(path, file)}\0`).update(readFileSync(file));
  }
  return hash.digest("hex");
}

/** True if one of the inputs was written after `since`, except Cargo.lock, which cargo itself writes. */
export function changedSince(inputs, since, root = projectDir) {
  const paths = inputs.filter((input) => !input.endsWith("Cargo.lock")).map((input) => resolve(root, input));
  return paths.flatMap(everythingUnder).some((path) => statSync(path).mtimeMs >= since);
}

/** The prerequisites in a file in the format of make. */
export function readDepInfo(file, root = projectDir) {
  const text = readFileSync(file, "utf8");
  const [line] = text.split(/\r?\n/);
  const prerequisites = line.slice(line.indexOf(": ") + 2);
  const paths = prerequisites.match(/(?:\\ |[^ ])+/g) ?? [];
  return paths.map((path) => resolve(root, path.replaceAll("\\ ", " ")));
}

/** The folder of the crate that a file belongs to. */
function crateOf(path) {
  for (let folder = dirname(path); folder !== dirname(folder); folder = dirname(folder)) {
    if (existsSync(join(folder, "Cargo.toml"))) return folder;
  }
  return undefined;
}

const filesUnder = (path) => everythingUnder(path).filter((found) => statSync(found).isFile());

function everythingUnder(path) {
  if (!existsSync(path)) return [];
  if (!statSync(path).isDirectory()) return [path];
  return [path, ...readdirSync(path).sort().flatMap((name) => everythingUnder(join(path, name)))];
}
