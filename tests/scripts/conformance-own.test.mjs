// The table of docs/conformance.md about requirements that no kit tests: all of them are there, and each test that it names is.
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { test } from "node:test";

const page = readFileSync(new URL("../../docs/conformance.md", import.meta.url), "utf8");
const [, section = ""] = /^## Requirements that no kit tests\n([^]*?)(?=^## )/m.exec(page) ?? [];
const rows = [...section.matchAll(/^\| ([A-Z-]+-\d{3}) \| ([\d.]+) \| (.+?) \| (.+) \|$/gm)].map(([, id, , , tests]) => ({ id, tests }));

test("the table has the requirements that the kit has no test for, one row each", () => {
  const [, number, list = ""] = /^The kit has no test for these of its requirements \((\d+)\):\s([A-Z0-9,\s-]+)\./m.exec(page) ?? [];
  assert.ok(Number(number) > 0, "the page names them");
  assert.deepEqual(rows.map(({ id }) => id), list.split(/,\s/));
});

for (const { id, tests } of rows) {
  test(`${id}: the tests that the table names are there`, () => {
    if (tests.startsWith("none: ")) return;
    // A file, and the titles that follow it.
    const named = [...tests.matchAll(/`([a-z0-9-]+)` ("(?:[^"\\]|\\.)+"(?: \([^)]*\))?(?:, "(?:[^"\\]|\\.)+"(?: \([^)]*\))?)*)/g)];
    assert.ok(named.length > 0, tests);
    for (const [, file, titles] of named) {
      const path = ["e2e", "probes"].map((folder) => new URL(`../${folder}/${file}.spec.ts`, import.meta.url)).find(existsSync);
      assert.ok(path, `neither tests/e2e nor tests/probes has ${file}.spec.ts`);
      // Lines that begin a test, a block of tests, or a case of a table of tests.
      const lines = readFileSync(path, "utf8").split("\n").filter((line) => /^\s*((test|describe)\(|"[\w-]+": \{)/.test(line));
      for (const [, title] of titles.matchAll(/"((?:[^"\\]|\\.)+)"/g)) {
        const written = title.replaceAll('\\"', '"');
        assert.ok(lines.some((line) => line.includes(written)), `${file}.spec.ts has no test ${written}`);
      }
    }
  });
}
