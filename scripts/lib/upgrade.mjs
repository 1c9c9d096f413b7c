// What a version of a2a-edge changes in a project of an older one, as new texts of its files. Nothing is written here.
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, posix, relative } from "node:path";
import { writtenAgents } from "./agents.mjs";
import { AGENTS, ENTRY, missing } from "./config.mjs";
import { hasRust, inPackage, inProject, projectDir } from "./paths.mjs";
import { edited } from "./toml-lines.mjs";
import { Stop } from "./ui.mjs";
import { parseConfig, readConfig } from "./wrangler.mjs";

/** The last version whose projects embedded their agents. The files of such a project show it. */
const EMBEDDED = "0.3.0";

/** The changes of stored forms since 0.3.0, as pairs of the version and what it changes. */
export const STORED = [["0.6.0", "the migration 0002_fewer_rows.sql writes all rows of the table tasks once more; docs/upgrades.md says how long that takes"]];

const manifestOf = (path) => JSON.parse(readFileSync(path, "utf8"));

/** The version of the package. */
export const { version: VERSION } = manifestOf(inPackage("package.json"));

/**
 * The upgrade of the project: `from`, its version; `changes`, the new text of each file by its path, undefined for one that goes; `told`, what is done in each
 * file; and `left`, what only its author can change, each a sentence.
 */
export async function planUpgrade() {
  if (!existsSync(inProject("wrangler.toml"))) throw new Stop(`There is no wrangler.toml in ${projectDir}, so that this is no project of a2a-edge.`);
  const files = openFiles();
  const isEmbedded = (await readConfig()).no_bundle === true || /\bembed::run\b/.test(files.read("build.rs") ?? "");
  await upgradeSettings(files);
  upgradeEntry(files);
  upgradeManifest(files);
  upgradeIgnored(files);
  if (hasRust) upgradeRust(files);
  const { changes, told, left } = files;
  return { from: isEmbedded ? EMBEDDED : writtenAgents()?.version ?? VERSION, changes, told, left };
}

/** The files of the project with the changes so far. */
function openFiles() {
  const changes = new Map();
  const told = new Map();
  const left = [];
  const onDisk = (path) => (existsSync(inProject(path)) ? readFileSync(inProject(path), "utf8") : undefined);
  return {
    changes, told, left,
    read: (path) => (changes.has(path) ? changes.get(path) : onDisk(path)),
    /** Sets the text of a file, or removes it, and tells what that does. */
    change(path, text, ...lines) {
      changes.set(path, text);
      told.set(path, [...(told.get(path) ?? []), ...lines]);
    },
    leave: (sentence) => left.push(sentence),
  };
}

