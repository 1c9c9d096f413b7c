// The Rust side of the set-up: the wasm target, and the tool that is compiled once.
import { createHash } from "node:crypto";
import { existsSync, mkdtempSync, readFileSync, readdirSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { progress } from "./cargo.mjs";
import { locked } from "./lock.mjs";
import { cacheDir, inPackage, projectDir } from "./paths.mjs";
import { cargoProgress, cargoTerminal, environment, query, run } from "./process.mjs";
import { Stop, step } from "./ui.mjs";

const toolsDir = join(cacheDir, "tools");
const PART = ".part-";
const TARGET = "wasm32-unknown-unknown";

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
      const host = /^host: (.*)$/m.exec(rustcVersion())?.[1];
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

/** The full version text of the toolchain; a build depends on it. */
export function rustcVersion() {
  return query("rustc", ["-vV"], { cwd: projectDir });
}
