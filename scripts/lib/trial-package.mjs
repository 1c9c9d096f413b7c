// Tries the packed packages as their users do: projects that the step `package` of `npm test`, and `npm run test:peers`, make and run.
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { packCreate, packEngine } from "./pack.mjs";
import { packagedNode } from "./packages.mjs";
import { inPackage, packageDir } from "./paths.mjs";
import { environment, run } from "./process.mjs";

/** The programs that a project without Rust has: those of Node, and what a shell needs. There is neither cargo nor a C compiler. */
const PROGRAMS = ["env", "git", "npm", "npx", "ps", "sh", "sleep"];

const TEST_TIMEOUT_MS = 300_000;

/** Packs the packages, makes a project of the tarballs alone in an empty folder, and runs its tests and commands. Returns true if all succeed. */
export async function tryPackage() {
  const place = emptyFolder("trial");
  const PATH = programs(join(place, "bin"));
  const [engine, create] = [await packEngine(place), await packCreate(place)];
  if ((await run("tar", ["-xzf", create], { cwd: place })).code !== 0) return false;
  const env = { ...process.env, PATH };
  const made = await run(join(place, "bin", "node"), [join("package", "index.mjs"), "basic-agents", "--package", engine], { cwd: place, env });
  if (made.code !== 0) return false;
  const tests = readdirSync(inPackage("tests", "package")).filter((name) => name.endsWith(".test.mjs")).sort();
  const args = ["--disable-warning=ExperimentalWarning", "--test", "--test-reporter=spec", "--test-concurrency=1", `--test-timeout=${TEST_TIMEOUT_MS}`];
  const paths = tests.map((name) => join("tests", "package", name));
  const { code } = await run(packagedNode(), [...args, ...paths], { cwd: packageDir, env: environment({ A2A_TRIAL: join(place, "basic-agents"), A2A_TRIAL_PATH: PATH }) });
  return code === 0;
}

/**
 * Makes a project with a crate, and with the agent of a card, as `create` makes it in a checkout, and runs its tests. Returns true if all succeed. It
 * compiles the library once more, for minutes; `npm test` compiles and tests the crate of the template as a part of this workspace.
 */
export async function tryRustProject() {
  const place = emptyFolder("rust-trial");
  const { OLD_CARD, serving } = await import("../../tests/scripts/cards.mjs");
  const folder = join(place, "rust-agents");
  const made = await serving({ "/.well-known/agent.json": OLD_CARD }, (origin) =>
    run(packagedNode(), [inPackage("create", "index.mjs"), folder, "--rust", "--from-card", origin], { cwd: packageDir, env: environment() }));
  if (made.code !== 0) return false;
  const targets = process.env.CARGO_TARGET_DIR || inPackage("target");
  const { code } = await run("npm", ["test"], { cwd: folder, env: environment({ CARGO_TARGET_DIR: targets }) });
  removeLibrary(join(targets, "debug", "deps"));
  return code === 0;
}

/** An empty folder, always at the same place, so that cargo reuses its results. */
function emptyFolder(name) {
  const place = join(tmpdir(), `a2a-edge-${name}-${createHash("sha256").update(packageDir).digest("hex").slice(0, 8)}`);
  rmSync(place, { recursive: true, force: true });
  mkdirSync(place);
  return place;
}

/** A folder with links to the programs of a machine without Rust, as the value of PATH. */
function programs(folder) {
  mkdirSync(folder);
  symlinkSync(packagedNode(), join(folder, "node"));
  const places = process.env.PATH.split(delimiter).filter((path) => !path.endsWith(join("node_modules", ".bin")));
  for (const name of PROGRAMS) {
    const program = places.map((path) => join(path, name)).find(existsSync);
    if (program !== undefined) symlinkSync(program, join(folder, name));
  }
  return folder;
}

/**
 * Removes the library of this crate from cargo's results for this machine, so that the next build creates it again. The crate is also a cdylib, so its
 * file has the same name whatever features its dependencies have: the project's build replaces that of the tests, and cargo does not notice.
 */
function removeLibrary(folder) {
  if (!existsSync(folder)) return;
  for (const name of readdirSync(folder)) if (/^liba2a_edge\.\w+$/.test(name)) rmSync(join(folder, name));
}
