// Builds the console with Vite: from its sources in console/ of the package to the static assets that are uploaded with the Worker.
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { ASSETS, servesAssets } from "./assets.mjs";
import { changedSince, contentHash } from "./inputs.mjs";
import { inNpmPackage, packageVersion, packagedNode } from "./packages.mjs";
import { inPackage, isCheckout, projectDir } from "./paths.mjs";
import { run } from "./process.mjs";
import { Stop, say, step } from "./ui.mjs";

/** The folder of what is built, below the checkout: every project in it uses the same console. */
const OUTPUT = dirname(ASSETS);

/** The path of the console, and its folder among the assets. */
const CONSOLE = "console";

/** The words that the console shares with the commands for operators. */
const WORDS = "scripts/operate/states.mjs";

/** Vite's folder for files with a hash in their name. */
const HASHED = "assets";

// Outside of the assets, since every file in their folder is uploaded.
const MANIFEST = join(OUTPUT, "build.json");

const RECIPE = readFileSync(inPackage("scripts", "lib", "console.mjs"), "utf8");

/** Updates the assets, if wrangler.toml has any. An installed package has them ready. The caller must hold the lock of the build. */
export async function ensureConsole() {
  if (!isCheckout || !servesAssets()) return;
  const inputs = [CONSOLE, WORDS].map((path) => relative(projectDir, inPackage(path)));
  const recipe = recipeHash();
  if (isCurrent(recipe)) return;
  await step("Building the console", async () => {
    const begun = Date.now();
    await build();
    const content = changedSince(inputs, begun) ? "changed meanwhile" : contentHash(inputs);
    writeFileSync(inPackage(MANIFEST), `${JSON.stringify({ recipe, content, inputs }, null, 2)}\n`);
  });
}

async function build() {
  // Built in a separate folder, so that a failed build keeps the served assets.
  const staging = inPackage(OUTPUT, "part");
  rmSync(staging, { recursive: true, force: true });
  const args = ["build", inPackage(CONSOLE), "--outDir", join(staging, CONSOLE), "--emptyOutDir", "--logLevel", "warn"];
  const { code, output } = await run(packagedNode(), [inNpmPackage("vite", "bin", "vite.js"), ...args], { cwd: inPackage(CONSOLE), quiet: true });
  if (code !== 0) throw new Stop(`The console was not built:\n\n${explain(output)}`);
  if (output.trim() !== "") say(output.trim());
  writeFileSync(join(staging, "_headers"), headers(join(staging, CONSOLE)));
  publish(staging, inPackage(ASSETS));
  rmSync(staging, { recursive: true });
}

/** Vite's message about a mistake: place and text, without Vite's own stack. */
function explain(output) {
  // Node prints an uncaught error after the line that threw it.
  const told = output.replace(/^file:\/\/[^]*?^(?=\w*Error: )/m, "");
  const lines = told.split("\n").filter((line) => !/^(?:✗ Build failed|error during build:|Build failed with|Node\.js v)|^ +at |^ {2}errors: |^}$/.test(line));
  return lines.map((line) => line.replace(/^\[builtin:[\w-]+\] /, "")).join("\n").trim();
}

/** Updates a folder that is being served: new files first, then the page that uses them, then deletes old files. */
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
 * The headers of assets: the rules of console/_headers, and one rule for each file with a hash in its name. A rule for the whole folder would also
 * make browsers cache the 404 of a missing file.
 */
function headers(folder) {
  const hashed = readdirSync(join(folder, HASHED)).sort();
  const rules = hashed.map((name) => `/${CONSOLE}/${HASHED}/${name}\n  Cache-Control: public, max-age=31536000, immutable\n`);
  return readFileSync(inPackage(CONSOLE, "_headers"), "utf8") + rules.join("");
}

function isCurrent(recipe) {
  const files = [MANIFEST, join(ASSETS, "_headers"), join(ASSETS, CONSOLE, "index.html")];
  if (!files.every((name) => existsSync(inPackage(name)))) return false;
  const made = JSON.parse(readFileSync(inPackage(MANIFEST), "utf8"));
  return made.recipe === recipe && made.content === contentHash(made.inputs);
}

function recipeHash() {
  const tools = ["vite", "preact", "@preact/signals"].map(packageVersion);
  return createHash("sha256").update(JSON.stringify([RECIPE, tools])).digest("hex");
}
