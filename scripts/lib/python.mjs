// Python programs that checks need, each in a virtual environment of its own.
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { spawnSync } from "node:child_process";
import { cacheDir, inPackage } from "./paths.mjs";
import { run } from "./process.mjs";
import { Stop, say, step } from "./ui.mjs";

const REQUIREMENTS = inPackage("tests", "e2e", "python", "requirements.txt");

/** The interpreter that has the official SDK; undefined, with a word about it, where there is no Python for it. */
export async function ensurePython() {
  const title = "Installing the Python SDK for the tests";
  const install = ["-r", REQUIREMENTS];
  const interpreter = await virtualEnvironment({ name: "python", title, least: [3, 10], requirements: REQUIREMENTS, install });
  if (interpreter === undefined) say("Leaving out the tests with the Python SDK: they want Python 3.10 or newer with venv.");
  return interpreter;
}

/**
 * The interpreter of an environment that is made once for each content of the file `requirements`; `install` is what
 * pip gets. Undefined where there is no Python of the version `least`.
 */
export async function virtualEnvironment({ name, title, least, requirements, install }) {
  const system = ["python3", "python"].find((command) => isRecent(command, least));
  if (system === undefined) return undefined;
  const version = createHash("sha256").update(readFileSync(requirements)).digest("hex").slice(0, 12);
  const folder = join(cacheDir, `${name}-${version}`);
  const interpreter = join(folder, "bin", "python");
  const stamp = join(folder, "complete");
  if (existsSync(stamp)) return interpreter;

  rmSync(folder, { recursive: true, force: true });
  mkdirSync(cacheDir, { recursive: true });
  await step(title, async () => {
    await checked(system, ["-m", "venv", folder]);
    await checked(interpreter, ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", ...install]);
  });
  writeFileSync(stamp, "");
  return interpreter;
}

function isRecent(command, least) {
  const script = `import sys, venv, ensurepip; sys.exit(sys.version_info < (${least.join(", ")}))`;
  return spawnSync(command, ["-c", script], { stdio: "ignore" }).status === 0;
}

async function checked(command, args) {
  const { code } = await run(command, args);
  if (code !== 0) throw new Stop(`${command} ${args.join(" ")} ended with code ${code}; its messages are above.`);
}
