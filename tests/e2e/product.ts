// The Worker of a build folder as modules: its entry module, which src/index.ts is for a deployment, and the engine.

import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build, buildSync, type Plugin } from "esbuild";
import { check } from "../../scripts/lib/checker.mjs";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** True if a folder has an engine. A variant that a benchmark has made, and a build of a version before 0.4.0, is one module, `index.js`. */
export const hasEngine = (folder: string): boolean => existsSync(join(folder, "engine.js"));

/** The checked form of agents: the default export of `.a2a-edge/agents.js`. */
export interface Agents {
  version: string;
  index: string;
  agents: Record<string, string>;
}

/** Checks the files of a project, which has code that registers tools. Throws the problems. */
export function checked(folder: string): Agents {
  const { agents, problems } = check({ folder, joins: true }) as { agents?: Agents; problems: { shown: string }[] };
  if (agents === undefined) throw new Error(problems.map(({ shown }) => shown).join("\n"));
  return agents;
}

/** The entry module, with the agents of this repository unless others are given. Most tests give others in the variable `AGENTS`. */
export function entry(agents: Agents = checked(root)): string {
  return `import { start } from "./engine.js";\nexport { TaskObject } from "./engine.js";\nexport default start(${JSON.stringify(agents)}, undefined, { examples: true });\n`;
}

/** The entry module of a project with functions in TypeScript, bundled like wrangler does it; it imports `./engine.js`. */
export async function bundledEntry(path: string, agents: Agents): Promise<string> {
  const project: Plugin = {
    name: "project",
    setup({ onResolve, onLoad }) {
      onResolve({ filter: /^a2a-edge$/ }, () => ({ path: join(root, "js", "index.js") }));
      onResolve({ filter: /^a2a-edge\/engine$/ }, () => ({ path: "./engine.js", external: true }));
      onResolve({ filter: /^#agents$/ }, () => ({ path: "agents", namespace: "checked" }));
      onLoad({ filter: /^agents$/, namespace: "checked" }, () => ({ contents: `export default ${JSON.stringify(agents)};` }));
    },
  };
  const { outputFiles } = await build({
    entryPoints: [path], bundle: true, format: "esm", write: false, sourcemap: "inline", external: ["cloudflare:*"], plugins: [project],
  });
  const [bundle] = outputFiles;
  if (bundle === undefined) throw new Error(`${path} was not bundled`);
  return bundle.text;
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
