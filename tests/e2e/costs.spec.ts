// The costs of operations in everything that the platform bills, and the crossings between JavaScript and WebAssembly: they
// equal bench/costs.json.
import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { KNOWN, measureAll } from "../../bench/gate/operations.ts";
import { differences, readTable, type Table } from "../../bench/gate/table.ts";

const expected = readTable();

describe("an operation costs what bench/costs.json says", () => {
  let measured: Table;

  before(async () => {
    measured = await measureAll(expected);
  });

  for (const [name, kept] of Object.entries(expected)) {
    test(name, () => {
      const now = measured[name];
      assert.ok(now !== undefined, `this is not measured any more; to accept that: npm run costs`);
      const changes = differences(name, kept, now);
      const advice = "If that is meant to be, or is less than before, accept it: npm run costs";
      assert.equal(changes.length, 0, `${name}: ${changes.join(", ")}.\n${advice}`);
    });
  }

  for (const [name, kept] of Object.entries(expected).filter(([name]) => name.endsWith(KNOWN))) {
    test(`${name}: what it costs without credentials`, () => {
      const open = expected[name.slice(0, -KNOWN.length)];
      assert.ok(open !== undefined);
      assert.deepEqual(differences(name, open, kept), []);
    });
  }

  test("and each that is measured is in the file", () => {
    assert.deepEqual(Object.keys(measured), Object.keys(expected), "to accept it: npm run costs");
  });
});
