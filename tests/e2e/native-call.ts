// Runs the native programs of crates/a2a/examples, which `npm test` builds.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const folder = process.env["A2A_EXAMPLES"] ?? fileURLToPath(new URL("../../target/debug/examples", import.meta.url));

/** A running program. */
export interface Running {
  /** The text that the program has printed on standard output so far. */
  output(): string;
  /** The text that the program has printed on standard error so far. */
  notes(): string;
  /** The result of the program. */
  ended: Promise<Ended>;
}

/** The result of an ended program. */
export interface Ended {
  code: number | null;
  output: string;
  notes: string;
}

/** Starts a program. Its environment has no proxy, and only these credentials. */
export function start(program: string, args: string[], env: Record<string, string> = {}): Running {
  const child = spawn(join(folder, program), args, { env: { PATH: process.env["PATH"] ?? "", ...env }, stdio: ["ignore", "pipe", "pipe"] });
  const texts = { output: "", notes: "" };
  child.stdout.setEncoding("utf8").on("data", (text: string) => (texts.output += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (texts.notes += text));
  const ended = once(child, "close").then(([code]) => ({ code: code as number | null, ...texts }));
  return { output: () => texts.output, notes: () => texts.notes, ended };
}

/** Runs the client for the command line. */
export function call(...args: string[]): Promise<Ended> {
  return start("call", args).ended;
}
