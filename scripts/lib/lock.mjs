// Locks, by files that name the process that holds them.
import { linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { ownCommand } from "./command.mjs";
import { isAlive } from "./guard.mjs";
import { shown } from "./paths.mjs";
import { duration, say } from "./ui.mjs";

/** How often a held lock is looked at. */
const LOOK_MS = 500;

/**
 * Runs `work` while holding the lock file, so that a second set-up of a folder waits for the first instead of undoing its work. A lock whose owner
 * has ended is replaced.
 */
export async function locked(file, work) {
  let release;
  for (let told; (release = hold(file)) === undefined; ) {
    const owner = ownerOf(file);
    if (owner === undefined) continue;
    const { command, pid, since } = owner;
    if (told !== pid) say(`==> Waiting for "${command}" (pid ${pid}), which has held ${shown(file)} for ${duration(Date.now() - since)}`);
    told = pid;
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
  try {
    return await work();
  } finally {
    release();
  }
}

/** Takes the lock file, with a note for others, until this process ends or the returned function is called. Undefined if another process holds it. */
export function hold(file, note = "") {
  mkdirSync(dirname(file), { recursive: true });
  while (!take(file, note)) {
    if (ownerOf(file) !== undefined) return undefined;
    rmSync(file, { force: true });
  }
  const release = () => {
    process.off("exit", release);
    rmSync(file, { force: true });
  };
  process.once("exit", release);
  return release;
}

function take(file, note) {
  // A link appears together with its content, so a lock never appears without an owner.
  const own = `${file}.${process.pid}`;
  writeFileSync(own, JSON.stringify({ command: ownCommand(), pid: process.pid, since: Date.now(), note }));
  try {
    linkSync(own, file);
    return true;
  } catch (error) {
    if (error.code === "EEXIST") return false;
    throw error;
  } finally {
    rmSync(own, { force: true });
  }
}

/** The process that holds a lock: `{ command, pid, since, note }`, with the time in ms since 1970; undefined if it has ended, or nobody holds it. */
export function ownerOf(file) {
  try {
    const owner = JSON.parse(readFileSync(file, "utf8"));
    return owner.pid !== process.pid && isAlive(owner.pid) ? owner : undefined;
  } catch {
    return undefined;
  }
}
