// A built Worker inside another module: a test sees, or changes, what passes between the front Worker and the objects.

import { copyFileSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { buildSync } from "esbuild";
import { bundled } from "../e2e/product.ts";

/**
 * Makes a build folder whose Worker is the module `name` next to this one, which imports the Worker of the build folder `build`
 * from "worker" and exports one itself. The harness takes it in place of the other if it is loaded after this. Gives the folder.
 */
export async function wrapBuild(build: string, name: string): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), "a2a-edge-wrapped-"));
  for (const file of ["index_bg.wasm", "build.json", "test-agents.json"]) copyFileSync(join(build, file), join(folder, file));
  const worker = join(folder, "worker.js");
  writeFileSync(worker, await bundled(build));
  buildSync({
    entryPoints: [fileURLToPath(new URL(name, import.meta.url))],
    outfile: join(folder, "index.js"),
    alias: { worker },
    bundle: true,
    format: "esm",
    external: ["cloudflare:*", "*.wasm"],
  });
  process.env["A2A_BUILD_DIR"] = relative(root, folder);
  return folder;
}

const root = fileURLToPath(new URL("../..", import.meta.url));
