// Output, and the programs that make a project ready.
import { spawnSync } from "node:child_process";

/** An expected failure. Its message is enough for the user, so no stack trace is printed. */
export class Stop extends Error {}

export function say(text) {
  process.stdout.write(`${text}\n`);
}

/** Runs a program in a folder. Returns its trimmed output, undefined if it fails or does not exist; `shown` receives all that it said in that case. */
export function query(program, args, folder, shown = () => {}) {
  const { status, error, stdout, stderr } = spawnSync(program, args, { cwd: folder, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
  if (status === 0) return stdout.trim();
  shown(error === undefined ? `${stdout}${stderr}`.trim() : `${program}: ${error.message}`);
  return undefined;
}
