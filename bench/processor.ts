// The processor time of a Worker, and a separate core for the Worker.

import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { cpus } from "node:os";
import { sum } from "./figures.ts";

const IS_REPORTED = existsSync("/proc/self/schedstat");

/**
 * The processor time of a process and its children since their start, all threads together, in milliseconds; NaN if the platform does not
 * report it. Linux reports it in nanoseconds for each thread that has not ended, and the threads of workerd do not.
 */
export function computedMs(pid: number): number {
  if (!IS_REPORTED) return NaN;
  const threads = readdirSync(`/proc/${pid}/task`);
  const children = threads.flatMap((task) => childrenOf(pid, task));
  return sum(threads.map((task) => threadMs(pid, task))) + sum(children.map(computedMs));
}

function threadMs(pid: number, task: string): number {
  try {
    return Number(readFileSync(`/proc/${pid}/task/${task}/schedstat`, "utf8").split(" ")[0]) / 1e6;
  } catch {
    // The thread has ended.
    return 0;
  }
}

function childrenOf(pid: number, task: string): number[] {
  try {
    return readFileSync(`/proc/${pid}/task/${task}/children`, "utf8").split(" ").filter(Boolean).map(Number);
  } catch {
    // The thread has ended, or the kernel has no such list.
    return [];
  }
}

/** Runs the load, which is this process, on one core and Workers on another, until disposed. */
export class Cores implements Disposable {
  /** True if the machine supports this. */
  readonly arePinned: boolean;
  readonly #all: string | undefined;

  constructor() {
    this.#all = affinity(process.pid);
    this.arePinned = cpus().length > 1 && this.#all !== undefined && pin(process.pid, "0");
  }

  /** Moves a running Worker to the other core. */
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

/** Moves all threads of a process; returns true if that succeeded. */
function pin(pid: number, cores: string): boolean {
  try {
    execFileSync("taskset", ["-a", "-c", "-p", cores, String(pid)], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}
