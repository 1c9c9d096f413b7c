// The glue of wasm-bindgen as a build adapts it (scripts/lib/glue.mjs).
import assert from "node:assert/strict";
import { test } from "node:test";
import { adapted } from "../../scripts/lib/glue.mjs";

/** The function of wasm-bindgen 0.2.129 for texts, and the lines that the other changes are about. */
const GLUE = `import source wasmModule from "./index_bg.wasm";
const imports = {
    "./snippets/a/js/hop.js": import1,
    "./index_bg.js": import2,
    "./snippets/a/js/hop.js": import1,
};
function passStringToWasm0(arg, malloc, realloc) {
    let len = arg.length;
    let ptr = malloc(len, 1) >>> 0;

    const mem = getUint8ArrayMemory0();

    let offset = 0;

    for (; offset < len; offset++) {
        const code = arg.charCodeAt(offset);
        if (code > 0x7F) break;
        mem[ptr + offset] = code;
    }
    if (offset !== len) {
        if (offset !== 0) {
            arg = arg.slice(offset);
        }
        ptr = realloc(ptr, len, len = offset + arg.length * 3, 1) >>> 0;
        const view = getUint8ArrayMemory0().subarray(ptr + offset, ptr + len);
        const ret = cachedTextEncoder.encodeInto(arg, view);

        offset += ret.written;
        ptr = realloc(ptr, len, offset, 1) >>> 0;
    }

    WASM_VECTOR_LEN = offset;
    return ptr;
}
`;

/** What a text is in memory, by the function of this glue. Each allocation has only the bytes that were asked for, at another place than before. */
function passed(glue, text) {
  const body = /^function passStringToWasm0[^]*?^}/m.exec(glue)[0];
  let memory = new Uint8Array(0);
  const malloc = (size) => {
    memory = new Uint8Array(8 + size);
    return 8;
  };
  const realloc = (_, before, size) => {
    const grown = new Uint8Array(8 + size);
    grown.set(memory.subarray(0, Math.min(memory.length, grown.length)));
    memory = grown;
    return 8;
  };
  const make = new Function("cachedTextEncoder", "getUint8ArrayMemory0", "malloc", "realloc", "text", `let WASM_VECTOR_LEN = 0;\n${body}\nconst ptr = passStringToWasm0(text, malloc, realloc);\nreturn [ptr, WASM_VECTOR_LEN];`);
  const [ptr, length] = make(new TextEncoder(), () => memory, malloc, realloc, text);
  assert.equal(memory.length, ptr + length, "no byte more is kept than the text has");
  return Buffer.from(memory.subarray(ptr, ptr + length)).toString("utf8");
}

test("texts are encoded at once, whatever letters they have", () => {
  const glue = adapted(GLUE);
  assert.doesNotMatch(glue, /charCodeAt/);
  for (const text of ["", "a", "plain ".repeat(2_000), "ü", "ending in ü", "ü".repeat(5_000), "€ in between", "an emoji 🙂", "🙂🙂🙂", "a🙂", `${"a".repeat(100)}€${"b".repeat(100)}`]) {
    assert.equal(passed(glue, text), text);
    assert.equal(passed(GLUE, text), text, "the test reads the function of wasm-bindgen as well");
  }
  // Half of a pair is what UTF-8 cannot express.
  assert.equal(passed(glue, "a\ud83d"), "a\ufffd");
  assert.equal(passed(glue, "\ud83da"), "\ufffda");
});

test("each module is imported once, in the phase that the platform has", () => {
  const glue = adapted(GLUE);
  assert.match(glue, /^import wasmModule from/);
  assert.equal(glue.match(/hop\.js/g).length, 1);
});

test("a glue of another form is an error of the build, which says so", () => {
  assert.throws(() => adapted("function passStringToWasm0() {}"), /another way than scripts\/lib\/glue\.mjs expects/);
});
