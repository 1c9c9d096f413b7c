// The order of the functions of a module, which makes its gzip smaller.
import assert from "node:assert/strict";
import { test } from "node:test";
import { gzipSync } from "node:zlib";
import { bySimilarity, namedByPlace, withoutPlaces } from "../../scripts/lib/order.mjs";
import { functionBodies, functionNames, withFunctionNames } from "../../scripts/lib/wasm.mjs";

// (module (import "m" "f" (func)) (func nop nop) (func) (func nop nop)), with the names f, first, empty, second.
const names = ["f", "first", "empty", "second"];
const nameList = names.flatMap((name, index) => [index, name.length, ...Buffer.from(name)]);
const module = Buffer.from([
  0, 0x61, 0x73, 0x6d, 1, 0, 0, 0, 1, 4, 1, 0x60, 0, 0, 2, 7, 1, 1, 0x6d, 1, 0x66, 0, 0, 3, 4, 3, 0, 0, 0, 10, 14, 3, 4, 0, 1, 1, 0x0b, 2, 0, 0x0b, 4, 0, 1, 1, 0x0b,
  0, nameList.length + 8, 4, ...Buffer.from("name"), 1, nameList.length + 1, names.length, ...nameList,
]);

test("the functions of a module have their indices behind those that it imports, and their names", () => {
  assert.ok(WebAssembly.validate(module));
  assert.deepEqual([...functionBodies(module)].map(({ index, body }) => [index, body.length]), [[1, 4], [2, 2], [3, 4]]);
  assert.deepEqual([...functionNames(module).names], [...names.entries()]);
  const nameless = Buffer.from([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0]);
  assert.deepEqual([...functionBodies(nameless)], []);
  assert.ok(WebAssembly.validate(namedByPlace(nameless)));
});

test("a module with other names is the same module", () => {
  const found = functionNames(module);
  assert.deepEqual(withFunctionNames(module, found), module);
  const long = new Map([...found.names].map(([index, name]) => [index, name.repeat(60)]));
  const renamed = withFunctionNames(module, { ...found, names: long });
  assert.ok(WebAssembly.validate(renamed));
  assert.deepEqual(functionNames(renamed).names, long);
  assert.deepEqual([...functionBodies(renamed)], [...functionBodies(module)]);
});

test("names begin with a place for each function of the module, and lose it in the map of symbols", () => {
  const placed = [...functionNames(namedByPlace(module)).names.values()];
  assert.equal(placed[0], "f");
  assert.deepEqual(placed.slice(1).map((name) => name.slice(0, 6)).sort(), ["000000", "000001", "000002"]);
  assert.deepEqual(placed.map((name) => name.replace(/^\d{6} /, "")), names);
  assert.equal(withoutPlaces("0:f\n1:000001 a::b\n2:000000\\20empty\n"), "0:f\n1:a::b\n2:empty\n");
});

test("bodies with much in common follow each other, each body once", () => {
  // Twelve kinds of bodies, more apart than gzip looks back, in turn.
  let seed = 7;
  const random = () => (seed = (seed * 48_271) % 2_147_483_647) & 255;
  const kinds = Array.from({ length: 12 }, () => Buffer.from(Array.from({ length: 4_000 }, random)));
  const bodies = Array.from({ length: 60 }, (_, index) => Buffer.concat([kinds[index % 12], Buffer.from([random(), random()])]));
  const order = bySimilarity(bodies);
  assert.deepEqual([...order].sort((a, b) => a - b), [...bodies.keys()]);
  const packed = (list) => gzipSync(Buffer.concat(list)).length;
  assert.ok(packed(order.map((index) => bodies[index])) < packed(bodies) / 4);
  assert.deepEqual(bySimilarity(bodies), order);
  assert.deepEqual(bySimilarity([]), []);
});
