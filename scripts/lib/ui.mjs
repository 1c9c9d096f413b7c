// The output of the scripts: one heading per long step, one clear message per expected failure.

import { unlessStopping } from "./guard.mjs";

/** An expected failure. Its message is enough for the user, so no stack trace is printed. */
export class Stop extends Error {}

/** Thrown if a step of `npm test` could not check anything on this machine. Its message is the reason. */
export class NotChecked extends Error {}

export function say(text = "") {
  process.stdout.write(`${text}\n`);
}

/** The time since an instant, in readable form. */
export function seconds(since) {
  return duration(Date.now() - since);
}

/** A time in milliseconds, in readable form. */
export function duration(ms) {
  const elapsed = Math.round(ms / 100) / 10;
  return elapsed < 60 ? `${elapsed} s` : `${Math.floor(elapsed / 60)} min ${Math.round(elapsed % 60)} s`;
}

/** Runs `work` under a heading and prints its duration. */
export async function step(title, work) {
  const begun = Date.now();
  say(`==> ${title}`);
  const result = await work();
  say(`    done in ${seconds(begun)}`);
  return result;
}

/** Runs an entry point. A `Stop` ends it with its message, any other error with its stack. */
export async function main(work) {
  try {
    await work();
  } catch (error) {
    await unlessStopping();
    process.stderr.write(`\n${error instanceof Stop ? error.message : error.stack}\n\n`);
    process.exit(1);
  }
}
