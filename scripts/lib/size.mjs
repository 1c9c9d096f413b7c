// The size of the engine, which is nearly all of the upload, of the whole upload of a project, and of the assets.
import { existsSync, readFileSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { gzipSync } from "node:zlib";
import { ASSETS, servesAssets } from "./assets.mjs";
import { outputs } from "./engine.mjs";
import { inPackage, inProject, isRepository } from "./paths.mjs";
import { scratchFolder } from "./scratch.mjs";
import { Stop, say } from "./ui.mjs";
import { wrangler } from "./wrangler.mjs";

/** The limit for the Worker of the repository; other Workers have no limit. */
const LIMIT_KB = 1060;
/** The limit for the console, which is part of the package: all files that a browser loads with the page. */
const CONSOLE_LIMIT_KB = 125;
const MODULES = ["index_bg.wasm", "engine.js"];
const LAST_RELEASE = inPackage("scripts", "last-release.json");

/** Prints the sizes of one of the engine's builds, with the difference to the last release; returns true if they are within the limit. */
export function printSize(output) {
  const modules = MODULES.map((name) => ({ name, ...sizeOf(output, name) }));
  const total = sum(modules);
  for (const { name, raw, gzip } of modules) row(`${outputs[output]}/${name}`, kilobytes(raw), kilobytes(gzip));
  row("total", kilobytes(total.raw), kilobytes(total.gzip));

  const release = lastRelease();
  if (release !== undefined) row(`since ${release.version}`, signed(total.raw - release.raw), signed(total.gzip - release.gzip));
  const fits = total.gzip < LIMIT_KB * 1000;
  say(`${line("limit", "", kilobytes(LIMIT_KB * 1000))}: ${fits ? "ok" : "EXCEEDED"}`);
  return fits;
}

/** Prints the sizes of the modules that a deploy of a project uploads. */
export async function printUpload() {
  const { modules, total } = await packUpload();
  for (const { name, raw, gzip } of modules) row(name, kilobytes(raw), kilobytes(gzip));
  row("total", kilobytes(total.raw), kilobytes(total.gzip));
}

/** Packs what a deploy uploads, without uploading it: the sizes of its modules, and their sum. `args` are options of `wrangler deploy`. */
export async function packUpload(args = []) {
  const folder = scratchFolder();
  const { code, output } = await wrangler(["deploy", "--dry-run", `--outdir=${folder}`, ...args], { quiet: true });
  if (code !== 0) throw new Stop(`wrangler could not pack the upload:\n\n${output.trim()}`);
  const names = readdirSync(folder).filter((name) => /\.(?:js|wasm)$/.test(name));
  // wrangler puts a hash before the names of modules.
  const modules = names.map((name) => ({ name: name.replace(/^[0-9a-f]{40}-/, ""), ...weigh(join(folder, name)) }));
  return { modules, total: sum(modules) };
}

/** Prints the size of the console, if the project has it; returns true if it is within the limit, which is that of the repository. */
export function printConsoleSize() {
  if (!servesAssets()) return true;
  const files = readdirSync(inPackage(ASSETS), { recursive: true }).map((name) => inPackage(ASSETS, name));
  const served = files.filter((name) => statSync(name).isFile() && !name.endsWith("_headers"));
  const page = readFileSync(served.find((name) => name.endsWith("index.html")), "utf8");
  const isFirst = (name) => name.endsWith("index.html") || page.includes(basename(name));
  const total = sum(served.filter(isFirst).map(weigh));
  row(`${ASSETS} (console)`, kilobytes(total.raw), kilobytes(total.gzip));
  const fits = total.gzip <= CONSOLE_LIMIT_KB * 1000;
  if (isRepository) say(`${line("limit", "", kilobytes(CONSOLE_LIMIT_KB * 1000))}: ${fits ? "ok" : "EXCEEDED"}`);
  const later = sum(served.filter((name) => !isFirst(name)).map(weigh));
  row("console, loaded later", kilobytes(later.raw), kilobytes(later.gzip));
  return fits;
}

/** Stores the sizes of one of the outputs as those of a release. */
export function recordRelease(output, version) {
  const total = sum(MODULES.map((name) => sizeOf(output, name)));
  writeFileSync(LAST_RELEASE, `${JSON.stringify({ version, ...total }, null, 2)}\n`);
}

const sizeOf = (output, name) => weigh(inProject(outputs[output], name));

function weigh(path) {
  const bytes = readFileSync(path);
  return { raw: bytes.length, gzip: gzipSync(bytes, { level: 9 }).length };
}

function lastRelease() {
  return existsSync(LAST_RELEASE) ? JSON.parse(readFileSync(LAST_RELEASE, "utf8")) : undefined;
}

function sum(sizes) {
  const of = (key) => sizes.reduce((total, size) => total + size[key], 0);
  return { raw: of("raw"), gzip: of("gzip") };
}

const row = (...columns) => say(line(...columns));

const line = (name, raw, gzip) => `${name.padEnd(28)} ${raw.padStart(11)} ${gzip.padStart(11)} gzip`;

/** A size in readable form. */
export const kilobytes = (bytes) => `${(bytes / 1000).toFixed(1)} KB`;

const signed = (bytes) => `${bytes < 0 ? "−" : "+"}${kilobytes(Math.abs(bytes))}`;
