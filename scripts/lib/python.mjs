// Python programs that checks need, each in its own virtual environment.
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { spawnSync } from "node:child_process";
import { cacheDir, inPackage } from "./paths.mjs";
import { run } from "./process.mjs";
import { Stop, say, step } from "./ui.mjs";

/**
 * The current official SDK and that of A2A 0.3: the variables with which tests receive their interpreters, and their requirements.
 */
const SDKS = { A2A_PYTHON: "requirements.txt", A2A_PYTHON_V03: "requirements-v03.txt" };

/** The variables with the interpreters that have an official SDK; empty, with a message, if there is no suitable Python. */
export async function ensurePython() {
  const interpreters = {};
  for (const [variable, file] of Object.entries(SDKS)) {
    const requirements = inPackage("tests", "e2e", "python", file);
    const title = "Installing the Python SDK for the tests";
    const install = ["-r", requirements];
    const interpreter = await virtualEnvironment({ name: "python", title, least: [3, 10], requirements, install });
    if (interpreter !== undefined) interpreters[variable] = interpreter;
  }
  if (Object.keys(interpreters).length === 0) say("Leaving out the tests with the Python SDK: they want Python 3.10 or newer with venv.");
  return interpreters;
}

/**
 * The interpreter of a virtual environment that is created once for each content of the file `requirements`; `install` are the
 * arguments for pip. Undefined if there is no Python of at least version `least`.
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
