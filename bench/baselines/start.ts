// Starts the baselines, on the same runtime and with the same configuration as a2a-edge.

import { join } from "node:path";
import { buildSync } from "esbuild";
import { EMPTY_WASM, root, startVariant, type Worker, type WorkerOptions } from "../workers.ts";
import { SCHEMA } from "./sdk-stores.ts";

/** The official SDK for TypeScript; sdk.ts defines the variables. `change` returns a replacement of the bundle. */
export function startSdk(vars: Record<string, string> = {}, change?: (bundle: string) => string): Promise<Worker> {
  return startBaseline("sdk.ts", SCHEMA, vars, change);
}

/** Cloudflare's agents SDK; `change` as above. */
export function startAgents(change?: (bundle: string) => string): Promise<Worker> {
  return startBaseline(join("agents", "worker.js"), [], {}, change, { compatibilityFlags: ["nodejs_compat"] });
}

/** The cost of the platform alone; see floors.js. */
export function startFloors(): Promise<Worker> {
  return startBaseline("floors.js", [
    "CREATE TABLE floor (id TEXT PRIMARY KEY, body TEXT NOT NULL) WITHOUT ROWID",
    "CREATE TABLE floor_total (one INTEGER PRIMARY KEY, total INTEGER NOT NULL)",
    "INSERT INTO floor_total VALUES (1, 1000)",
  ]);
}

/** The bundle of a baseline, as it is uploaded. */
export function bundleOf(name: string): string {
  const entryPoints = [join(root, "bench", "baselines", name)];
  const { outputFiles } = buildSync({ entryPoints, bundle: true, minify: true, format: "esm", write: false, external: ["cloudflare:*", "node:*"], conditions: ["workerd"] });
  const [bundle] = outputFiles;
  if (bundle === undefined) throw new Error(`${name} was not bundled`);
  return bundle.text;
}

async function startBaseline(name: string, tables: string[], vars: Record<string, string> = {}, change = (bundle: string) => bundle, options: WorkerOptions = {}): Promise<Worker> {
  const worker = await startVariant({ "index.js": change(bundleOf(name)), "index_bg.wasm": EMPTY_WASM }, vars, options);
  const database = await worker.d1();
  for (const statement of tables) await database.prepare(statement).run();
  return worker;
}
