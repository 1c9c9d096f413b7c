// The files of a project as they were before an upgrade, in .a2a-edge/before-upgrade/, so that it can be undone.
import { createHash } from "node:crypto";
import { copyFileSync, existsSync, mkdirSync, readFileSync, readdirSync, rmSync, rmdirSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { inProject } from "./paths.mjs";
import { Stop } from "./ui.mjs";

const GENERATED = inProject(".a2a-edge");
const FOLDER = join(GENERATED, "before-upgrade");
const RECORD = join(FOLDER, "upgrade.json");

const hashOf = (bytes) => createHash("sha256").update(bytes).digest("hex");
const copyOf = (path) => join(FOLDER, "files", path);

/** The record of the last upgrade: its versions, and each file with the hashes of before and after; undefined if there is none. */
export const lastUpgrade = () => (existsSync(RECORD) ? JSON.parse(readFileSync(RECORD, "utf8")) : undefined);

/** Keeps the files that `changes` names, then writes their new texts. What an upgrade to the same version has kept stays, so that a second one completes it. */
export function writeKept(changes, { from, to }) {
  const last = lastUpgrade();
  const known = last?.to === to ? last : undefined;
  if (known === undefined) rmSync(FOLDER, { recursive: true, force: true });
  const record = known ?? { from, to, hadGenerated: existsSync(GENERATED), files: {} };
  for (const [path, text] of changes) {
    const before = record.files[path] === undefined ? keep(path) : record.files[path].before;
    record.files[path] = { before, after: text === undefined ? null : hashOf(text) };
  }
  // First the copies and the record, so that an upgrade that breaks off can be undone, too.
  mkdirSync(FOLDER, { recursive: true });
  writeFileSync(RECORD, `${JSON.stringify(record, null, 2)}\n`);
  for (const [path, text] of changes) {
    if (text === undefined) rmSync(inProject(path), { force: true });
    else {
      mkdirSync(dirname(inProject(path)), { recursive: true });
      writeFileSync(inProject(path), text);
    }
  }
}

/** Copies a file of the project; returns its hash, null if it does not exist. */
function keep(path) {
  if (!existsSync(inProject(path))) return null;
  mkdirSync(dirname(copyOf(path)), { recursive: true });
  copyFileSync(inProject(path), copyOf(path));
  return hashOf(readFileSync(inProject(path)));
}

/** Restores the files of before the last upgrade, and returns its record. Stops, before anything is changed, if a file has changed since. */
export function undoUpgrade() {
  const record = lastUpgrade();
  if (record === undefined) throw new Stop("There is no upgrade to undo: .a2a-edge/before-upgrade/ does not exist.");
  const files = Object.entries(record.files);
  // A file that somebody has moved away is restored like one that the upgrade has written.
  const now = (path) => (existsSync(inProject(path)) ? hashOf(readFileSync(inProject(path))) : null);
  const changed = files.filter(([path, { before, after }]) => ![before, after, null].includes(now(path))).map(([path]) => path);
  if (changed.length > 0) {
    const kept = relative(inProject(), join(FOLDER, "files"));
    throw new Stop(`These files have changed since the upgrade, and undoing it would lose that:\n\n${changed.map((path) => `    ${path}`).join("\n")}\n\nMove them away and run this again, or restore single files from ${kept}.`);
  }
  for (const [path, { before }] of files) {
    if (before === null) remove(path);
    else copyFileSync(copyOf(path), inProject(path));
  }
  rmSync(record.hadGenerated ? FOLDER : GENERATED, { recursive: true, force: true });
  return record;
}

/** Removes a file that the upgrade made, and its folder if nothing else is in it. */
function remove(path) {
  rmSync(inProject(path), { force: true });
  const folder = dirname(inProject(path));
  if (folder !== inProject() && existsSync(folder) && readdirSync(folder).length === 0) rmdirSync(folder);
}
