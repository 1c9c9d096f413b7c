// Locks, by files that name the process that holds them.
import { linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname } from "node:path";
import { isAlive } from "./guard.mjs";
import { say } from "./ui.mjs";

/**
 * Runs `work` while holding the lock file, so that a second set-up of a folder waits for the first instead of undoing its work. A lock whose owner
 * has ended is replaced.
 */
export async function locked(file, work) {
  let release;
  for (let told = false; (release = hold(file)) === undefined; ) {
    const owner = ownerOf(file);
    if (owner !== undefined && !told) say(`==> Waiting for ${owner.command} to finish (process ${owner.pid}, lock ${file})`);
    told ||= owner !== undefined;
    await new Promise((resolve) => setTimeout(resolve, 500));
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
  writeFileSync(own, JSON.stringify({ pid: process.pid, command: commandOf(process.argv), note }));
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

/** The process that holds a lock: `{ pid, command, note }`; undefined if it has ended, or nobody holds it. */
export function ownerOf(file) {
  try {
    const owner = JSON.parse(readFileSync(file, "utf8"));
    return owner.pid !== process.pid && isAlive(owner.pid) ? owner : undefined;
  } catch {
    return undefined;
  }
}

/** The command of a process for messages: its script and its arguments. */
const commandOf = ([, script = "node", ...args]) => [basename(script, ".mjs"), ...args].join(" ");
