// The glue of wasm-bindgen as a build adapts it (scripts/lib/glue.mjs).
import assert from "node:assert/strict";
import { test } from "node:test";
import { adapted, withShortImports, withUsedExports } from "../../scripts/lib/glue.mjs";
import { imports } from "../../scripts/lib/wasm.mjs";

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

/** How often the function of this glue calls the encoder for a text. */
function calls(glue, text) {
  const encoder = new TextEncoder();
  let count = 0;
  passed(glue, text, { encodeInto: (...given) => ((count += 1), encoder.encodeInto(...given)) });
  return count;
}

/** What a text is in memory, by the function of this glue. Each allocation has only the bytes that were asked for. */
function passed(glue, text, encoder = new TextEncoder()) {
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
  const [ptr, length] = make(encoder, () => memory, malloc, realloc, text);
  assert.equal(memory.length, ptr + length, "no byte more is kept than the text has");
  return Buffer.from(memory.subarray(ptr, ptr + length)).toString("utf8");
}

test("a long text is passed by one call, a short one by none", () => {
  const glue = adapted(GLUE);
  assert.deepEqual(["a".repeat(256), "a".repeat(257), "a".repeat(100_000)].map((text) => calls(glue, text)), [0, 1, 1]);
});

test("a text is the same in memory, whatever its length and its letters", () => {
  const glue = adapted(GLUE);
  const long = "plain ".repeat(2_000);
  const texts = ["", "a", "ü", "ending in ü", "a € in between", "🙂🙂🙂", "a🙂", "a".repeat(256), "a".repeat(257), long, `${long}ü`, `ü${long}`, `${long}€${long}`, "ü".repeat(5_000), "🙂".repeat(129), `${"a".repeat(255)}🙂`];
  for (const text of texts) {
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

test("a woken future is polled behind the promise that is settled", async () => {
  const glue = adapted("const imports = {\n        i33: function(arg0) {\n            queueMicrotask(arg0);\n        },\n};\n");
  const calls = [];
  new Function("note", `${glue}\nimports.i33(() => note("polled")); note("later");`)((call) => calls.push(call));
  await Promise.resolve();
  assert.deepEqual(calls, ["later", "polled"]);
  assert.doesNotMatch(glue, /queueMicrotask/);
});

test("a glue of another form is an error of the build, which says so", () => {
  assert.throws(() => adapted("const poll = (work) => queueMicrotask(work);\n"), /another way than scripts\/lib\/glue\.mjs expects/);
  assert.throws(() => adapted("function passStringToWasm0() {}"), /another way than scripts\/lib\/glue\.mjs expects/);
  assert.equal(adapted("// passes no texts\n"), "// passes no texts\n");
});

/** A class as wasm-bindgen 0.2.129 writes it. */
const classOf = (name, method) => `export class ${name} {
    free() {
        const ptr = this.__destroy_into_raw();
        wasm.__wbg_${name.toLowerCase()}_free(ptr, 0);
    }
    ${method}() {
    }
}
if (Symbol.dispose) ${name}.prototype[Symbol.dispose] = ${name}.prototype.free;
`;
const finalizationOf = (name) => `const ${name}Finalization = (typeof FinalizationRegistry === 'undefined')
    ? { register: () => {}, unregister: () => {} }
    : new FinalizationRegistry(({ ptr, instance }) => {
    if (instance === __wbg_instance_id) wasm.__wbg_${name.toLowerCase()}_free(ptr, 1);
});
`;

test("a class is left out if it is no Durable Object and nobody makes an object of it", () => {
  const names = ["MinifyConfig", "TaskObject", "Waiting", "R2Range"];
  const methods = { TaskObject: "fetch" };
  const maker = "/**\n * @returns {R2Range}\n */\nexport function visit() {\n    return Waiting.__wrap(wasm.visit());\n}\n";
  const glue = [...names.map((name) => classOf(name, methods[name] ?? "plan")), maker, ...names.map(finalizationOf)].join("\n");
  const left = adapted(glue);
  assert.deepEqual([...left.matchAll(/^export class (\w+)/gm)].map(([, name]) => name), ["TaskObject", "Waiting"]);
  assert.deepEqual([...left.matchAll(/^const (\w+)Finalization/gm)].map(([, name]) => name), ["TaskObject", "Waiting"]);
  assert.match(left, /function visit/);
});

// (module (import "./index_bg.js" "__wbg_one_…" (func)) (import "./snippets/a/js/hop.js" "renew" (func)) (import "./index_bg.js" "__wbindgen_two" (func))
//   (func call 0 call 1 call 2) (export "plan" (func 3)) (export "unused" (func 3)))
const sized = (bytes) => [bytes.length, ...bytes];
const named = (text) => sized([...Buffer.from(text)]);
const imported = (from, name) => [...named(from), ...named(name), 0, 0];
const HASHED = "__wbg_one_0123456789abcdef";
const LINKED = Buffer.from([
  0, 0x61, 0x73, 0x6d, 1, 0, 0, 0, 1, ...sized([1, 0x60, 0, 0]),
  2, ...sized([3, ...imported("./index_bg.js", HASHED), ...imported("./snippets/a/js/hop.js", "renew"), ...imported("./index_bg.js", "__wbindgen_two")]),
  3, ...sized([1, 0]), 7, ...sized([2, ...named("plan"), 0, 3, ...named("unused"), 0, 3]),
  10, ...sized([1, ...sized([0, 0x10, 0, 0x10, 1, 0x10, 2, 0x0b])]),
]);

test("a module keeps the exports that its glue names", () => {
  const module = withUsedExports(LINKED, "wasm.plan(); wasmModule.unused;");
  assert.deepEqual(WebAssembly.Module.exports(new WebAssembly.Module(module)), [{ name: "plan", kind: "function" }]);
  const empty = Buffer.from([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0]);
  assert.deepEqual(withUsedExports(empty, ""), empty);
});

test("a module and its glue name an import alike, shortly, and what is not imported is left out of the glue", () => {
  const whole = `function made(calls, handleError) {
    const import0 = {
        __proto__: null,
        ${HASHED}: function() {
            calls.push("one");
        },
        __wbg_other_0123456789abcdef: function(arg0) {
            calls.push("other");
        },
        __wbindgen_two: function() { return handleError(function () {
            calls.push("two");
        }, arguments); },
    };
    return import0;
}
return made(calls, (call) => call());`;
  const { module, glue } = withShortImports(LINKED, whole);
  assert.deepEqual(imports(module).map(({ from, name }) => [from, name]), [["./index_bg.js", "i0"], ["./snippets/a/js/hop.js", "renew"], ["./index_bg.js", "i1"]]);
  const calls = [];
  const own = new Function("calls", glue)(calls);
  assert.deepEqual(Object.keys(own), ["i0", "i1"]);
  const hop = { renew: () => calls.push("renew") };
  new WebAssembly.Instance(new WebAssembly.Module(module), { "./index_bg.js": own, "./snippets/a/js/hop.js": hop }).exports.plan();
  assert.deepEqual(calls, ["one", "renew", "two"]);
});
