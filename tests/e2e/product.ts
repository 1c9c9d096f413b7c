// The Worker of a build folder as modules: its entry module, which src/index.ts is for a deployment, and the engine.

import { existsSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { build, type Plugin } from "esbuild";
import { check } from "../../scripts/lib/checker.mjs";

const root = resolve(fileURLToPath(new URL("../..", import.meta.url)));

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

/** The package whose `js/` an engine works with. */
interface Home {
  folder: string;
  version: string;
}

/**
 * The package of the engine in a build folder. The engine and the `js/` that an entry module imports belong together: they call each other, and take only agents of their
 * version. So the package is the one around the build folder, or inside of it, if `js/` and package.json were copied into it, and else this repository.
 */
function homeOf(build: string): Home {
  for (const folder of [build, dirname(build), root]) {
    const manifest = join(folder, "package.json");
    if (!existsSync(manifest) || !existsSync(join(folder, "js", "index.js"))) continue;
    const { name, version } = JSON.parse(readFileSync(manifest, "utf8")) as { name: string; version: string };
    if (name === "a2a-edge") return { folder, version };
  }
  throw new Error(`${root} is not a2a-edge`);
}

/**
 * The entry module of a Worker, bundled like wrangler does it; it imports the engine of the build folder as `./engine.js`. Default: the entry of this
 * repository with its agents. Most tests give other agents in the variable `AGENTS`.
 */
export async function entry(folder: string, path?: string, agents: Agents = checked(path === undefined ? root : dirname(path))): Promise<string> {
  if (!hasBridge(folder)) return olderEntry(agents);
  const home = homeOf(folder);
  // The checked form of this version is not that of another one, whose Worker has its agents from `AGENTS`.
  const own = home.folder === root ? agents : { ...agents, version: home.version };
  const project: Plugin = {
    name: "project",
    setup({ onResolve, onLoad }) {
      onResolve({ filter: /^a2a-edge$/ }, () => ({ path: join(home.folder, "js", "index.js") }));
      onResolve({ filter: /^a2a-edge\/verbs$/ }, () => ({ path: join(home.folder, "js", "verbs.js") }));
      onResolve({ filter: /^a2a-edge\/engine$/ }, () => ({ path: "./engine.js", external: true }));
      onResolve({ filter: /^#agents$/ }, () => ({ path: "agents", namespace: "checked" }));
      onLoad({ filter: /^agents$/, namespace: "checked" }, () => ({ contents: `export default ${JSON.stringify(own)};` }));
    },
  };
  const { outputFiles } = await build({
    entryPoints: [path ?? join(root, "src", "index.ts")],
    bundle: true, format: "esm", write: false, sourcemap: "inline", external: ["cloudflare:*"], plugins: [project],
    // A copied `js/` has a tsconfig.json whose base is missing.
    ...(home.folder !== root && { logLevel: "error" }),
  });
  const [bundle] = outputFiles;
  if (bundle === undefined) throw new Error(`${path} was not bundled`);
  return bundle.text;
}

/** True if the engine of a build folder calls functions of the entry module, as engines from 0.5.0 on do. */
const hasBridge = (folder: string): boolean => /export\s*\{[^}]*\bbridge\b/.test(readFileSync(join(folder, "engine.js"), "utf8"));

/** The entry module for an engine of 0.4.0, which contains the example tools, and takes only agents that 0.4.0 has checked. */
function olderEntry(agents: Agents): string {
  const checkedAgents = JSON.stringify({ ...agents, version: "0.4.0" });
  return `import { start } from "./engine.js";\nexport { TaskObject } from "./engine.js";\nexport default start(${checkedAgents}, { examples: true });\n`;
}

/** The Worker of a build folder as one module, which imports `./index_bg.wasm`. `path` and `agents` are those of `entry`. */
export async function bundled(folder: string, path?: string, agents?: Agents): Promise<string> {
  if (!hasEngine(folder)) return readFileSync(join(folder, "index.js"), "utf8");
  const { outputFiles } = await build({
    stdin: { contents: await entry(folder, path, agents), resolveDir: folder }, bundle: true, minify: true, format: "esm", write: false, external: ["cloudflare:*", "*.wasm"],
  });
  const [bundle] = outputFiles;
  if (bundle === undefined) throw new Error(`${folder} was not bundled`);
  return bundle.text;
}
