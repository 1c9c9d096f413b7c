// The output of the scripts: one heading per long step, one clear message per expected failure.

import { unlessStopping } from "./guard.mjs";

/** An expected failure. Its message is enough for the user, so no stack trace is printed. */
export class Stop extends Error {}

/** Thrown if a step of `npm test` could not check anything on this machine. Its message is the reason. */
export class NotChecked extends Error {}

// A reader that leaves, as `head`, ends the command, with the code that a shell gives to one that the signal of a closed pipe has ended.
process.stdout.on("error", ({ code }) => process.exit(code === "EPIPE" ? 141 : 1));

let told = process.stdout;

export function say(text = "") {
  told.write(`${text}\n`);
}

/** From now on `say` writes to stderr: stdout is for results that programs read. */
export function sayBesideResults() {
  told = process.stderr;
}

/** The time since an instant, in readable form. */
export function seconds(since) {
  return duration(Date.now() - since);
}

/** A time in milliseconds, in readable form. */
export function duration(ms) {
  const elapsed = Math.round(ms / 100) / 10;
  if (elapsed < 60) return `${elapsed} s`;
  const whole = Math.round(ms / 1000);
  return `${Math.floor(whole / 60)} min ${whole % 60} s`;
}

/** Runs `work` under a heading and prints its duration. */
export async function step(title, work) {
  const begun = Date.now();
  say(`==> ${title}`);
  const result = await work();
  say(`    done in ${seconds(begun)}`);
  return result;
}

/** The reasons for which a file can be neither read nor written, by the `code` of the error, each with what to do. */
const UNUSABLE = {
  EACCES: "this user lacks the permission. Change the owner or the mode, or work in a copy of the folder",
  EPERM: "this user lacks the permission. Change the owner or the mode, or work in a copy of the folder",
  EROFS: "the file system is read-only. Work in a copy of the folder elsewhere",
  ENOSPC: "there is no room left. Delete what is not needed, such as a folder target",
  EDQUOT: "there is no room left for this user. Delete what is not needed, such as a folder target",
  ENOTDIR: "a file is in the place of a folder. Move it away",
  EEXIST: "a file is in the place of a folder. Move it away",
};

/** Runs an entry point. A `Stop` ends it with its message, a file that cannot be used with the reason, any other error with its stack. */
export async function main(work) {
  try {
    await work();
  } catch (error) {
    await unlessStopping();
    process.stderr.write(`\n${messageOf(error)}\n\n`);
    process.exit(1);
  }
}

/** The text for an error: the message of a `Stop`, the reason why a file cannot be used, or the stack. */
export function messageOf(error) {
  if (error instanceof Stop) return error.message;
  const reason = UNUSABLE[error.code];
  return reason === undefined || error.path === undefined ? error.stack : `${error.path} cannot be used: ${reason} (${error.code}).`;
}
