// A place for what a Worker stores while it is measured or worn out.
import { existsSync, mkdtempSync, rmSync, statfsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** More than all Workers of a run together store. */
const STORAGE_BYTES = 2e9;

/** A folder that is gone when this process is: in memory where there is room. */
export function scratchFolder() {
  const memory = "/dev/shm";
  const fits = existsSync(memory) && statfsSync(memory).bavail * statfsSync(memory).bsize > STORAGE_BYTES;
  const folder = mkdtempSync(join(fits ? memory : tmpdir(), "a2a-edge-scratch-"));
  process.once("exit", () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
  return folder;
}
