// Checks what must be installed on the machine already. Each missing thing is reported with the command that installs
// it.
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { RECORD } from "./engine.mjs";
import { inPackage, isCheckout, isRepository, projectDir } from "./paths.mjs";
import { query } from "./process.mjs";
import { Stop } from "./ui.mjs";
import { atLeast } from "./versions.mjs";

// Otherwise rustup would install the toolchain of rust-toolchain.toml during the first check, silently and for minutes.
// Missing toolchains are reported here, or added in a separate step.
process.env.RUSTUP_AUTO_INSTALL ||= "0";

/** Checks rustup, Rust, a C compiler and npm; throws one `Stop` that lists everything missing. */
export function checkRequirements() {
  const missing = [rust(), compiler(), npm()].filter(Boolean);
  if (missing.length > 0) throw new Stop(missing.join("\n\n"));
}

/** The oldest Rust that can build the crate: from Cargo.toml of a checkout, or from the record of an installed package, which has no crate. */
export function leastRust() {
  if (!isCheckout) return JSON.parse(readFileSync(inPackage(RECORD), "utf8")).rust;
  return /^rust-version\s*=\s*"([^"]+)"/m.exec(readFileSync(inPackage("Cargo.toml"), "utf8"))[1];
}

function rust() {
  if (query("rustup", ["--version"]) === undefined) {
    const cargoBin = join(process.env.CARGO_HOME || join(homedir(), ".cargo"), "bin");
    return existsSync(join(cargoBin, "rustup"))
      ? `rustup is installed in ${cargoBin}, but that is not in the PATH.\n\n    Run: export PATH="${cargoBin}:$PATH"`
      : "rustup, the installer of Rust, is missing.\n\n" +
          "    Run: curl --proto '=https' --tlsv1.2 -sSf https://sh.rustup.rs | sh\n" +
          "    and then open a new terminal.";
  }
  const rustc = query("rustc", ["--version"], { cwd: projectDir });
  const cargo = query("cargo", ["--version"], { cwd: projectDir });
  if (rustc === undefined || cargo === undefined) {
    const install = isRepository ? "rustup toolchain install stable" : "rustup default stable";
    return `rustup has no usable Rust toolchain for this folder (rustc or cargo does not run).\n\n    Run: ${install}`;
  }
  const version = /^rustc (\d+\.\d+\.\d+)/.exec(rustc)?.[1] ?? "0.0.0";
  if (!atLeast(version, leastRust())) {
    const active = query("rustup", ["show", "active-toolchain"], { cwd: projectDir })?.split(/\s/)[0] ?? "stable";
    const update = active.startsWith("stable") ? "rustup update stable" : "rustup update stable && rustup default stable";
    return `Rust ${leastRust()} or newer is needed; the active toolchain (${active}) is ${version}.\n\n    Run: ${update}`;
  }
  return undefined;
}

/** Build scripts and procedural macros are linked with `cc`, so `cc` must be able to link a program. */
function compiler() {
  const advice = [
    "    Debian, Ubuntu: sudo apt-get install build-essential",
    "    Fedora:         sudo dnf install gcc",
    "    macOS:          xcode-select --install",
  ].join("\n");
  const out = join(tmpdir(), `a2a-edge-cc-${process.pid}`);
  const trial = spawnSync("cc", ["-x", "c", "-", "-o", out], { input: "int main(void) { return 0; }\n", encoding: "utf8" });
  spawnSync("rm", ["-f", out]);
  if (trial.signal) throw new Stop(`cc was ended by ${trial.signal}.`);
  if (trial.error?.code === "ENOENT") return `A C compiler (cc) is missing; Rust links its build scripts with it.\n\n${advice}`;
  if (trial.status !== 0) return `The C compiler (cc) cannot build a program:\n\n${trial.stderr.trim()}\n\n${advice}`;
  return undefined;
}

function npm() {
  if (query("npm", ["--version"]) !== undefined) return undefined;
  return "npm is missing; it comes with Node.js.\n\n    Install the current LTS from https://nodejs.org, or: nvm install 24";
}
