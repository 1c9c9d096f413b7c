// The official Python SDK for the end-to-end tests, in a virtual environment of its own.
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { spawnSync } from "node:child_process";
import { cacheDir, inRoot } from "./paths.mjs";
import { run } from "./process.mjs";
import { say, step } from "./ui.mjs";

const REQUIREMENTS = inRoot("tests", "e2e", "python", "requirements.txt");

/** The interpreter that has the SDK; undefined, with a word about it, where there is no Python for it. */
export async function ensurePython() {
  const system = ["python3", "python"].find(isRecent);
  if (system === undefined) {
    say("Leaving out the tests with the Python SDK: they want Python 3.10 or newer with venv.");
    return undefined;
  }
  const version = createHash("sha256").update(readFileSync(REQUIREMENTS)).digest("hex").slice(0, 12);
  const folder = join(cacheDir, `python-${version}`);
  const interpreter = join(folder, "bin", "python");
  const stamp = join(folder, "complete");
  if (existsSync(stamp)) return interpreter;

  rmSync(folder, { recursive: true, force: true });
  mkdirSync(cacheDir, { recursive: true });
  await step("Installing the Python SDK for the tests", async () => {
    await checked(system, ["-m", "venv", folder]);
    await checked(interpreter, ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r", REQUIREMENTS]);
  });
  writeFileSync(stamp, "");
  return interpreter;
}

function isRecent(command) {
  const script = "import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 10))";
  return spawnSync(command, ["-c", script], { stdio: "ignore" }).status === 0;
}

async function checked(command, args) {
  const { code } = await run(command, args);
  if (code !== 0) throw new Error(`${command} ${args.join(" ")} ended with code ${code}`);
}
