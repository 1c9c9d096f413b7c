// The glue that wasm-bindgen generates, adapted to the platform.
import { Stop } from "./ui.mjs";

/** The glue with the changes of this file. */
export function adapted(glue) {
  // The platform supports the import of a module, but not yet its source phase.
  return encodedAtOnce(withoutRepeats(glue.replace(/^import source (?=\w+ from "\.\/index_bg\.wasm")/m, "import ")));
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
