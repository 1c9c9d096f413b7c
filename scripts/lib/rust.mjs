// The Rust side of the set-up: wasm target, the tool that is compiled once, and the nightly for the panic-unwind build.
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { progress } from "./cargo.mjs";
import { locked } from "./lock.mjs";
import { cacheDir, inPackage, projectDir } from "./paths.mjs";
import { cargoProgress, cargoTerminal, environment, query, run } from "./process.mjs";
import { leastRust } from "./requirements.mjs";
import { Stop, step } from "./ui.mjs";
import { atLeast } from "./versions.mjs";

const toolsDir = join(cacheDir, "tools");
const PART = ".part-";
const TARGET = "wasm32-unknown-unknown";
const NIGHTLY_INSTALL_MS = 5 * 60_000;
const NIGHTLY_RETRY_MS = 24 * 60 * 60_000;

/** Adds the wasm target to the active toolchain if it is missing. */
export async function ensureWasmTarget() {
  const libraries = query("rustc", ["--print", "target-libdir", "--target", TARGET], { cwd: projectDir });
  if (libraries !== undefined && existsSync(libraries)) return;
  await step(`Adding the Rust target ${TARGET}`, async () => {
    const { code } = await run("rustup", ["target", "add", TARGET], { cwd: projectDir });
    if (code !== 0) throw new Stop(`The Rust target ${TARGET} could not be added.\n\n    Run: rustup target add ${TARGET}`);
  });
}

/** Adds components of the active toolchain (rustfmt, clippy) that are missing. */
export async function ensureComponents(components) {
  const missing = components.filter(([, command]) => query("cargo", [command, "--version"], { cwd: projectDir }) === undefined);
  if (missing.length === 0) return;
  const names = missing.map(([name]) => name);
  await step(`Adding the Rust components ${names.join(", ")}`, async () => {
    const { code } = await run("rustup", ["component", "add", ...names], { cwd: projectDir });
    if (code !== 0) throw new Stop(`They could not be added.\n\n    Run: rustup component add ${names.join(" ")}`);
  });
}

/** Makes sure that the tool in scripts/bindgen is compiled and in the cache; returns its path. */
export async function ensureBindgen() {
  const sources = ["Cargo.toml", "Cargo.lock", join("src", "main.rs")].map((name) => inPackage("scripts", "bindgen", name));
  const hash = createHash("sha256");
  for (const file of sources) hash.update(readFileSync(file));
  const path = join(toolsDir, `bindgen-${hash.digest("hex").slice(0, 12)}`);
  if (!existsSync(path)) {
    await locked(join(toolsDir, "install.lock"), async () => {
      if (!existsSync(path)) await compileBindgen(sources[0], path);
    });
  }
  return path;
}

/** Compiles in a temporary folder and moves the tool at the end, so that an incomplete tool never appears. */
async function compileBindgen(manifest, path) {
  await step("Compiling the tool for JavaScript bindings (once)", async () => {
    for (const entry of readdirSync(toolsDir)) {
      // Left by a compilation that was killed; because of the lock, no other compilation is running.
      if (entry.includes(PART)) rmSync(join(toolsDir, entry), { recursive: true, force: true });
    }
    const aside = mkdtempSync(path + PART);
    try {
      // The host is passed explicitly, because the project's settings may select WebAssembly.
      const host = /^host: (.*)$/m.exec(rustcVersion(false))?.[1];
      const args = ["--locked", "--manifest-path", manifest, "--target-dir", aside, ...(host ? ["--target", host] : [])];
      const { code, output } = await run("cargo", ["build", "--release", ...args], {
        cwd: projectDir,
        env: environment({ ...cargoTerminal(), ...cargoProgress(), RUSTFLAGS: undefined }),
        shows: progress(),
      });
      const built = join(aside, host ?? "", "release", "a2a-edge-bindgen");
      if (code !== 0 || !existsSync(built)) throw new Stop(`The tool could not be compiled:\n\n${output.trim()}`);
      renameSync(built, path);
    } finally {
      rmSync(aside, { recursive: true, force: true });
    }
  });
}

/**
 * Prepares the toolchain named `nightly` for the panic-unwind build. Returns undefined if it is ready, or else the
 * reason why not.
 */
export async function ensureNightly() {
  if (!hasNightly()) {
    const failed = join(cacheDir, "nightly-failed");
    if (existsSync(failed) && Date.now() - statSync(failed).mtimeMs < NIGHTLY_RETRY_MS) {
      return "no nightly toolchain could be installed; retry with: rustup toolchain install nightly --profile minimal -c rust-src";
    }
    const installed = await step("Installing the nightly toolchain for the panic-unwind build", async () => {
      const args = ["toolchain", "install", "nightly", "--profile", "minimal", "-c", "rust-src", "-t", TARGET, "--no-self-update"];
      const { code } = await run("rustup", args, { cwd: projectDir, timeoutMs: NIGHTLY_INSTALL_MS });
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
  const sysroot = query("rustc", ["+nightly", "--print", "sysroot"], { cwd: projectDir });
  const parts = [
    ["component", "rust-src", join(sysroot, "lib", "rustlib", "src", "rust", "library", "Cargo.lock")],
    ["target", TARGET, join(sysroot, "lib", "rustlib", TARGET, "lib")],
  ];
  for (const [kind, name, proof] of parts) {
    if (existsSync(proof)) continue;
    const { code } = await step(`Adding ${name} to the nightly toolchain`, () =>
      run("rustup", [kind, "add", name, "--toolchain", "nightly"], { cwd: projectDir, timeoutMs: NIGHTLY_INSTALL_MS }),
    );
    if (code !== 0) return `${name} could not be added to the nightly toolchain`;
  }
  return undefined;
}

/** The full version text of the toolchain of a kind of build; a build depends on it. */
export function rustcVersion(unwind) {
  return query("rustc", unwind ? ["+nightly", "-vV"] : ["-vV"], { cwd: projectDir });
}

function hasNightly() {
  return /^nightly-(?!\d{4}-)/m.test(query("rustup", ["toolchain", "list"], { cwd: projectDir }) ?? "");
}

function nightlyVersion() {
  return /^rustc (\d+\.\d+\.\d+)/.exec(query("rustc", ["+nightly", "--version"], { cwd: projectDir }) ?? "")?.[1];
}
