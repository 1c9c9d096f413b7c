// The Rust side of the set-up: wasm target, tools built once, and the nightly for the panic-unwind build.
import { existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { locked } from "./lock.mjs";
import { cacheDir, inRoot, root } from "./paths.mjs";
import { cargoTerminal, environment, query, run } from "./process.mjs";
import { atLeast, leastRust } from "./requirements.mjs";
import { Stop, step } from "./ui.mjs";

const toolsDir = join(cacheDir, "tools");
const PART = ".part-";
const TARGET = "wasm32-unknown-unknown";
const NIGHTLY_INSTALL_MS = 5 * 60_000;
const NIGHTLY_RETRY_MS = 24 * 60 * 60_000;

/** The version of a crate in Cargo.lock. */
function lockedVersion(crate) {
  const text = existsSync(inRoot("Cargo.lock")) ? readFileSync(inRoot("Cargo.lock"), "utf8") : "";
  const version = new RegExp(`name = "${crate}"\\nversion = "([^"]+)"`).exec(text.replace(/\r/g, ""))?.[1];
  if (version === undefined) throw new Stop(`Cargo.lock does not name the crate ${crate}.\n\n    Run: cargo generate-lockfile`);
  return version;
}

/** Adds the wasm target to the active toolchain where it is missing. */
export async function ensureWasmTarget() {
  const libraries = query("rustc", ["--print", "target-libdir", "--target", TARGET], { cwd: root });
  if (libraries !== undefined && existsSync(libraries)) return;
  await step(`Adding the Rust target ${TARGET}`, async () => {
    const { code } = await run("rustup", ["target", "add", TARGET], { cwd: root });
    if (code !== 0) throw new Stop(`The Rust target ${TARGET} could not be added.\n\n    Run: rustup target add ${TARGET}`);
  });
}

/** Adds components of the active toolchain (rustfmt, clippy) where they are missing. */
export async function ensureComponents(components) {
  const missing = components.filter(([, command]) => query("cargo", [command, "--version"], { cwd: root }) === undefined);
  if (missing.length === 0) return;
  const names = missing.map(([name]) => name);
  await step(`Adding the Rust components ${names.join(", ")}`, async () => {
    const { code } = await run("rustup", ["component", "add", ...names], { cwd: root });
    if (code !== 0) throw new Stop(`They could not be added.\n\n    Run: rustup component add ${names.join(" ")}`);
  });
}

/**
 * Makes sure that worker-build and wasm-bindgen, in the versions that Cargo.lock fits, are in the cache;
 * answers the paths of both.
 */
export async function ensureTools() {
  const tools = [
    tool("worker-build", lockedVersion("worker"), "worker-build"),
    tool("wasm-bindgen-cli", lockedVersion("wasm-bindgen"), "wasm-bindgen"),
  ];
  if (tools.some((one) => !existsSync(one.path))) {
    await locked(join(toolsDir, "install.lock"), async () => {
      for (const one of tools) if (!existsSync(one.path)) await install(one);
    });
  }
  const [workerBuild, wasmBindgen] = tools.map((one) => one.path);
  return { workerBuild, wasmBindgen };
}

function tool(crate, version, binary) {
  const home = join(toolsDir, `${crate}-${version}`);
  return { crate, version, home, path: join(home, "bin", binary) };
}

/** Compiles into a folder aside and renames it at the end, so that a tool is there whole or not at all. */
async function install({ crate, version, home, path }) {
  await step(`Building ${crate} ${version} (once, a few minutes)`, async () => {
    for (const entry of readdirSync(toolsDir)) {
      // Left by an installation that was killed; ours is the only one that runs (see the lock).
      if (entry.includes(PART)) rmSync(join(toolsDir, entry), { recursive: true, force: true });
    }
    const aside = mkdtempSync(home + PART);
    try {
      const { code } = await run("cargo", ["install", crate, "--version", version, "--locked", "--root", aside, "--no-track"], {
        cwd: aside,
        env: environment({ ...cargoTerminal(), CARGO_TARGET_DIR: join(aside, "target") }),
      });
      if (code !== 0) throw new Stop(`${crate} ${version} could not be built; the messages are above.`);
      rmSync(join(aside, "target"), { recursive: true, force: true });
      rmSync(home, { recursive: true, force: true });
      renameSync(aside, home);
    } finally {
      rmSync(aside, { recursive: true, force: true });
    }
    if (!existsSync(path)) throw new Stop(`${path} is missing after its installation.`);
  });
}

/**
 * Makes the toolchain named `nightly` ready for the panic-unwind build (worker-build knows it by that name only).
 * Answers undefined where it is, else the reason why not.
 */
export async function ensureNightly() {
  if (!hasNightly()) {
    const failed = join(cacheDir, "nightly-failed");
    if (existsSync(failed) && Date.now() - statSync(failed).mtimeMs < NIGHTLY_RETRY_MS) {
      return "no nightly toolchain could be installed; retry with: rustup toolchain install nightly --profile minimal -c rust-src";
    }
    const installed = await step("Installing the nightly toolchain for the panic-unwind build", async () => {
      const args = ["toolchain", "install", "nightly", "--profile", "minimal", "-c", "rust-src", "-t", TARGET, "--no-self-update"];
      const { code } = await run("rustup", args, { cwd: root, timeoutMs: NIGHTLY_INSTALL_MS });
      return code === 0 && hasNightly();
    });
    mkdirSync(cacheDir, { recursive: true });
    if (!installed) {
      writeFileSync(failed, "Its age tells when to try again.\n");
      return "the nightly toolchain could not be installed";
    }
    rmSync(failed, { force: true });
  }
  const version = nightlyVersion();
  if (version === undefined || !atLeast(version, leastRust())) {
    return `the nightly toolchain is ${version ?? "not usable"}, at least ${leastRust()} is needed; run: rustup update nightly`;
  }
  const sysroot = query("rustc", ["+nightly", "--print", "sysroot"], { cwd: root });
  const parts = [
    ["component", "rust-src", join(sysroot, "lib", "rustlib", "src", "rust", "library", "Cargo.lock")],
    ["target", TARGET, join(sysroot, "lib", "rustlib", TARGET, "lib")],
  ];
  for (const [kind, name, proof] of parts) {
    if (existsSync(proof)) continue;
    const { code } = await step(`Adding ${name} to the nightly toolchain`, () =>
      run("rustup", [kind, "add", name, "--toolchain", "nightly"], { cwd: root, timeoutMs: NIGHTLY_INSTALL_MS }),
    );
    if (code !== 0) return `${name} could not be added to the nightly toolchain`;
  }
  return undefined;
}

/** The full version text of the toolchain that a kind of build uses; part of what a build depends on. */
export function rustcVersion(unwind) {
  return query("rustc", unwind ? ["+nightly", "-vV"] : ["-vV"], { cwd: root });
}

function hasNightly() {
  return /^nightly-(?!\d{4}-)/m.test(query("rustup", ["toolchain", "list"], { cwd: root }) ?? "");
}

function nightlyVersion() {
  return /^rustc (\d+\.\d+\.\d+)/.exec(query("rustc", ["+nightly", "--version"], { cwd: root }) ?? "")?.[1];
}
