// The glue that wasm-bindgen generates, adapted to the platform.
import { Stop } from "./ui.mjs";
import { imports, withExports, withImports } from "./wasm.mjs";

/** The glue with the changes of this file. */
export function adapted(glue) {
  // The platform supports the import of a module, but not yet its source phase.
  return withoutUnusedClasses(polledByPromise(encodedAtOnce(withoutRepeats(glue.replace(/^import source (?=\w+ from "\.\/index_bg\.wasm")/m, "import ")))));
}

/** True if the text of a class of the glue has the methods of a Durable Object. */
export const isObject = (text) => /^ {4}(?:fetch|alarm)\(/m.test(text);

/** The module without the exports that the glue does not name, so that the code of these can be removed. */
export function withUsedExports(module, glue) {
  const used = new Set([...glue.matchAll(/\bwasm\.(\w+)/g)].map(([, name]) => name));
  return withExports(module, (name) => used.has(name));
}

/**
 * The glue and the module with short names for the functions that the module imports from the glue. The names of wasm-bindgen contain hashes, which gzip
 * cannot make smaller: they were 4 KB of the upload. A function of the glue that the module does not import is removed.
 */
export function withShortImports(module, glue) {
  const names = new Map();
  for (const { from, name } of imports(module)) if (from === GLUE) names.set(name, `i${names.size.toString(36)}`);
  const entry = (text, name) => (names.has(name) ? text.replace(name, names.get(name)) : "");
  return {
    module: withImports(module, ({ from, name }) => (from === GLUE ? names.get(name) : name)),
    glue: glue.replace(IMPORTED, entry),
  };
}

/** The name by which the module imports the glue. */
const GLUE = "./index_bg.js";

/** A function of the glue that the module can import. */
const IMPORTED = /^ {8}(__wb(?:g|indgen)_\w+): function\([^]*?^ {8}\}(?:, arguments\); \})?,\n/gm;

/** The glue without the classes of which nobody makes an object: those of crates that have classes for JavaScript, as `MinifyConfig` of `worker`. */
function withoutUnusedClasses(glue) {
  let left = glue;
  for (const [text, name] of glue.matchAll(/^export class (\w+) \{\n[^]*?^\}\n(?:if \(Symbol\.dispose\).*\n)?/gm)) {
    if (isObject(text)) continue;
    const others = left.replace(text, "").replace(new RegExp(`^const ${name}Finalization = [^]*?^\\}\\);\\n`, "m"), "");
    if (!new RegExp(`\\b${name}\\b`).test(others.replace(/^ *\*.*$/gm, ""))) left = others;
  }
  return left;
}

/** The glue with each module once in the list of imports: wasm-bindgen lists a module again after another one, of which bundlers warn. */
function withoutRepeats(glue) {
  const listed = new Set();
  return glue.replace(/^ +"(\.\/snippets\/[^"]+)": import\d+,\n/gm, (line, path) => {
    if (listed.has(path)) return "";
    listed.add(path);
    return line;
  });
}

/**
 * The glue that passes a long text to WebAssembly by one call of `encodeInto`. wasm-bindgen copies ASCII letter by letter, whatever the length: in workerd, that
 * takes 24 µs or more for 10 KB, and `encodeInto` 0.4 µs. A short text is copied as before: a call costs more than that. What does not fit, since the text has
 * other letters, is encoded behind it as before.
 */
function encodedAtOnce(glue) {
  const encoded = glue.replace(LETTER_BY_LETTER, LONG_AT_ONCE);
  if (encoded === glue && /^function passStringToWasm/m.test(glue)) throw new Stop("The JavaScript bindings pass texts in another way than scripts/lib/glue.mjs expects.");
  return encoded;
}

/**
 * The glue in which a woken future is polled by the reaction of a promise. `queueMicrotask` of the platform makes a function and a wrapper of the platform for each
 * call (docs/decisions.md, "A SendMessage, by its parts").
 */
function polledByPromise(glue) {
  const polled = glue.replace(/^( +)queueMicrotask\((\w+)\);$/m, "$1settled.then($2);");
  if (/\bqueueMicrotask\(/.test(polled)) throw new Stop("The JavaScript bindings poll futures in another way than scripts/lib/glue.mjs expects.");
  return polled === glue ? glue : `${polled}\nconst settled = Promise.resolve();\n`;
}

/** The part of `passStringToWasm` behind `malloc`, up to the first use of what is left of the text. */
const LETTER_BY_LETTER =
  /^ *let offset = 0;\s+for \(; offset < len; offset\+\+\) \{\s+const code = arg\.charCodeAt\(offset\);\s+if \(code > 0x7F\) break;\s+mem\[ptr \+ offset\] = code;\s+\}\s+if \(offset !== len\) \{\s+if \(offset !== 0\) \{\s+arg = arg\.slice\(offset\);\s+\}\n/m;

const LONG_AT_ONCE = `    let read = 0;
    let offset = 0;
    if (len > 256) {
        ({ read, written: offset } = cachedTextEncoder.encodeInto(arg, mem.subarray(ptr, ptr + len)));
    } else {
        for (; read < len; read++) {
            const code = arg.charCodeAt(read);
            if (code > 0x7F) break;
            mem[ptr + read] = code;
        }
        offset = read;
    }
    if (read !== len) {
        arg = arg.slice(read);
`;
