// A built Worker inside another module: a test sees, or changes, what passes between the front Worker and the objects.

import { copyFileSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { buildSync } from "esbuild";
import { bundled, type Agents } from "../e2e/product.ts";

/** What `wrapBuild` may be given. */
interface Wrapping {
  /** What is defined in the module, by name. */
  constants?: Record<string, string>;
  /** The agents of the Worker. Default: those of this repository. */
  agents?: Agents;
}

/**
 * Makes a build folder whose Worker is the module `name` next to this one, which imports the Worker of the build folder `build`
 * from "worker" and exports one itself. Gives the folder.
 */
export async function wrapBuild(build: string, name: string, { constants = {}, agents }: Wrapping = {}): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), "a2a-edge-wrapped-"));
  for (const file of ["index_bg.wasm", "build.json", "test-agents.json"]) copyFileSync(join(build, file), join(folder, file));
  const worker = join(folder, "worker.js");
  writeFileSync(worker, await bundled(build, undefined, agents));
  buildSync({
    entryPoints: [fileURLToPath(new URL(name, import.meta.url))],
    outfile: join(folder, "index.js"),
    alias: { worker },
    define: constants,
    bundle: true,
    format: "esm",
    external: ["cloudflare:*", "*.wasm"],
  });
  return folder;
}
