// The engine of the package: its module is compiled once in a process, and has an instance for each isolate.
import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { compileFunction } from "node:vm";

const ENGINE = fileURLToPath(new URL("../../build/engine.js", import.meta.url));
const WASM = fileURLToPath(new URL("../../build/index_bg.wasm", import.meta.url));

/** What engine.js imports, each with the pattern of its import statement. */
const WORKERS = /\bimport\s*(\{[^}]*\})\s*from\s*"cloudflare:workers";?/g;
const MODULE = /\bimport\s+([\w$]+)\s+from\s*"\.\/index_bg\.wasm";?/g;

/** The export statement at the end of engine.js. */
const EXPORTS = /\bexport\s*\{([^}]*)\};?\s*$/;

/** @typedef {{ start: (agents: unknown, functions?: unknown) => any, TaskObject: any, bridge?: Record<string, Function> }} Engine */

/** @type {{ make: Function, module: unknown } | undefined} */
let loaded;

/**
 * Makes an instance of the engine. Its code finds `scope` in the place of the global object, and members of `scope` in the place of global
 * variables of their names.
 *
 * @param {Record<string, unknown>} scope @param {Record<string, unknown>} workers The module `cloudflare:workers`.
 * @returns {Engine}
 */
export function newEngine(scope, workers) {
  loaded ??= { make: compiledFunction(), module: compiledModule() };
  const { stackTraceLimit } = Error;
  try {
    return loaded.make(workers, loaded.module, scope, ...SHADOWED.map((name) => scope[name]));
  } finally {
    // The engine raises it for its own stacks.
    Error.stackTraceLimit = stackTraceLimit;
  }
}

/** The global variables that each isolate has of its own. */
const SHADOWED = ["setTimeout", "clearTimeout", "setInterval", "clearInterval", "fetch", "Request", "Date", "crypto", "console", "addEventListener"];

/** engine.js as a function, so that there may be several instances, each with its own global variables, which the garbage collector can free. */
function compiledFunction() {
  const text = read(ENGINE).toString();
  const exported = EXPORTS.exec(text)?.[1];
  if (exported === undefined) throw new Error(`${ENGINE} has no list of exports at its end`);
  // As in a module, what is imported is there before the first statement.
  const imported = [
    ...[...text.matchAll(MODULE)].map(([, name]) => `const ${name} = __module;`),
    ...[...text.matchAll(WORKERS)].map(([, names]) => `const ${names?.replace(/\bas\b/g, ":")} = __workers;`),
  ];
  const given = `return { ${exported.split(",").map(member).join(", ")} };`;
  const body = imported.join(" ") + text.replace(MODULE, "").replace(WORKERS, "").replace(EXPORTS, () => given);
  return compileFunction(body, ["__workers", "__module", "globalThis", ...SHADOWED, "global", "self", "window"], { filename: ENGINE });
}

/** A member of an object for a name of an export list. @param {string} exported */
function member(exported) {
  const [name, as = name] = exported.trim().split(/\s+as\s+/);
  return `${as}: ${name}`;
}

function compiledModule() {
  const { Module } = /** @type {any} */ (globalThis).WebAssembly;
  return new Module(read(WASM));
}

/** @param {string} path */
function read(path) {
  if (existsSync(path)) return readFileSync(path);
  throw new Error(`${path} is missing, which belongs to the package a2a-edge. Run: npm install; in a checkout of a2a-edge: npm run build`);
}
