// Runs the checker of agent files, a WebAssembly module of the package (crates/checker), on the files of a project.
import { existsSync, readFileSync, readdirSync, realpathSync, statSync } from "node:fs";
import { join, resolve, sep } from "node:path";
import { inPackage } from "./paths.mjs";
import { Stop } from "./ui.mjs";

const CHECKER = inPackage("build", "checker.wasm");

/** Larger files are not read, and longer listings of a folder not taken: nobody writes them by hand. */
const MAX_FILE_BYTES = 4 * 1024 * 1024;
const MAX_ENTRIES = 10_000;

/** @type {WebAssembly.Module | undefined} */
let compiled;

/**
 * A line of an agent file, or a whole file, that is wrong. `shown` is the line for people: file, line, key and the fix.
 *
 * @typedef {{ shown: string, file: string | null, line: number | null, key: string, text: string }} Problem
 *
 * The checked form of a project's files, the default export of `agents.js` (crates/agents/src/checked.rs).
 * @typedef {{ version: string, index: string, agents: Record<string, string> }} Agents
 */

/**
 * Checks the files of the project in `folder`. With `joins`, the project has code of its own that may register tools and kinds of executors, so that
 * the Worker checks their names at its start. `read` has the paths of all files and folders that were read, relative to `folder`.
 *
 * @param {{ folder: string, joins: boolean, now?: number }} project
 * @returns {{ agents?: Agents, problems: Problem[], read: string[] }}
 */
export function check({ folder, joins, now = Date.now() }) {
  const root = realpathSync(folder);
  const read = new Set();
  const found = (/** @type {string} */ path, /** @type {(place: string) => object} */ look) => {
    read.add(path.replace(/\/+$/, ""));
    return looked(root, path, look);
  };
  const files = { read: (path) => found(path, textOf), list: (path) => found(path, namesIn) };
  return { ...checked(files, joins, now), read: [...read] };
}

/**
 * As `check`, with files that are nowhere but in `texts`, by their paths.
 *
 * @param {{ texts: Record<string, string>, joins: boolean, now: number }} project
 * @returns {{ agents?: Agents, problems: Problem[] }}
 */
export function checkTexts({ texts, joins, now }) {
  const under = (/** @type {string} */ folder) => Object.keys(texts).flatMap((path) => (path.startsWith(`${folder}/`) ? [path.slice(folder.length + 1)] : []));
  const names = (/** @type {string} */ folder) => [...new Set(under(folder).map((path) => path.replace(/\/.*/, "/")))];
  const list = (/** @type {string} */ path) => {
    const found = names(path.replace(/\/+$/, ""));
    return found.length > 0 ? { names: found } : { missing: {} };
  };
  return checked({ read: (/** @type {string} */ path) => (Object.hasOwn(texts, path) ? { text: texts[path] } : { missing: {} }), list }, joins, now);
}

function checked(files, joins, now) {
  const { agents, problems = [] } = call({ check: { mayRegister: joins, nowMs: now } }, files);
  return { agents, problems };
}

/** The JSON Schemas of agent files, tool files and remotes.toml, by the names of their files. @returns {Record<string, object>} */
export function schemas() {
  return call({ schemas: {} }, {}).schemas;
}

/** What is at a path of the project; a reason where it may not be read. */
function looked(root, path, look) {
  try {
    const place = realpathSync(resolve(root, path));
    if (place !== root && !place.startsWith(root + sep)) return { because: "leads out of the project by a symbolic link or by `..`; copy the file into the project" };
    return look(place);
  } catch (error) {
    if (error.code === "ENOENT" || error.code === "ENOTDIR") return { missing: {} };
    return { because: `cannot be read: ${REASONS[error.code] ?? error.message}` };
  }
}

const REASONS = { EACCES: "this user may not read it", EISDIR: "it is a folder", ELOOP: "its symbolic links lead in a circle" };

function textOf(place) {
  const { size } = statSync(place);
  if (size > MAX_FILE_BYTES) return { because: `has ${size} bytes; the limit is ${MAX_FILE_BYTES}` };
  const bytes = readFileSync(place);
  try {
    // Windows line ends are kept: TOML and Markdown take both. The mark at the beginning of a file is not part of its text.
    return { text: new TextDecoder("utf-8", { fatal: true }).decode(bytes) };
  } catch {
    return { because: "is not UTF-8; save it with that encoding" };
  }
}

function namesIn(place) {
  const entries = readdirSync(place, { withFileTypes: true });
  if (entries.length > MAX_ENTRIES) return { because: `has ${entries.length} entries; the limit is ${MAX_ENTRIES}` };
  const isFolder = (entry) => entry.isDirectory() || (entry.isSymbolicLink() && existsSync(join(place, entry.name)) && statSync(join(place, entry.name)).isDirectory());
  return { names: entries.map((entry) => (isFolder(entry) ? `${entry.name}/` : entry.name)) };
}

/** Calls the checker in a new instance, so that no memory of one check remains for the next. */
function call(request, files) {
  const { memory, take, run } = instance({
    read: (address, length) => answered(files.read, address, length),
    list: (address, length) => answered(files.list, address, length),
  });
  const given = (value) => {
    const bytes = new TextEncoder().encode(JSON.stringify(value));
    const address = take(bytes.length);
    new Uint8Array(memory.buffer).set(bytes, address);
    return { address, length: bytes.length };
  };
  const text = (address, length) => new TextDecoder().decode(new Uint8Array(memory.buffer, address >>> 0, length));
  function answered(look, address, length) {
    const answer = given(look(text(address, length)));
    return (BigInt(answer.address >>> 0) << 32n) | BigInt(answer.length);
  }
  const { address, length } = given(request);
  const place = BigInt.asUintN(64, run(address, length));
  return JSON.parse(text(Number(place >> 32n), Number(place & 0xffff_ffffn)));
}

function instance(host) {
  if (compiled === undefined) {
    if (!existsSync(CHECKER)) throw new Stop(`The checker of a2a-edge is missing (${CHECKER}).\n\n    Run: npm install`);
    compiled = new WebAssembly.Module(readFileSync(CHECKER));
  }
  return new WebAssembly.Instance(compiled, { host }).exports;
}
