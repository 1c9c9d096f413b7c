// The console: from the sources in console/ of the package, by Vite, to the static assets that are uploaded with the Worker.
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { changedSince, contentHash } from "./inputs.mjs";
import { inNpmPackage, packageVersion, packagedNode } from "./packages.mjs";
import { inPackage, inProject, projectDir } from "./paths.mjs";
import { run } from "./process.mjs";
import { Stop, say, step } from "./ui.mjs";

/** Beside the builds of the Worker, which all use the same: wrangler would take pages below those for modules. */
const OUTPUT = "build-console";

/** What `[assets]` in wrangler.toml names as `directory`. */
export const ASSETS = join(OUTPUT, "assets");

/** Below this path the console is served, and below this folder of the assets it is kept. */
const CONSOLE = "console";

/** Where Vite puts what it names by a hash. */
const HASHED = "assets";

// Beside the assets, since everything in their folder is uploaded.
const MANIFEST = join(OUTPUT, "build.json");

const RECIPE = readFileSync(inPackage("scripts", "lib", "console.mjs"), "utf8");

/** Whether wrangler.toml has assets at all; a project leaves the console out by leaving the table out. */
export function servesAssets(text = readFileSync(inProject("wrangler.toml"), "utf8")) {
  return /^[ \t]*(?:\[[ \t]*(?:env\.[\w-]+\.)?assets[ \t]*\]|assets[ \t]*=)/m.test(text);
}

/** Makes the assets current, if wrangler.toml asks for them. Call it with the lock of the build. */
export async function ensureConsole() {
  if (!servesAssets()) return;
  const inputs = [relative(projectDir, inPackage(CONSOLE))];
  const recipe = recipeHash();
  if (isCurrent(recipe)) return;
  await step("Building the console", async () => {
    const begun = Date.now();
    await build();
    const content = changedSince(inputs, begun) ? "changed meanwhile" : contentHash(inputs);
    writeFileSync(inProject(MANIFEST), `${JSON.stringify({ recipe, content, inputs }, null, 2)}\n`);
  });
}

async function build() {
  // In a folder of its own until it is whole, so that a build that fails leaves the assets that are served.
  const staging = inProject(OUTPUT, "part");
  rmSync(staging, { recursive: true, force: true });
  const args = ["build", inPackage(CONSOLE), "--outDir", join(staging, CONSOLE), "--emptyOutDir", "--logLevel", "warn"];
  const { code, output } = await run(packagedNode(), [inNpmPackage("vite", "bin", "vite.js"), ...args], { cwd: inPackage(CONSOLE), quiet: true });
  if (code !== 0) throw new Stop(`The console was not built:\n\n${explain(output)}`);
  if (output.trim() !== "") say(output.trim());
  writeFileSync(join(staging, "_headers"), headers(join(staging, CONSOLE)));
  publish(staging, inProject(ASSETS));
  rmSync(staging, { recursive: true });
}

/** What Vite says of a mistake: where it is and what it is, without how Vite came there. */
function explain(output) {
  // Node tells an error that nobody has caught behind the line that threw it.
  const told = output.replace(/^file:\/\/[^]*?^(?=\w*Error: )/m, "");
  const lines = told.split("\n").filter((line) => !/^(?:✗ Build failed|error during build:|Build failed with|Node\.js v)|^ +at |^ {2}errors: |^}$/.test(line));
  return lines.map((line) => line.replace(/^\[builtin:[\w-]+\] /, "")).join("\n").trim();
}

/** Makes a folder what another one is, while it is served: what is new comes first, the page that names it next, what is old goes last. */
function publish(from, to) {
  const files = filesIn(from);
  const page = (name) => Number(name.endsWith(".html") || name === "_headers");
  for (const name of files.sort((one, other) => page(one) - page(other))) {
    mkdirSync(dirname(join(to, name)), { recursive: true });
    renameSync(join(from, name), join(to, name));
  }
  for (const name of filesIn(to)) if (!files.includes(name)) rmSync(join(to, name));
}

const filesIn = (folder) => readdirSync(folder, { recursive: true }).filter((name) => statSync(join(folder, name)).isFile());

/**
 * What assets are answered with: the rules of console/_headers, and one for each file whose name has a hash of its content. A rule for their whole
 * folder would let browsers keep the 404 of a file that is not there, too.
 */
function headers(folder) {
  const hashed = readdirSync(join(folder, HASHED)).sort();
  const rules = hashed.map((name) => `/${CONSOLE}/${HASHED}/${name}\n  Cache-Control: public, max-age=31536000, immutable\n`);
  return readFileSync(inPackage(CONSOLE, "_headers"), "utf8") + rules.join("");
}

function isCurrent(recipe) {
  const files = [MANIFEST, join(ASSETS, "_headers"), join(ASSETS, CONSOLE, "index.html")];
  if (!files.every((name) => existsSync(inProject(name)))) return false;
  const made = JSON.parse(readFileSync(inProject(MANIFEST), "utf8"));
  return made.recipe === recipe && made.content === contentHash(made.inputs);
}

function recipeHash() {
  const tools = ["vite", "preact", "@preact/signals"].map(packageVersion);
  return createHash("sha256").update(JSON.stringify([RECIPE, tools])).digest("hex");
}
