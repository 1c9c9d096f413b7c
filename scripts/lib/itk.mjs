// What the agents of the ITK need to be started, in a checkout of it.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { virtualEnvironment } from "./python.mjs";
import { inPackage } from "./paths.mjs";
import { environment, query, run } from "./process.mjs";
import { Stop, step } from "./ui.mjs";

/** Its Python programs: the service, and the agents with the SDKs of both versions. */
const PYTHON = [".", "agents/python/v03", "agents/python/v10"];
const JAVASCRIPT = ["agents/ts/v03", "agents/ts/v10"];
const GO = { go_v03: "agents/go/v03", go_v10: "agents/go/v10" };

/** Prepares all that can be: answers the environment to start it in, and of the agents that cannot be started the reasons. */
export async function prepareItk(kit) {
  if (query("fuser", ["-V"]) === undefined) throw new Stop("The ITK frees its ports with fuser.\n\n    Install it, as with: apt-get install psmisc");
  const requirements = inPackage("tests", "conformance", "itk", "requirements.txt");
  const python = await virtualEnvironment({ name: "itk", title: "Installing uv for the ITK", least: [3, 11], requirements, install: ["-r", requirements] });
  if (python === undefined) throw new Stop("The ITK needs Python 3.11 or newer with venv.");
  const plain = environment();
  const env = { ...plain, PATH: `${dirname(python)}${delimiter}${plain.PATH}` };

  for (const folder of PYTHON) await ensureVenv(join(kit, folder), python, env);
  for (const folder of JAVASCRIPT) await ensureModules(join(kit, folder));
  const absent = {};
  for (const [sdk, folder] of Object.entries(GO)) {
    const reason = await whyNoGo(join(kit, folder), env);
    if (reason !== undefined) absent[sdk] = reason;
  }
  return { env, absent };
}

/** The environment `.venv` that `uv run` uses, with SDKs as they are published: the ITK would build the same versions of their sources. */
async function ensureVenv(folder, python, env) {
  const [venv, stamp] = [join(folder, ".venv"), join(folder, ".venv", "complete")];
  if (existsSync(stamp)) return;
  const project = readFileSync(join(folder, "pyproject.toml"), "utf8");
  const [, list = ""] = /^dependencies = \[([^]*?)^\]/m.exec(project) ?? [];
  const wanted = [...list.matchAll(/"([^"]+)"/g)].map(([, one]) => one.replace(/ @ git\+\S+@v(.*)$/, "==$1"));
  await step(`Installing what ${folder} needs`, async () => {
    await checked("uv", ["venv", "--quiet", "--allow-existing", "--python", python, venv], { env });
    await checked("uv", ["pip", "install", "--quiet", "--python", join(venv, "bin", "python"), ...wanted], { env });
  });
  writeFileSync(stamp, "");
}

async function ensureModules(folder) {
  if (existsSync(join(folder, "node_modules", ".package-lock.json"))) return;
  await step(`Installing what ${folder} needs`, () => checked("npm", ["ci", "--omit=dev", "--no-audit", "--no-fund", "--loglevel=error"], { cwd: folder }));
}

/** Builds an agent in Go, so that the ITK starts it within its time; why that does not go. */
async function whyNoGo(folder, env) {
  if (query("go", ["version"], { env }) === undefined) return "there is no Go here";
  const { code } = await run("go", ["build", "-o", "/dev/null", "."], { cwd: folder, env });
  return code === 0 ? undefined : "it was not built: its modules could not be downloaded, or it needs a newer Go";
}

async function checked(command, args, options) {
  const { code } = await run(command, args, options);
  if (code !== 0) throw new Stop(`${command} failed; its messages are above. With a network problem, just run the command again.`);
}
