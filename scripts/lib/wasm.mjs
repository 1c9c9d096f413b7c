// Reads and changes what the build needs of the binary format of WebAssembly: imports, exports and the bodies of functions (core specification, 5.5), and
// the names of functions (7.4.1).

const [CUSTOM, IMPORTS, EXPORTS, CODE] = [0, 2, 7, 10];

/** The sections of a module: the id, the start of the section with its header, and the range of the content. */
export function* sections(module) {
  const reader = readerOf(module, 8);
  while (reader.at < module.length) {
    const from = reader.at;
    const id = reader.byte();
    const size = reader.number();
    yield { id, from, start: reader.at, end: reader.at + size };
    reader.at += size;
  }
}

/** The functions of a module with their indices, which follow those of the imported functions. */
export function* functionBodies(module) {
  let index = 0;
  for (const { id, start } of sections(module)) {
    const reader = readerOf(module, start);
    if (id === IMPORTS) index = importsOf(reader).filter(({ kind }) => kind === FUNCTION).length;
    if (id !== CODE) continue;
    for (let left = reader.number(); left > 0; left--) yield { index: index++, body: reader.bytes(reader.number()) };
  }
}

/** The section with the names of a module's functions, and the names by index. A module without names has an empty section at its end. */
export function functionNames(module) {
  for (const section of sections(module)) {
    if (section.id !== CUSTOM) continue;
    const reader = readerOf(module, section.start);
    if (reader.text() !== "name") continue;
    while (reader.at < section.end) {
      const kind = reader.byte();
      const end = reader.number() + reader.at;
      if (kind === FUNCTION_NAMES) {
        const names = new Map();
        for (let left = reader.number(); left > 0; left--) names.set(reader.number(), reader.text());
        return { section, names };
      }
      reader.at = end;
    }
  }
  return { section: { from: module.length, end: module.length }, names: new Map() };
}

/** The module with these names of functions in place of its section of names. */
export function withFunctionNames(module, { section, names }) {
  const list = listOf([...names].map(([index, name]) => Buffer.concat([number(index), text(name)])));
  const content = Buffer.concat([text("name"), Buffer.from([FUNCTION_NAMES]), sized(list)]);
  return Buffer.concat([module.subarray(0, section.from), Buffer.from([CUSTOM]), sized(content), module.subarray(section.end)]);
}

/** The part of the section of names that names functions. */
const FUNCTION_NAMES = 1;

/** The imports of a module: the module that each is from, its name there, and its kind. */
export function imports(module) {
  for (const { id, start } of sections(module)) if (id === IMPORTS) return importsOf(readerOf(module, start));
  return [];
}

/** The module with other names of imports: `renamed` gives the name for an import. */
export function withImports(module, renamed) {
  const entry = (one) => Buffer.concat([text(one.from), text(renamed(one)), Buffer.from([one.kind]), one.type]);
  return withSection(module, IMPORTS, (reader) => listOf(importsOf(reader).map(entry)));
}

/** The module with only those exports whose names `keeps` accepts. */
export function withExports(module, keeps) {
  return withSection(module, EXPORTS, (reader) => {
    const all = Array.from({ length: reader.number() }, () => ({ name: reader.text(), kind: reader.byte(), index: reader.number() }));
    return listOf(all.filter(({ name }) => keeps(name)).map(({ name, kind, index }) => Buffer.concat([text(name), Buffer.from([kind]), number(index)])));
  });
}

/** The module with what `change` makes of the content of a section, if it has this section. */
function withSection(module, wanted, change) {
  for (const { id, from, start, end } of sections(module)) {
    if (id === wanted) return Buffer.concat([module.subarray(0, from), Buffer.from([id]), sized(change(readerOf(module, start))), module.subarray(end)]);
  }
  return module;
}

function importsOf(reader) {
  const limits = () => {
    const hasMost = (reader.number() & 1) === 1;
    reader.number();
    if (hasMost) reader.number();
  };
  /** What follows the kind of an import: function, table, memory, global, tag. */
  const kinds = [() => reader.number(), () => (reader.byte(), limits()), limits, () => (reader.byte(), reader.byte()), () => (reader.byte(), reader.number())];
  return Array.from({ length: reader.number() }, () => {
    const [from, name, kind] = [reader.text(), reader.text(), reader.byte()];
    const begin = reader.at;
    kinds[kind]();
    return { from, name, kind, type: reader.since(begin) };
  });
}

/** The kind of an import that is a function. */
const FUNCTION = 0;

const readerOf = (module, at) => ({
  at,
  byte() {
    return module[this.at++];
  },
  /** An unsigned number in LEB128. */
  number() {
    let value = 0;
    for (let place = 1; ; place *= 128) {
      const byte = this.byte();
      value += (byte & 127) * place;
      if (byte < 128) return value;
    }
  },
  bytes(length) {
    this.at += length;
    return module.subarray(this.at - length, this.at);
  },
  since(begin) {
    return module.subarray(begin, this.at);
  },
  text() {
    return new TextDecoder().decode(this.bytes(this.number()));
  },
});

function number(value) {
  const bytes = [];
  for (; value > 127; value = Math.floor(value / 128)) bytes.push((value % 128) + 128);
  return Buffer.from([...bytes, value]);
}

const listOf = (entries) => Buffer.concat([number(entries.length), ...entries]);
const sized = (bytes) => Buffer.concat([number(bytes.length), bytes]);
const text = (value) => sized(Buffer.from(value));
