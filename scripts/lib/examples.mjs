// Programs of the crates for the machine itself, which kits drive.
import { join } from "node:path";
import { inPackage, packageDir } from "./paths.mjs";
import { cargoTerminal, environment, run } from "./process.mjs";
import { Stop } from "./ui.mjs";

/** Builds an example of a crate, with the feature `native`; answers the path of the program. */
export async function ensureExample(name, crate) {
  const args = ["build", "--quiet", "--example", name, "--package", crate, "--features", "native"];
  const { code } = await run("cargo", args, { cwd: packageDir, env: environment(cargoTerminal()) });
  if (code !== 0) throw new Stop(`The program ${name} was not built; what the compiler says is above.`);
  return join(process.env.CARGO_TARGET_DIR || inPackage("target"), "debug", "examples", name);
}
