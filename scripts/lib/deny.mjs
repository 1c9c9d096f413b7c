// Checks licences, sources and known vulnerabilities of our dependencies with cargo-deny, if that is installed.
import { inPackage, packageDir, shown } from "./paths.mjs";
import { query, run } from "./process.mjs";
import { NotChecked, Stop, say } from "./ui.mjs";

const MISSING = "cargo-deny is not installed; to install it: cargo install --locked cargo-deny";

/**
 * Checks the workspace and the tool of the scripts against deny.toml; returns true if there are no problems. If cargo-deny is not installed,
 * throws `NotChecked`, or a `Stop` if `A2A_DENY=required` is set.
 */
export async function checkDependencies() {
  if (query("cargo", ["deny", "--version"], { cwd: packageDir }) === undefined) {
    // The variable `CI` is not used: it is also set on machines that cannot install cargo-deny, where all other checks must run.
    throw process.env.A2A_DENY === "required" ? new Stop(MISSING) : new NotChecked(MISSING);
  }
  const problems = [];
  for (const manifest of [inPackage("Cargo.toml"), inPackage("scripts", "bindgen", "Cargo.toml")]) {
    const policy = await deny(manifest, "bans", "licenses", "sources");
    if (policy.code !== 0) problems.push(policy.output);
    const advisories = await deny(manifest, "advisories");
    if (advisories.code === 0) continue;
    if (!advisories.output.includes("failed to fetch advisory database")) problems.push(advisories.output);
    else say(`    ${shown(manifest)}: the database of advisories cannot be reached, so they are not checked`);
  }
  for (const problem of problems) say(`\n${problem.trim()}`);
  return problems.length === 0;
}

function deny(manifest, ...checks) {
  // cargo-deny searches deny.toml in the current folder.
  const args = ["deny", "--manifest-path", manifest, "--workspace", "check", ...checks];
  return run("cargo", args, { cwd: packageDir, quiet: true });
}
