// The foreign programs of tests/peers, installed according to their lock files.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { locked } from "./lock.mjs";
import { ensureNpm } from "./npm-folder.mjs";
import { inPackage } from "./paths.mjs";
import { environment, run } from "./process.mjs";
import { ensurePython, virtualEnvironment } from "./python.mjs";
import { Stop, say, step } from "./ui.mjs";

const folder = inPackage("tests", "peers");

/**
 * Installs missing programs. Returns the paths of the Rust programs, the second for MCP, and of the Python interpreters, if there is a Python: `python` has the
 * packages of requirements.txt, `older` those of requirements-older.txt, `newest` the current SDK, `mcp` the packages of requirements-mcp.txt, and `frameworks`
 * those of requirements-frameworks.txt.
 */
export async function ensurePeers() {
  return locked(inPackage(".wrangler", "peers.lock"), async () => {
    await ensureNpm(folder, "Installing the peers in JavaScript");
    const [python, older] = [await ensurePackages("requirements.txt"), await ensurePackages("requirements-older.txt")];
    const [mcp, frameworks] = [await ensurePackages("requirements-mcp.txt"), await ensurePackages("requirements-frameworks.txt")];
    if (python === undefined) say("Leaving out the peers in Python: they want Python 3.11 or newer with venv.");
    const { A2A_PYTHON: newest } = await ensurePython();
    return { rust: await ensureRust(), python, older, newest, mcp, frameworks };
  });
}

/** The interpreter with the packages of this file; undefined without a suitable Python. */
async function ensurePackages(file) {
  const requirements = join(folder, file);
  // The files list every package with its hashes. Resolving them again fails after a newer version of a package with extras was published.
  const install = ["--no-deps", "--require-hashes", "-r", requirements];
  return virtualEnvironment({ name: "peers", title: "Installing the peers in Python", least: [3, 11], requirements, install });
}

/** Compiles the Rust programs; cargo skips this if they are current. */
async function ensureRust() {
  const targets = inPackage("target", "peers");
  const work = async () => {
    const env = environment({ CARGO_TARGET_DIR: targets });
    const { code } = await run("cargo", ["build", "--locked", "--quiet"], { cwd: join(folder, "rust"), env });
    if (code !== 0) throw new Stop("The peers in Rust were not built; what the compiler says is above.");
  };
  const programs = ["peer", "mcp", "otlp"].map((name) => join(targets, "debug", name));
  await (programs.every((program) => existsSync(program)) ? work() : step("Building the peers in Rust (once, a few minutes)", work));
  return programs;
}
