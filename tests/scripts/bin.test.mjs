// The command a2a-edge, in a project of one's own.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { readDepInfo } from "../../scripts/lib/inputs.mjs";
import { makeOwnProject } from "./project.mjs";

let project;
before(async () => {
  project = makeOwnProject();
  const { output } = await project.run("check");
  project.write("wrangler.toml", output.split("\n").filter((line) => line.startsWith("    ")).join("\n"));
});
after(() => project.remove());

const builds = () => project.calls().filter(([name, what, end]) => name === "cargo" && what === "rustc" && end === "ends").length;

test("help names every command, and so does running it with nothing", async () => {
  for (const args of [["help"], ["--help"], ["-h"], []]) {
    const { code, output } = await project.run(...args);
    assert.equal(code, 0, output);
    for (const command of ["new", "start", "dev", "build", "test", "deploy", "size", "check", "wrangler", "help"]) {
      assert.match(output, new RegExp(`^ {4}${command} +\\S`, "m"));
    }
  }
});

test("a command that there is not is refused", async () => {
  const { code, output } = await project.run("strat");
  assert.equal(code, 1);
  assert.match(output, /^\nThere is no command "strat"\.\n\nUsage: npx a2a-edge COMMAND/);
});

test("every command tells its options by the name that works in the project", async () => {
  for (const command of ["new", "start", "dev", "build", "test", "deploy", "size", "check"]) {
    const { code, output } = await project.run(command, "--help");
    assert.equal(code, 0, output);
    assert.ok(output.startsWith(`Usage: npx a2a-edge ${command}`), output);
    assert.doesNotMatch(output, /npm (?:run|start|test)/);
  }
});

test("a build goes into the project, and what changes nothing is not built again", async () => {
  const { code, output } = await project.run("build");
  assert.equal(code, 0, output);
  for (const name of ["index.js", "index_bg.wasm", "build.json"]) assert.ok(project.exists(`build/${name}`), name);
  const before = builds();
  assert.deepEqual(await project.run("build"), { code: 0, output: `${output.split("\n")[0]}\n` });
  project.write("README.md", "of no concern");
  await project.run("build");
  assert.equal(builds(), before);
});

for (const [what, path] of [
  ["a source", "src/lib.rs"], ["an agent file", "agents/one.toml"], ["a new agent file", "agents/three.toml"], ["the manifest", "Cargo.toml"],
  ["the lock file", "Cargo.lock"], ["a file that a source includes", "shared/a file"],
]) {
  test(`${what} that has changed is built`, async () => {
    await project.run("build");
    const before = builds();
    project.write(path, `[package]\nname = "own-agent" # ${path}\n`);
    await project.run("build");
    assert.equal(builds(), before + 1);
    await project.run("build");
    assert.equal(builds(), before + 1, "once");
  });
}

test("a size above our limit is no failure of a project", async () => {
  const { code, output } = await project.run("size");
  assert.equal(code, 0, output);
  assert.match(output, /^total .* gzip$/m);
  assert.doesNotMatch(output, /limit/);
});

test("file names with spaces are read from what cargo lists", () => {
  project.write("it.d", "/t/it.wasm: /a/b.rs /a/with\\ space/c.rs\n\n/a/b.rs:\n");
  assert.deepEqual(readDepInfo(`${project.folder}/it.d`), ["/a/b.rs", "/a/with space/c.rs"]);
});
