// The local state of a version before 0.3.0: `npm start` and `npm run dev` say which folder to move away, and serve nothing.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { freePort } from "../../scripts/lib/port.mjs";
import { makeProject } from "./project.mjs";

let project;
before(() => (project = makeProject({ packages: "no wrangler" })));
after(() => project.remove());

/** A part of a database file, with a row that names this migration. */
const database = (migration) => `SQLite format 3\0…${migration}2026-11-01`;
const FILE = "v3/d1/miniflare-D1DatabaseObject/a.sqlite";

for (const [title, file, folder, args] of [
  ["the usual folder", `.wrangler/state/${FILE}`, ".wrangler/state", []],
  ["a folder that was named, where a write-ahead log has the row", `elsewhere/${FILE}-wal`, "elsewhere", ["--persist-to", "elsewhere"]],
]) {
  test(`an older state is refused in ${title}`, async () => {
    project.write(file, database("0001_counters.sql"));
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

test("the state of this version is no older one", async () => {
  project.write(`.wrangler/state/${FILE}`, database("0001_schema.sql"));
  const { output } = await project.run("start", "--port", String(await freePort()));
  assert.ok(!output.includes("of a version before"), output);
});
