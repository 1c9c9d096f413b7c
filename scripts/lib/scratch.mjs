// A temporary place for the storage of Workers during benchmarks and soaks.
import { existsSync, mkdtempSync, rmSync, statfsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** More than all Workers of a run store together. */
const STORAGE_BYTES = 2e9;

/** A folder that is deleted when this process ends: in memory if there is enough room. */
export function scratchFolder() {
  const memory = "/dev/shm";
  const fits = existsSync(memory) && statfsSync(memory).bavail * statfsSync(memory).bsize > STORAGE_BYTES;
  const folder = mkdtempSync(join(fits ? memory : tmpdir(), "a2a-edge-scratch-"));
  process.once("exit", () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
  return folder;
}
