// The step "deny" of `npm test`: whether it says what it has not checked.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { makeProject } from "./project.mjs";

const STEP = ["scripts/test.mjs", "deny"];
const NOT_INSTALLED = "cargo-deny is not installed; to install it: cargo install --locked cargo-deny";

let project;
before(() => (project = makeProject({ packages: "no wrangler" })));
after(() => project.remove());

/** A cargo whose command `deny` does what the shell commands say. */
const denyDoes = (commands) =>
  project.write("bin/cargo", `#!/bin/sh\ncase "$1" in deny) ${commands} ;; *) echo "cargo 1.999.0" ;; esac\n`, 0o755);

test("without cargo-deny the step is not checked, says so at the end too, and fails nothing", async () => {
  denyDoes("exit 101");
  const { code, output } = await project.node(...STEP).ended;
  assert.equal(code, 0, output);
  assert.ok(output.endsWith(`0 of 1 steps passed\n    deny: not checked, ${NOT_INSTALLED}\n`), output);
  assert.doesNotMatch(output, /passed after/);
});

test("without cargo-deny the step fails where A2A_DENY=required", async () => {
  denyDoes("exit 101");
  const { code, output } = await project.node("--import", 'data:text/javascript,process.env.A2A_DENY="required"', ...STEP).ended;
  assert.equal(code, 1, output);
  assert.ok(output.includes(NOT_INSTALLED), output);
  assert.match(output, /0 of 1 steps passed\n {4}deny: failed\n/);
});

test("with cargo-deny the step passes or fails as that does", async () => {
  denyDoes("exit 0");
  const good = await project.node(...STEP).ended;
  assert.equal(good.code, 0, good.output);
  assert.match(good.output, /1 of 1 steps passed\n$/);

  denyDoes('case "$*" in *--version*) exit 0 ;; *advisories*) exit 0 ;; *) echo "a licence is not allowed"; exit 1 ;; esac');
  const bad = await project.node(...STEP).ended;
  assert.equal(bad.code, 1, bad.output);
  assert.match(bad.output, /a licence is not allowed[^]*deny: failed\n/);
});
