// Makes children end together with this process, in every case: a signal, an error, a kill of this process or of npm.
import { spawn, spawnSync } from "node:child_process";
import { constants } from "node:os";

const GRACE_MS = 5_000;
/** The largest delay between a signal to the children and the same signal to this process. */
const SIGNAL_LAG_MS = 100;
const groups = new Set();
let stopping = false;
let watchdog;

/** Watches a child that leads its own process group. */
export function guard(child) {
  watchdog ??= watch();
  watchdog.stdin.write(`-${child.pid}\n`);
  groups.add(child.pid);
  child.once("exit", () => {
    // The rest of the group (for example a compiler whose cargo was stopped) ends with its leader.
    signalGroup(child.pid, "SIGKILL");
    groups.delete(child.pid);
  });
}

/** True if this process is being stopped. */
export const isStopping = () => stopping;

/**
 * Callers await this before they report a failure, because a signal to this process and its children (Ctrl-C, or a
 * newer build of wrangler dev) makes the children fail first. Never resolves if this process is being stopped.
 */
export async function unlessStopping() {
  await new Promise((resolve) => setTimeout(resolve, SIGNAL_LAG_MS));
  if (stopping) await new Promise(() => {});
}

/** Ends every child, first with SIGTERM, and then this process. */
export async function stopAll(exitCode) {
  stopping = true;
  for (const group of groups) signalGroup(group, "SIGTERM");
  const patience = Date.now() + GRACE_MS;
  while (groups.size > 0 && Date.now() < patience) await new Promise((resolve) => setTimeout(resolve, 20));
  process.exit(exitCode);
}

/** True if a process exists, even of another user. */
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
    // The group has already ended.
  }
}

function watch() {
  // The loop ends when the pipe closes, which happens when this process ends.
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

/**
 * The npm process that runs this script, and the shell between the two, if any, which does not notice the end of npm.
 */
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
