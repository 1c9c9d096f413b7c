// When and where this process measures.

import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { root } from "../workers.ts";
import type { Origin } from "./results.ts";

/** When and where this process began to measure. */
export function originNow(): Omit<Origin, "runs"> {
  const processors = cpus();
  const { version } = JSON.parse(readFileSync(join(root, "node_modules", "workerd", "package.json"), "utf8")) as { version: string };
  return {
    date: new Date().toISOString().slice(0, 10),
    revision: revision(),
    machine: `${processors.length} cores, ${processors[0]?.model ?? "unknown"}, ${process.platform} ${process.arch}`,
    storage: `${tmpdir()}/`.startsWith("/dev/shm/") ? "in memory (/dev/shm)" : "a disk",
    software: `workerd ${version}, Node ${process.versions.node}`,
  };
}

/** Files that a run writes itself are no changes. */
const WRITTEN = [":!docs/benchmarks.md", ":!docs/benchmarks-*.svg", ":!docs/comparison.md", ":!bench/results.json"];

function revision(): string {
  const git = (...args: string[]): string =>
    execFileSync("git", args, { cwd: root, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }).trim();
  try {
    const changed = git("status", "--porcelain", "--", ".", ...WRITTEN) !== "";
    return git("rev-parse", "--short", "HEAD") + (changed ? " with changes" : "");
  } catch {
    return "unknown";
  }
}