async function upgradeSettings(files) {
  const path = "wrangler.toml";
  const before = files.read(path);
  const environments = [...new Set([...before.matchAll(/^\s*\[+\s*env\.([\w-]+)/gm)].map(([, name]) => name))];
  const found = missing(await readConfig(), { text: before });
  for (const environment of environments) {
    const own = missing(await readConfig(environment), { text: before, environment });
    // What an environment inherits is changed once, for all.
    found.push(...own.filter(({ edit, lines }) => `${edit.table ?? lines[0]}`.includes(`[env.${environment}.`)));
  }
  const edits = [...found, ...ofTemplate(before)];
  const shown = ({ edit, lines }) => lines.map((line) => `${edit.removes ? "-" : "+"} ${edit.table ? `${edit.table} ` : ""}${line}`);
  const { text, done, undone } = await applied(before, edits);
  for (const { place, lines } of undone) files.leave(`${path} is not as a2a-edge writes it. ${place} ${lines.join(", ")}`);
  if (text !== before) files.change(path, text, ...done.flatMap(shown));
  const other = /^\s*watch_dir\s*=.*\bbuild\.rs\b/m.exec(text)?.[0];
  if (other !== undefined) files.leave(`${path}: the package watches what it needs, without this line: ${other.trim()}`);
}

/** The text after the edits that can be made, and which these are. wrangler takes a second for each text, so it reads single edits only if all together fail. */
async function applied(before, edits) {
  const result = { text: before, done: [], undone: [] };
  for (const edit of edits) {
    const next = edited(result.text, edit.edit, edit.lines);
    if (next === undefined) result.undone.push(edit);
    else Object.assign(result, { text: next, done: [...result.done, edit] });
  }
  if (await isValid(result.text)) return result;
  const singly = { text: before, done: [], undone: [] };
  for (const edit of edits) {
    const next = edited(singly.text, edit.edit, edit.lines);
    if (next === undefined || !(await isValid(next))) singly.undone.push(edit);
    else Object.assign(singly, { text: next, done: [...singly.done, edit] });
  }
  return singly;
}

/** Lines of the template of 0.3.0 that are not missing, but have another form now. */
function ofTemplate(text) {
  const build = { table: "[build]" };
  return [
    // Without --no, npx would fetch a package of this name from the registry where it is not installed.
    ['command = "npx a2a-edge build"', { place: "Under [build]:", lines: ['command = "npx --no a2a-edge build"'], edit: build }],
    [WATCHED, { place: "Without this line:", lines: [WATCHED], edit: { ...build, removes: true } }],
  ].filter(([line]) => text.split(/\r?\n/).includes(line)).map(([, change]) => change);
}

const WATCHED = 'watch_dir = ["src", "agents", "tools", "skills", "build.rs", "Cargo.toml"]';

/** True if wrangler can read a text as its settings. */
async function isValid(text) {
  const folder = mkdtempSync(join(tmpdir(), "a2a-edge-upgrade-"));
  try {
    writeFileSync(join(folder, "wrangler.toml"), text);
    await parseConfig(undefined, join(folder, "wrangler.toml"));
    return true;
  } catch (error) {
    if (error instanceof Stop) return false;
    throw error;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const ENTRY_PATH = "src/index.ts";

function upgradeEntry(files) {
  if (!new RegExp(`^main\\s*=\\s*"(?:\\./)?${ENTRY_PATH}"`, "m").test(files.read("wrangler.toml"))) return;
  const entry = files.read(ENTRY_PATH);
  if (entry === undefined) files.change(ENTRY_PATH, `${ENTRY}\n`, "+ the entry of the Worker, which passes the agents to the engine");
  else if (!entry.includes("#agents")) files.leave(`${ENTRY_PATH} does not import the agents. It needs at least:\n\n${ENTRY.replace(/^(?=.)/gm, "        ")}\n`);
}

function upgradeManifest(files) {
  const path = "package.json";
  const before = files.read(path);
  if (before === undefined) return files.leave(`There is no ${path}; it names the package a2a-edge and the module of the agents.`);
  const manifest = JSON.parse(before);
  const lines = [];
  const add = (table, name, value) => {
    if (manifest[table]?.[name] !== undefined) return;
    manifest[table] = { ...manifest[table], [name]: value };
    lines.push(`+ ${table}: "${name}": "${value}"`);
  };
  const { "#agents": agents } = manifest.imports ?? {};
  add("imports", "#agents", AGENTS);
  if (agents !== undefined && (agents.default ?? agents) !== AGENTS) files.leave(`${path} has another module as #agents; it is "${AGENTS}" now.`);
  for (const name of ["check", "build"]) add("scripts", name, `a2a-edge ${name}`);
  const { peerDependencies } = manifestOf(inPackage(path));
  for (const name of ["wrangler", ...(hasRust ? ["binaryen", "esbuild"] : [])]) {
    if (manifest.dependencies?.[name] === undefined) add("devDependencies", name, peerDependencies[name].replace("^", ""));
  }
  if (lines.length > 0) files.change(path, formatted(manifest, before), ...lines);
}

/** JSON with the indentation and the line ends of the text before, as npm writes it. */
function formatted(value, before) {
  const indent = /^[ \t]+(?=")/m.exec(before)?.[0] ?? "  ";
  const text = JSON.stringify(value, null, indent) + (/\n$/.test(before) ? "\n" : "");
  return before.includes("\r\n") ? text.replaceAll("\n", "\r\n") : text;
}

function upgradeIgnored(files) {
  const path = ".gitignore";
  const before = files.read(path);
  if (before === undefined || before.split(/\r?\n/).some((line) => /^\/?\.a2a-edge\/?$/.test(line.trim()))) return;
  const eol = before.includes("\r\n") ? "\r\n" : "\n";
  files.change(path, `${before}${before === "" || before.endsWith("\n") ? "" : eol}/.a2a-edge/${eol}`, "+ /.a2a-edge/");
}

function upgradeRust(files) {
  for (const path of rustFiles("src")) upgradeSource(files, path);
  const script = files.read("build.rs");
  if (script === undefined) return;
  if (bare(script) !== bare(BUILD_SCRIPT)) {
    if (/\bembed\b/.test(script)) files.leave("build.rs has code of its own. Agents are no longer embedded: remove what embeds them, and a2a-edge-agents from [build-dependencies].");
    return;
  }
  files.change("build.rs", undefined, "- the whole file: agents are data, and are not embedded");
  upgradeCargo(files);
}

const EMBEDS = /Host::embedded\(\s*(?:a2a_edge::)?embedded!\(\)\s*,?\s*\)/g;

/** The test of the template, which `a2a-edge test` makes itself. */
const HOST_TEST = /\r?\n#\[cfg\(test\)\]\s*mod tests \{\s*#\[test\]\s*fn every_agent_can_be_served\(\) \{\s*super::host\(\)\.check\(\)\.unwrap\(\);\s*\}\s*\}\r?\n/;

function upgradeSource(files, path) {
  const before = files.read(path);
  const text = before.replace(EMBEDS, "Host::new()").replace(HOST_TEST, "");
  const lines = [before.search(EMBEDS) !== -1 && "+ Host::new() in place of Host::embedded(…)", HOST_TEST.test(before) && "- the test every_agent_can_be_served, which `a2a-edge test` makes"];
  if (text !== before) files.change(path, text, ...lines.filter(Boolean));
  for (const [index, line] of text.split("\n").entries()) {
    if (/\bHost::embedded\b|\bembedded!|\.check\(\)\.unwrap\(\)/.test(line)) files.leave(`${path}:${index + 1} is of ${EMBEDDED}: ${line.trim()}. A host is made by Host::new(), and \`a2a-edge test\` checks the agents.`);
  }
}

function upgradeCargo(files) {
  const path = "Cargo.toml";
  const before = files.read(path);
  const line = before.split(/\r?\n/).find((one) => /^a2a-edge-agents\s*=/.test(one));
  const text = line && edited(before, { table: "[build-dependencies]", removes: true }, [line]);
  if (!text) return files.leave(`${path}: remove a2a-edge-agents from [build-dependencies], since build.rs is gone.`);
  // A table that is empty now goes, too.
  files.change(path, text.replace(/(?:\r?\n)*\[build-dependencies\][ \t]*(?:\r?\n)+(?=\[|$)/, (gone) => (/\r\n/.test(gone) ? "\r\n\r\n" : "\n\n")).replace(/(?:\r?\n){2,}$/, (end) => (/\r/.test(end) ? "\r\n" : "\n")), `- [build-dependencies] ${line}`);
}

function rustFiles(folder) {
  if (!existsSync(inProject(folder))) return [];
  const names = readdirSync(inProject(folder), { recursive: true }).filter((name) => name.endsWith(".rs")).sort();
  return names.map((name) => posix.join(folder, relative(".", name).replaceAll("\\", "/")));
}

/** The code of a file of Rust, without comments and spaces. */
const bare = (text) => text.replace(/\/\/.*/g, "").replace(/\s+/g, "");

/** The build script of a project of 0.3.0. */
const BUILD_SCRIPT = `extern crate a2a_agents as a2a_edge;
#[path = "src/tools.rs"]
mod tools;
fn main() -> std::process::ExitCode { a2a_agents::embed::run("agents", tools::all()) }`;
