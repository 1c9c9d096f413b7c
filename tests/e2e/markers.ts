// Secrets that are looked for in everything that a Worker says and stores.
import assert from "node:assert/strict";
import { readFileSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";

/** Fails if a text holds one of the markers, by their names, in any form. */
export function assertHidden(markers: Record<string, string>, text: string, where: string): void {
  for (const [name, marker] of Object.entries(markers).filter(([, marker]) => marker.trim() !== "")) {
    const forms = [marker, encodeURIComponent(marker), JSON.stringify(marker).slice(1, -1), JSON.stringify(JSON.stringify(marker)).slice(3, -3)];
    for (const form of forms) assert.ok(!text.includes(form), `${name} in ${where}: ${text.slice(0, 2000)}`);
    for (const [base64] of text.matchAll(/[A-Za-z0-9+/]{40,}={0,2}/g)) {
      assert.ok(!Buffer.from(base64, "base64").toString("latin1").includes(marker), `${name} in bytes of ${where}`);
    }
  }
}

/** The databases below a folder, that is those of objects, of D1 and of queues: their paths and their bytes as text. */
export function databasesIn(folder: string): [path: string, text: string][] {
  const files = readdirSync(folder, { recursive: true }).map((name) => join(folder, String(name))).filter((path) => statSync(path).isFile());
  return files.filter((path) => /\.sqlite(?:-wal)?$/.test(path)).map((path) => [path, readFileSync(path, "latin1")]);
}
