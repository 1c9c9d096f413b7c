// `npm test -- --quick`: which steps it runs, of which end-to-end tests, and that it fails when one of them does.
import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import { makeProject } from "./project.mjs";

const SPEC = `
import { appendFileSync } from "node:fs";
import { basename } from "node:path";
import { test } from "node:test";
test("it", () => appendFileSync(process.env.PROJECT + "/specs.log", basename(import.meta.filename) + " " + process.env.A2A_BUILD_DIR + "\\n"));
`;

let project;
before(() => {
  project = makeProject();
  for (const name of ["smoke", "model", "model-wire"]) project.write(`tests/e2e/${name}.spec.ts`, SPEC);
});
beforeEach(() => {
  project.write("calls.log", "");
  project.write("specs.log", "");
});
after(() => project.remove());

const STEPS = ["fmt", "clippy", "test", "rustc", "doc", "build"];

/** The subcommands of cargo that check or build the Worker, in their order. The checker is built beside it. */
function subcommands() {
  const calls = project.calls().filter(([name, what, ...more]) => name === "cargo" && STEPS.includes(what) && !["ends", "--version", "a2a-edge-checker"].some((word) => more.includes(word)));
  return calls.map(([, what]) => what);
}

test("it formats, lints, tests and builds once, and runs two specs against that build", async () => {
  const { code, output } = await project.run("test", "--quick");
  assert.equal(code, 0, output);
  assert.match(output, /^5 of 5 steps passed$/m);
  assert.deepEqual(subcommands(), ["fmt", "clippy", "test", "rustc"]);
  assert.deepEqual(project.read("specs.log").trim().split("\n").sort(), ["model.spec.ts build", "smoke.spec.ts build"]);
});

test("what is built already is not built again", async () => {
  const { code, output } = await project.run("test", "--quick");
  assert.equal(code, 0, output);
  assert.deepEqual(subcommands(), ["fmt", "clippy", "test"]);
});

test("it fails when a spec does", async () => {
  project.write("tests/e2e/smoke.spec.ts", "throw new Error('it does not work');");
  const { code, output } = await project.run("test", "--quick");
  project.write("tests/e2e/smoke.spec.ts", SPEC);
  assert.equal(code, 1, output);
  assert.match(output, /^ {4}e2e-default: failed$/m);
});

for (const args of [["--quick", "unit"], ["unit", "--quick"], ["--quick", "--only", "unit"]]) {
  test(`${args.join(" ")}: a step beside it is refused before anything runs`, async () => {
    const { code, output } = await project.run("test", ...args);
    assert.equal(code, 1, output);
    assert.match(output, /^--quick has its own steps, so no step can be named with it\.$/m);
    assert.deepEqual(project.calls(), []);
  });
}
