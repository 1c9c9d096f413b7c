// Sees to it that children end with this process, whatever ends it: a signal, an error, its own killing or npm's.
import { spawn, spawnSync } from "node:child_process";
import { constants } from "node:os";

const GRACE_MS = 5_000;
/** How much later than its children a process may learn of a signal that was sent to all of them. */
const SIGNAL_LAG_MS = 100;
const groups = new Set();
let stopping = false;
let watchdog;

/** Takes over a child that leads a process group of its own. */
export function guard(child) {
  watchdog ??= watch();
  watchdog.stdin.write(`-${child.pid}\n`);
  groups.add(child.pid);
  child.once("exit", () => {
    // What is left of the group (a compiler whose cargo was stopped) goes with its leader.
    signalGroup(child.pid, "SIGKILL");
    groups.delete(child.pid);
  });
}

/** Whether this process is about to end because it was told to. */
export const isStopping = () => stopping;

/**
 * To be awaited before a failure is reported: a signal to this process and its children (Ctrl-C, or a newer build of
 * wrangler dev) makes the children fail first. Does not return where this process is about to end.
 */
export async function unlessStopping() {
  await new Promise((resolve) => setTimeout(resolve, SIGNAL_LAG_MS));
  if (stopping) await new Promise(() => {});
}

/** Ends every child, politely first, and then this process. */
export async function stopAll(exitCode) {
  stopping = true;
  for (const group of groups) signalGroup(group, "SIGTERM");
  const patience = Date.now() + GRACE_MS;
  while (groups.size > 0 && Date.now() < patience) await new Promise((resolve) => setTimeout(resolve, 20));
  process.exit(exitCode);
}

/** Whether a process exists, ours or not. */
export function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === "EPERM";
  }
}

export function signalGroup(leader, signal) {
  try {
    process.kill(-leader, signal);
  } catch {
    // The group is gone already.
  }
}

function watch() {
  // The loop ends when the pipe closes, and the pipe closes with this process.
  const script = 'all=; while read -r group; do all="$all $group"; done; kill -TERM $all; sleep 3; kill -KILL $all';
  const dog = spawn("sh", ["-c", script], { stdio: ["pipe", "ignore", "ignore"], detached: true });
  dog.stdin.on("error", () => {});
  dog.stdin.unref();
  dog.unref();

  if (process.env.npm_lifecycle_event !== undefined) {
    const ancestors = npmAncestors();
    setInterval(() => ancestors.every(isAlive) || stopping || void stopAll(1), 1_000).unref();
  }
  return dog;
}

/** The npm that runs this script, and the shell that it may have put in between, which does not notice npm's end. */
function npmAncestors() {
  const { stdout } = spawnSync("ps", ["-o", "ppid=,args=", "-p", String(process.ppid)], { encoding: "utf8" });
  const shell = /^\s*(\d+)\s+\S*sh -c/.exec(stdout ?? "");
  return [process.ppid, ...(shell && Number(shell[1]) > 1 ? [Number(shell[1])] : [])];
}

for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
  process.on(signal, () => {
    const code = 128 + constants.signals[signal];
    if (stopping) process.exit(code);
    void stopAll(code);
  });
}

process.on("exit", () => {
  for (const group of groups) signalGroup(group, "SIGKILL");
  watchdog?.kill("SIGKILL");
});
