// `npm run size` tells what the Worker weighs, and how much more or less that is than at the last release.
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { after, before, test } from "node:test";
import { makeProject } from "./project.mjs";

const RELEASE = "scripts/last-release.json";

let project;
before(() => (project = makeProject()));
after(() => project.remove());

test("the difference to the last release is that of the totals, and there is none before the first", async () => {
  project.remove(RELEASE);
  const first = await project.run("size");
  assert.equal(first.code, 0, first.output);
  assert.doesNotMatch(first.output, /since/);
  assert.match(first.output, /^limit +1060\.0 KB gzip: ok$/m);

  const released = await project.run("size", "--release");
  assert.equal(released.code, 0, released.output);
  const { version, raw, gzip } = JSON.parse(project.read(RELEASE));
  assert.equal(version, JSON.parse(project.read("package.json")).version);

  project.write(RELEASE, JSON.stringify({ version: "0.0.9", raw: raw - 12_345, gzip: gzip + 2_340 }));
  assert.match((await project.run("size")).output, /^since 0\.0\.9 +\+12\.3 KB +−2\.3 KB gzip$/m);
});

test("more than the limit is a failure", async () => {
  // The stand-in for the engine has this text, which cannot be compressed.
  project.write("src/lib.rs", randomBytes(1_600_000).toString("base64"));
  const { code, output } = await project.run("size");
  assert.equal(code, 1, output);
  assert.match(output, /^limit +1060\.0 KB gzip: EXCEEDED$/m);
});
