// The assets that are uploaded with the Worker: the console, which the package has ready to serve.
import { readFileSync } from "node:fs";
import { inProject } from "./paths.mjs";

/** The folder of the package with the assets. It is none of the Worker's builds: inside of one, wrangler would treat pages as modules. */
export const ASSETS = "build-console/assets";

/** True if wrangler.toml has assets; a project leaves the console out by leaving out this table. */
export function servesAssets(text = readFileSync(inProject("wrangler.toml"), "utf8")) {
  return /^[ \t]*(?:\[[ \t]*(?:env\.[\w-]+\.)?assets[ \t]*\]|assets[ \t]*=)/m.test(text);
}
