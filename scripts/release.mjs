// `npm run release -- --dry-run`: checks that the sources can be released, and makes everything that is published in the folder release/.
import "./lib/node-version.mjs";
import { copyFileSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { readOptions } from "./lib/options.mjs";
import { packCreate, packEngine } from "./lib/pack.mjs";
import { packageVersion } from "./lib/packages.mjs";
import { inPackage, packageDir } from "./lib/paths.mjs";
import { environment, query, run } from "./lib/process.mjs";
import { REPORTS, SUMS, checksums, notesOf, problemsOf } from "./lib/release.mjs";
import { rustcVersion } from "./lib/rust.mjs";
import { billOfMaterials } from "./lib/sbom.mjs";
import { setUpAndBuild } from "./lib/setup.mjs";
import { Stop, main, say, step } from "./lib/ui.mjs";

const usage = `Usage: npm run release -- --dry-run [--allow-dirty]

Checks that the sources can be released, builds what has changed, and makes everything that is published in the folder release/: the packages, their
checksums, a bill of materials, the conformance report and the notes. It sends nothing; docs/releasing.md says who publishes, and how.

    --dry-run       makes the files
    --allow-dirty   also if files have changed since the last commit
    -h, --help      this text`;

const OUTPUT = inPackage("release");

/** The crates of which the two modules of WebAssembly are linked. */
const ROOTS = ["a2a-edge", "a2a-edge-checker"];

await main(async () => {
  const { values } = readOptions({ usage, options: { "dry-run": { type: "boolean" }, "allow-dirty": { type: "boolean" } } });
  if (!values["dry-run"]) {
    throw new Stop("Nothing is published from here: the workflow .github/workflows/release.yml does that for a tag, as docs/releasing.md says.\n\n    To see what it would publish: npm run release -- --dry-run");
  }
  checkSources(values["allow-dirty"]);
  await setUpAndBuild();
  await step("Making the release", make);
  tell();
});

/** Stops if the sources are not those of a commit, or do not agree on their version. */
function checkSources(allowsDirty) {
  const changed = query("git", ["status", "--porcelain"], { cwd: packageDir });
  if (changed === undefined) throw new Stop("A release is made of a commit, but this folder is no repository of git.");
  const problems = problemsOf(packageDir);
  if (changed !== "" && !allowsDirty) problems.push(`Files have changed since the last commit:\n${changed.replace(/^/gm, "    ")}\n  Commit them, or add --allow-dirty.`);
  if (problems.length > 0) throw new Stop(`These sources cannot be released:\n\n${problems.map((text) => `  ${text}`).join("\n")}`);
}

async function make() {
  rmSync(OUTPUT, { recursive: true, force: true });
  mkdirSync(OUTPUT, { recursive: true });
  await packEngine(OUTPUT);
  await packCreate(OUTPUT);
  for (const path of REPORTS) copyFileSync(inPackage(path), join(OUTPUT, basename(path)));
  writeFileSync(join(OUTPUT, "NOTES.md"), notesOf(readFileSync(inPackage("CHANGELOG.md"), "utf8"), manifest().version));
  writeFileSync(join(OUTPUT, "sbom.cdx.json"), `${JSON.stringify(await materials(), null, 2)}\n`);
  writeFileSync(join(OUTPUT, SUMS), checksums(OUTPUT));
}

function manifest() {
  return JSON.parse(readFileSync(inPackage("package.json"), "utf8"));
}

async function materials() {
  const read = (path) => readFileSync(inPackage(path), "utf8");
  const args = ["metadata", "--locked", "--format-version=1", "--filter-platform=wasm32-unknown-unknown"];
  const { code, output } = await run("cargo", args, { cwd: packageDir, env: environment(), quiet: true });
  const json = output.split("\n").find((line) => line.startsWith("{"));
  if (code !== 0 || json === undefined) throw new Stop(`The crates could not be listed:\n\n${output.trim()}`);
  const { version, license } = manifest();
  return billOfMaterials({
    version, license, roots: ROOTS, time: instant(), tools: tools(), metadata: JSON.parse(json), cargoLock: read("Cargo.lock"), npmLock: JSON.parse(read("package-lock.json")),
  });
}

/** The instant of the release: `SOURCE_DATE_EPOCH` or that of the commit, so that the same commit gives the same files. */
function instant() {
  const seconds = process.env.SOURCE_DATE_EPOCH || query("git", ["log", "-1", "--format=%ct"], { cwd: packageDir });
  return new Date(Number(seconds) * 1000).toISOString().replace(".000Z", "Z");
}

/** The programs on whose versions the bytes of a release depend. */
function tools() {
  const rustc = /^rustc (.+)$/m.exec(rustcVersion() ?? "")?.[1] ?? "unknown";
  const npm = ["binaryen", "esbuild", "vite"].map((name) => [name, packageVersion(name)]);
  return { rustc, node: process.versions.node, npm: query("npm", ["--version"]) ?? "unknown", ...Object.fromEntries(npm) };
}

function tell() {
  const { version, repository } = manifest();
  for (const line of readFileSync(join(OUTPUT, SUMS), "utf8").trim().split("\n")) {
    const [hash, name] = line.split("  ");
    say(`${`release/${name}`.padEnd(38)} ${`${(statSync(join(OUTPUT, name)).size / 1000).toFixed(1)} KB`.padStart(10)}  sha256 ${hash}`);
  }
  const missing = repository === undefined ? "\nBefore that, package.json and create/package.json need \"repository\", since the registry compares it with the provenance.\n" : "";
  say(`
Nothing was sent. A maintainer publishes this version by its tag:

    git tag v${version} && git push origin v${version}

The workflow .github/workflows/release.yml then makes the same files, and runs:

    npm publish ./release/a2a-edge-${version}.tgz --provenance --access public
    npm publish ./release/create-a2a-edge-${version}.tgz --provenance --access public
    gh release create v${version} --notes-file release/NOTES.md release/*
${missing}`);
}
