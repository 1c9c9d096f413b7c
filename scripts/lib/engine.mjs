// The engine: the WebAssembly and its glue. A checkout and a project with Rust compile it; the package has it with the checker, and all of these must be
// the files that were packed together.
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { inPackage, inProject } from "./paths.mjs";
import { Stop } from "./ui.mjs";

/**
 * The builds and their folders. `default` is what is deployed, optimized for size; `dev` is for `npm run dev`: compiled quickly, neither optimized nor
 * small.
 */
export const outputs = { default: "build", dev: "build-dev" };

/** The module by which wrangler.toml of a project with Rust puts its own engine in the place of that of the package. */
export const OWN_ENGINE = "./.a2a-edge/engine.js";

/** Has wrangler bundle the engine of one of the builds from now on. It has no option for that: an alias is read from wrangler.toml alone. */
export function chooseEngine(output) {
  const file = inProject(OWN_ENGINE);
  const text = `// Written by a2a-edge: which build of the engine is served. Changes are lost.\nexport * from "../${outputs[output]}/engine.js";\n`;
  if (existsSync(file) && readFileSync(file, "utf8") === text) return;
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}

/** The files of the engine in the package, and the record of their hashes. */
export const ENGINE = ["build/engine.js", "build/index_bg.wasm", "build/checker.wasm"];
export const RECORD = "build/build.json";

/** The hash of each file of the engine in a folder, as the record has it. */
export function hashesIn(folder) {
  const hash = (path) => createHash("sha256").update(readFileSync(`${folder}/${path}`)).digest("hex");
  return Object.fromEntries(ENGINE.map((path) => [path, hash(path)]));
}

/** Stops if a file of the engine is missing, or is not the one with which the others were packed. */
export function checkEngine(folder = inPackage()) {
  const missing = [...ENGINE, RECORD].filter((path) => !existsSync(`${folder}/${path}`));
  if (missing.length > 0) throw new Stop(damaged(`${missing.join(", ")} ${missing.length === 1 ? "is" : "are"} missing`));
  const { sha256 } = JSON.parse(readFileSync(`${folder}/${RECORD}`, "utf8"));
  const other = Object.entries(hashesIn(folder)).find(([path, hash]) => sha256?.[path] !== hash);
  if (other !== undefined) throw new Stop(damaged(`${other[0]} is not the file that belongs to the others`));
}

const damaged = (what) => `The npm package a2a-edge in ${inPackage()} is damaged: ${what}.\n\n    Run: rm -rf ${inPackage()} && npm install`;
