// Processor time that a Worker has used, and a core of its own for it.

import { execFileSync } from "node:child_process";
import { readFileSync, readdirSync } from "node:fs";
import { cpus } from "node:os";

/** Ticks of /proc are hundredths of a second on all Linux systems. */
const MS_PER_TICK = 10;

/** Milliseconds that a process and its children have computed since their start, all threads together; NaN where the platform does not tell. */
export function computedMs(pid: number): number {
  if (process.platform !== "linux") return NaN;
  // The name of the program stands in parentheses and may hold anything.
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").replace(/^.*\) /s, "").split(" ");
  const [user, system] = [fields[11], fields[12]].map(Number);
  const children = readdirSync(`/proc/${pid}/task`).flatMap((task) => childrenOf(pid, task));
  return ((user ?? NaN) + (system ?? NaN)) * MS_PER_TICK + children.reduce((total, child) => total + computedMs(child), 0);
}

function childrenOf(pid: number, task: string): number[] {
  try {
    return readFileSync(`/proc/${pid}/task/${task}/children`, "utf8").split(" ").filter(Boolean).map(Number);
  } catch {
    // The thread has ended, or the kernel keeps no such list.
    return [];
  }
}

/** The load, which is this process, on one core and Workers on another, until this is disposed of. */
export class Cores implements Disposable {
  /** Whether the machine allows it. */
  readonly arePinned: boolean;
  readonly #all: string | undefined;

  constructor() {
    this.#all = affinity(process.pid);
    this.arePinned = cpus().length > 1 && this.#all !== undefined && pin(process.pid, "0");
  }

  /** Puts a running Worker on the other core. */
  giveTo(pid: number): void {
    if (this.arePinned) pin(pid, "1");
  }

  [Symbol.dispose](): void {
    if (this.arePinned && this.#all !== undefined) pin(process.pid, this.#all);
  }
}

function affinity(pid: number): string | undefined {
  try {
    return execFileSync("taskset", ["-c", "-p", String(pid)], { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }).split(": ")[1]?.trim();
  } catch {
    return undefined;
  }
}

/** All threads of a process; answers whether that succeeded. */
function pin(pid: number, cores: string): boolean {
  try {
    execFileSync("taskset", ["-a", "-c", "-p", cores, String(pid)], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}
