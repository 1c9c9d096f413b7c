// Agents in the checked form, made of the texts of their files.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { checked, type Agents } from "./product.ts";

/** The checked form of files, by their paths in the project. */
export function agentsOf(files: Record<string, string>): Agents {
  const folder = mkdtempSync(join(tmpdir(), "a2a-edge-agents-"));
  try {
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), text);
    }
    return checked(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}
