// A project made by `new`, which the step `own-agent` of `npm test` builds and tests.
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { ASSETS } from "./console.mjs";
import { projectFiles } from "./new-project.mjs";
import { inPackage, packageDir } from "./paths.mjs";
import { environment, run } from "./process.mjs";
import { Stop } from "./ui.mjs";

/** Makes a project from the example and from an agent card, and runs its tests, like its author would. Returns true if all succeed. */
export async function tryProject() {
  // Always at the same place, so that cargo reuses its results.
  const place = join(tmpdir(), `a2a-edge-trial-${createHash("sha256").update(packageDir).digest("hex").slice(0, 8)}`);
  const folder = join(place, "trial-agents");
  if (!isCurrent(folder) && !(await make(folder))) return false;
  const targets = process.env.CARGO_TARGET_DIR || inPackage("target");
  const { code } = await run("npm", ["test"], { cwd: folder, env: environment({ CARGO_TARGET_DIR: targets }) });
  removeLibrary(join(targets, "debug", "deps"));
  if (code !== 0) return false;
  const console = join(folder, ASSETS, "console", "index.html");
  if (!existsSync(console)) throw new Stop(`The project has no console: ${console} was not made.`);
  return true;
}

/**
 * Removes the library of this crate from cargo's results for this machine, so that the next build creates it again. The crate is also a cdylib, so its
 * file has the same name whatever features its dependencies have: the project's build replaces that of the tests, and cargo does not notice.
 */
function removeLibrary(folder) {
  if (!existsSync(folder)) return;
  for (const name of readdirSync(folder)) if (/^liba2a_edge\.\w+$/.test(name)) rmSync(join(folder, name));
}

function isCurrent(folder) {
  const stays = ([path, text]) => path === "Cargo.lock" || (existsSync(join(folder, path)) && readFileSync(join(folder, path), "utf8") === text);
  return existsSync(join(folder, "node_modules", ".bin", "a2a-edge")) && [...projectFiles(folder)].every(stays);
}

async function make(folder) {
  const { OLD_CARD, serving } = await import("../../tests/scripts/cards.mjs");
  rmSync(dirname(folder), { recursive: true, force: true });
  mkdirSync(dirname(folder), { recursive: true });
  return serving({ "/.well-known/agent.json": OLD_CARD }, async (origin) => {
    const args = [inPackage("scripts", "new.mjs"), folder, "--from-card", origin];
    return (await run(process.execPath, args, { cwd: packageDir, env: environment() })).code === 0;
  });
}
