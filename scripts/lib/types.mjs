// The types of a project with TypeScript: those of its bindings, which wrangler writes, and the check of its sources by tsc.
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { namesAssigned } from "./known.mjs";
import { packageVersion, packagedNode } from "./packages.mjs";
import { inProject, isRepository, projectDir } from "./paths.mjs";
import { run } from "./process.mjs";
import { Stop, say } from "./ui.mjs";
import { wrangler } from "./wrangler.mjs";

/** The file that wrangler writes. tsconfig.json names it where a project wants it. */
const TYPES = "worker-configuration.d.ts";
const CONFIG = "tsconfig.json";
const STAMP = inProject(".wrangler", "types.sha256");

/**
 * Writes the types of the bindings, secrets and variables if something has changed of which they are made. Returns the message of a failure. A project
 * whose tsconfig.json does not name the file has none.
 */
export async function ensureWorkerTypes() {
  if (!existsSync(inProject(CONFIG)) || !readFileSync(inProject(CONFIG), "utf8").includes(TYPES)) return undefined;
  const wanted = stampOf();
  if (existsSync(inProject(TYPES)) && existsSync(STAMP) && readFileSync(STAMP, "utf8") === wanted) return undefined;
  const { code, output } = await wrangler(["types", TYPES], { quiet: true });
  if (code !== 0) return `The types of the bindings (${TYPES}) could not be written:\n\n${output.trim()}`;
  mkdirSync(dirname(STAMP), { recursive: true });
  writeFileSync(STAMP, wanted);
  return undefined;
}

/** A hash of what the types are made of: the settings, the names in files of variables, and wrangler. */
function stampOf() {
  const files = readdirSync(projectDir).filter((name) => /^\.(?:dev\.vars|env)(?:\.|$)/.test(name)).sort();
  const names = files.map((name) => [name, namesAssigned(readFileSync(inProject(name), "utf8"))]);
  const text = JSON.stringify([readFileSync(inProject("wrangler.toml"), "utf8"), names, packageVersion("wrangler")]);
  return createHash("sha256").update(text).digest("hex");
}

/** The path of tsc, if the project has TypeScript installed, and a tsconfig.json. The repository checks its types by its own tests. */
function typeScript() {
  if (isRepository || !existsSync(inProject(CONFIG))) return undefined;
  try {
    return join(dirname(createRequire(inProject("package.json")).resolve("typescript/package.json")), "bin", "tsc");
  } catch {
    return undefined;
  }
}

/** True if the types of the sources can be checked. */
export const hasTypeScript = () => typeScript() !== undefined;

/** Checks the types of the sources, if the project has TypeScript. Returns what tsc says; "" if all fit, undefined without TypeScript. */
export async function checkTypes() {
  const tsc = typeScript();
  if (tsc === undefined) return undefined;
  const unwritten = await ensureWorkerTypes();
  if (unwritten !== undefined) return unwritten;
  const { code, output } = await run(packagedNode(), [tsc, "--noEmit", "--pretty", "false"], { cwd: projectDir, quiet: true });
  return code === 0 ? "" : output.trim();
}

/** Checks the types in `dev`: after each change, without a wait of anything else for it, and one check at a time. */
export class TypeCheck {
  #last = "";
  #isRunning = false;
  #isWanted = false;

  /** Checks the types soon, and says what has changed. */
  async run() {
    this.#isWanted = true;
    if (this.#isRunning) return;
    this.#isRunning = true;
    while (this.#isWanted) {
      this.#isWanted = false;
      this.#tell(await told());
    }
    this.#isRunning = false;
  }

  #tell(found = "") {
    if (found === this.#last || this.#isWanted) return;
    say(found === "" ? "The types fit again." : `\n${found}\n\nThe Worker is served nevertheless; npm test fails until that is mended.\n`);
    this.#last = found;
  }
}

async function told() {
  try {
    return await checkTypes();
  } catch (error) {
    if (!(error instanceof Stop)) throw error;
    return error.message;
  }
}
