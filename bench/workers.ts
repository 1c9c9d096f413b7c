// The measured Workers, started by the harness of the end-to-end tests: the build, other builds, and variants.

import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import type * as Harness from "../tests/e2e/harness.ts";

export type Worker = Harness.Worker;

export type WorkerOptions = Harness.WorkerOptions;

export const root = fileURLToPath(new URL("..", import.meta.url));

/** The folder of the measured build, relative to the repository. */
export const builtFolder = process.env["A2A_BUILD_DIR"] ?? "build";

/** The modules of an upload. */
export interface Modules {
  "index.js": string;
  "index_bg.wasm": Uint8Array;
}

/** An empty module, since the harness requires one. */
export const EMPTY_WASM = new Uint8Array([0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00]);

/** Starts a build as deployed: without the additions of `DEVELOPMENT`, and with static assets only if their folder is passed. */
export function startBuilt(vars: Record<string, string> = {}, folder = builtFolder, assets?: string, options: WorkerOptions = {}): Promise<Worker> {
  return start(folder, vars, { ...options, ...(assets !== undefined && { assets }) });
}

/** Starts other modules in place of the build, including the agents for development. */
export async function startVariant(modules: Modules, vars: Record<string, string> = {}, options: WorkerOptions = {}): Promise<Worker> {
  const folder = mkdtempSync(join(tmpdir(), "build-"));
  for (const [name, content] of Object.entries(modules)) writeFileSync(join(folder, name), content);
  copyFileSync(join(root, builtFolder, "test-agents.json"), join(folder, "test-agents.json"));
  const worker = await start(relative(root, folder), { DEVELOPMENT: "true", ...vars }, options);
  const { stop } = worker;
  worker.stop = async () => {
    await stop();
    rmSync(folder, { recursive: true, force: true });
  };
  return worker;
}

async function start(buildDir: string, vars: Record<string, string>, options: WorkerOptions = {}): Promise<Worker> {
  // The harness reads the folder of its build when it is loaded, so each build gets its own harness.
  process.env["A2A_BUILD_DIR"] = buildDir;
  const harness = (await import(`../tests/e2e/harness.ts?${buildDir}`)) as typeof Harness;
  return harness.startWorker({ ...options, vars: { DEVELOPMENT: "false", ...vars } });
}
