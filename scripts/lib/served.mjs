// The module that `start` and `dev` serve: the entry module of the Worker behind the front of development (dev/), which no deployment contains.
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, relative, sep } from "node:path";
import { developmentSource } from "./development.mjs";
import { inProject, projectDir } from "./paths.mjs";

const MAIN = inProject(".a2a-edge", "development.js");

/** Writes the module for wrangler, and gives its path. `main` is that of wrangler.toml. A deploy does not import the module. */
export function publishServed(main) {
  const entry = relative(dirname(MAIN), main).split(sep).join("/");
  mkdirSync(dirname(MAIN), { recursive: true });
  writeFileSync(MAIN, developmentSource(entry));
  return relative(projectDir, MAIN);
}
