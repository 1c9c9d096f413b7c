// What a build says: progress while it runs, and each mistake once, at its end.
import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import { diagnostics, isStatus, progress } from "../../scripts/lib/cargo.mjs";
import { query } from "../../scripts/lib/process.mjs";
import { makeProject } from "./project.mjs";

const ERROR = `error[E0609]: no field \`txt\` on type \`Arguments\`
  --> src/tool/local/echo.rs:24:48
   |
24 |     Ok(Value::String(arguments.txt))
   |                                ^^^ unknown field
   |
help: a field with a similar name exists
   |
24 |     Ok(Value::String(arguments.text))
   |                                   +`;
const RUST = `   Compiling a2a-edge v0.1.0 (/project)
warning: unused variable: \`a\`
 --> src/tool/mod.rs:3:9

${ERROR}

For more information about this error, try \`rustc --explain E0609\`.
error: could not compile \`a2a-edge\` (lib) due to 1 previous error; 1 warning emitted
warning: build failed, waiting for other jobs to finish...
${ERROR}

error: could not compile \`a2a-edge\` (build script) due to 1 previous error
`;

let project;
before(() => (project = makeProject()));
beforeEach(() => project.write("calls.log", ""));
after(() => project.remove());

const afterHeading = (output) => output.replace(/^[^]*==> .*\n(?: +Compiling .*\n)?/, "");

test("a mistake in an agent file is told once, and nothing else", async () => {
  project.write("agents/one.toml", "mistake");
  const { code, output } = await project.run("build");
  project.write("agents/one.toml", "one 1");
  assert.equal(code, 1);
  assert.match(output, /\nThe agents cannot be served:\n\n {4}agents\/one\.toml:1: there is no "mistake"\n\n$/);
  assert.equal(output.split("there is no").length, 2, output);
});

test("a mistake in Rust is told as the compiler tells it, once, and that nothing was built", async () => {
  project.write("src/lib.rs", "rust 2");
  project.write("cargo.txt", RUST);
  const { code, output } = await project.run("build");
  assert.equal(code, 1);
  assert.equal(afterHeading(output), `\n${ERROR}\n\nThe Worker was not built; the compiler's errors are above.\n\n`);
});

test("where the sources are not to blame, all that was said is told", async () => {
  project.write("src/lib.rs", "rust 3");
  project.write("cargo.txt", "   Compiling x v1\nerror: linking with `cc` failed\n\nld: no space\n");
  const { code, output } = await project.run("build");
  assert.equal(code, 1);
  assert.match(output, /^error: linking with `cc` failed\nld: no space\n\nThe Worker was not built;/m);
});

test("warnings are kept, each once, and colours with them", () => {
  const warning = "\u001b[33mwarning\u001b[0m: unused\n --> src/lib.rs:1:1";
  const summary = "warning: `a2a-edge` (lib) generated 1 warning";
  const printed = `   Compiling a v1\n${warning}\n\n${summary}\n${warning}\n\n    Building [=> ] 1/2: a\r    Finished \`dev\` profile\n`;
  assert.deepEqual(diagnostics(printed), { errors: [], warnings: [warning] });
});

test("progress is told from diagnostics", () => {
  for (const line of ["   Compiling a v1", "    Building [==> ] 3/4: x", "    Finished `dev` profile", " Downloading crates ..."]) {
    assert.ok(isStatus(line), line);
  }
  for (const line of ["error: x", "Caused by:", "  --> src/lib.rs:1:1", "   = note: `x`", "", "A sentence about it"]) {
    assert.ok(!isStatus(line), line);
  }
});

test("where there is no terminal, a long build tells every ten seconds how far it is", { skip: process.stdout.isTTY }, () => {
  let now = 0;
  const shows = progress(() => now);
  const bar = (count) => `    Building [=====>      ] ${count}/43: walrus, gimli\n`;
  const told = [1, 9_999, 10_000, 15_000, 25_000].map((time, index) => {
    now = time;
    return shows(bar(index + 1));
  });
  assert.deepEqual(told, [false, false, "    3 of 43 crates, now walrus, gimli\n", false, "    5 of 43 crates, now walrus, gimli\n"]);
  assert.equal(shows("   Compiling walrus v1\n"), false);
});

test("a check that a signal has ended does not tell that its command is missing", () => {
  assert.throws(() => query("sh", ["-c", "kill -TERM $$"]), { message: /^sh -c .* was ended by SIGTERM\.$/ });
  assert.equal(query("sh", ["-c", "exit 3"]), undefined);
  assert.equal(query("a2a-edge-no-such-command", []), undefined);
});
