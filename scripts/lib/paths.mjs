import { homedir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export const root = fileURLToPath(new URL("../..", import.meta.url));

export const inRoot = (...parts) => join(root, ...parts);

/** The project's own node_modules/.bin: a fitting Node, wrangler, esbuild, wasm-opt, tsc. */
export const binDir = inRoot("node_modules", ".bin");

/** Where tools that are compiled once are kept, shared by all checkouts. */
export const cacheDir =
  process.env.A2A_EDGE_CACHE || join(process.env.XDG_CACHE_HOME || join(homedir(), ".cache"), "a2a-edge");

/** What `wrangler dev` keeps between starts; the default place, so that a plain wrangler finds it too. */
export const stateDir = inRoot(".wrangler", "state");
