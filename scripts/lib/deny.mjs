// Licences, sources and known faults of the crates we depend on, where cargo-deny is installed.
import { inPackage, packageDir } from "./paths.mjs";
import { cargoTerminal, environment, query, run } from "./process.mjs";
import { say } from "./ui.mjs";

/** Checks the workspace and the tool of the scripts against deny.toml; answers whether all is well. */
export async function checkDependencies() {
  if (query("cargo", ["deny", "--version"], { cwd: packageDir }) === undefined) {
    say("    cargo deny is not installed, so dependencies are not checked; to install it: cargo install --locked cargo-deny");
    return true;
  }
  const manifests = [inPackage("Cargo.toml"), inPackage("scripts", "bindgen", "Cargo.toml")];
  let isWell = true;
  for (const manifest of manifests) {
    isWell = (await deny(manifest, "bans", "licenses", "sources")).code === 0 && isWell;
    const { code, output } = await deny(manifest, "advisories");
    if (code !== 0 && /failed to fetch advisory database/.test(output)) say("    The database of advisories cannot be reached, so they are not checked.");
    else isWell = code === 0 && isWell;
  }
  return isWell;
}

function deny(manifest, ...checks) {
  const args = ["deny", "--manifest-path", manifest, "check", "--config", inPackage("deny.toml"), ...checks];
  return run("cargo", args, { cwd: packageDir, env: environment(cargoTerminal()) });
}
