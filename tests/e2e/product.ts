// The Worker of a build folder as modules: its entry module, which src/index.ts is for a deployment, and the engine.

import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { buildSync } from "esbuild";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** True if a folder has an engine. A variant that a benchmark has made, and a build of a version before 0.4.0, is one module, `index.js`. */
export const hasEngine = (folder: string): boolean => existsSync(join(folder, "engine.js"));

/** The entry module. Its own agents are none: every Worker of the tests has the variable `AGENTS`. */
export function entry(): string {
  const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { version: string };
  const agents = JSON.stringify({ version, index: JSON.stringify({ built_ms: 0, agents: [] }), agents: {} });
  return `import { start } from "./engine.js";\nexport { TaskObject } from "./engine.js";\nexport default start(${agents}, { examples: true });\n`;
}

/** The Worker of a build folder as one module, which imports `./index_bg.wasm`. */
export function bundled(folder: string): string {
  if (!hasEngine(folder)) return readFileSync(join(folder, "index.js"), "utf8");
  const { outputFiles } = buildSync({
    stdin: { contents: entry(), resolveDir: folder }, bundle: true, minify: true, format: "esm", write: false, external: ["cloudflare:*", "*.wasm"],
  });
  const [bundle] = outputFiles;
  if (bundle === undefined) throw new Error(`${folder} was not bundled`);
  return bundle.text;
}
