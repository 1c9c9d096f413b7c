// The local state of a version before 0.3.0: `npm start` and `npm run dev` say which folder to move away, and serve nothing.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { freePort } from "../../scripts/lib/port.mjs";
import { COLUMN_SINCE_0_3_0 } from "../../scripts/lib/wrangler.mjs";
import { makeProject, root } from "./project.mjs";

let project;
before(() => (project = makeProject({ packages: "no wrangler" })));
after(() => project.remove());

/** A part of a database file, with a row that names this migration. */
const database = (migration) => `SQLite format 3\0…${migration}2026-11-01`;
/** A part of the file of an object, with the statement that made its table. */
const object = (column) => `SQLite format 3\0…CREATE TABLE log (\n  seq INTEGER PRIMARY KEY,\n  ${column},\n  lines TEXT NOT NULL\n) STRICT`;
const DATABASE = "v3/d1/miniflare-D1DatabaseObject/a.sqlite";
const OBJECT = "v3/do/a2a-edge-TaskObject/a.sqlite";

for (const [title, file, content, folder, args] of [
  ["the usual folder", `.wrangler/state/${DATABASE}`, database("0001_counters.sql"), ".wrangler/state", []],
  ["a folder that was named, where a write-ahead log has the row", `elsewhere/${DATABASE}-wal`, database("0001_counters.sql"), "elsewhere", ["--persist-to", "elsewhere"]],
  ["objects without databases", `.wrangler/state/${OBJECT}`, object("times TEXT"), ".wrangler/state", []],
  ["objects without databases, before there was the column", `.wrangler/state/${OBJECT}-wal`, object("marks TEXT NOT NULL"), ".wrangler/state", []],
]) {
  test(`an older state is refused in ${title}`, async () => {
    project.write(file, content);
    for (const command of ["start", "dev"]) {
      const { code, output } = await project.run(command, "--port", String(await freePort()), ...args);
      assert.equal(code, 1, output);
      assert.ok(output.includes(`The local state in ${folder} is of a version before 0.3.0`), output);
      assert.ok(output.includes(`mv ${folder} ${folder}-before-0.3.0`), output);
    }
    assert.ok(project.exists(file), "nothing is deleted");
    project.remove(folder);
  });
}

for (const [title, file, content] of [
  ["a database", DATABASE, database("0001_schema.sql")],
  ["an object", OBJECT, object(COLUMN_SINCE_0_3_0)],
  ["an object whose table is in the write-ahead log", `${OBJECT}-wal`, object(COLUMN_SINCE_0_3_0)],
  ["an object without a task", OBJECT, "SQLite format 3\0…CREATE TABLE _cf_METADATA"],
]) {
  test(`the state of this version is no older one: ${title}`, async () => {
    project.write(`.wrangler/state/${file}`, content);
    const { output } = await project.run("start", "--port", String(await freePort()));
    assert.ok(!output.includes("of a version before"), output);
    project.remove(".wrangler/state");
  });
}

test("the table of this version has the column that tells it from older ones", () => {
  const log = readFileSync(join(root, "src", "edge", "object", "store", "log.rs"), "utf8");
  assert.ok(/CREATE TABLE (?:IF NOT EXISTS )?log \([^)]*\)/.exec(log)?.[0].includes(COLUMN_SINCE_0_3_0));
});
