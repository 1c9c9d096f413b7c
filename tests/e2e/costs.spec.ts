// What operations cost of all that the platform bills, and how often they cross between JavaScript and WebAssembly: exactly
// what bench/costs.json says.
import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { KNOWN, measureAll } from "../../bench/gate/operations.ts";
import { differences, readTable, type Table } from "../../bench/gate/table.ts";
import { buildKind } from "./harness.ts";

const expected = readTable();

/** In the other build a panic ends the instance, for which each call is watched. */
const LEFT = buildKind === "unwind" ? [] : ["callsIn", "callsOut"];

describe("an operation costs what bench/costs.json says", () => {
  let measured: Table;

  before(async () => {
    measured = await measureAll(expected);
  });

  for (const [name, kept] of Object.entries(expected)) {
    test(name, () => {
      const now = measured[name];
      assert.ok(now !== undefined, `this is not measured any more; to accept that: npm run costs`);
      const changes = differences(name, kept, now, LEFT);
      const advice = "If that is meant to be, or is less than before, accept it: npm run costs";
      assert.equal(changes.length, 0, `${name}: ${changes.join(", ")}.\n${advice}`);
    });
  }

  for (const [name, kept] of Object.entries(expected).filter(([name]) => name.endsWith(KNOWN))) {
    test(`${name}: what it costs without credentials`, () => {
      const open = expected[name.slice(0, -KNOWN.length)];
      assert.ok(open !== undefined);
      assert.deepEqual(differences(name, open, kept, LEFT), []);
    });
  }

  test("and each that is measured is in the file", () => {
    assert.deepEqual(Object.keys(measured), Object.keys(expected), "to accept it: npm run costs");
  });
});
