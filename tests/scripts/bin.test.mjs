// The command a2a-edge, in a project of one's own.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { after, before, test } from "node:test";
import { COMMANDS, OPERATE } from "../../scripts/lib/commands.mjs";
import { readDepInfo } from "../../scripts/lib/inputs.mjs";
import { makeOwnProject } from "./project.mjs";

let project, rust;
before(() => {
  project = makeOwnProject();
  rust = makeOwnProject({ rust: true });
});
after(() => {
  project.remove();
  rust.remove();
});

const builds = () => rust.calls().filter(([name, what, end]) => name === "cargo" && what === "rustc" && end === "ends").length;

test("help names every command, and so does running it with nothing", async () => {
  for (const args of [["help"], ["--help"], ["-h"], []]) {
    const { code, output } = await project.run(...args);
    assert.equal(code, 0, output);
    for (const command of [...Object.keys({ ...COMMANDS, ...OPERATE }), "help"]) {
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
  for (const command of ["start", "dev", "build", "test", "deploy", "rollback", "size", "check", ...Object.keys(OPERATE)]) {
    const { code, output } = await project.run(command, "--help");
    assert.equal(code, 0, output);
    assert.ok(output.startsWith(`Usage: npx a2a-edge ${command}`), output);
    assert.doesNotMatch(output, /npm (?:run|start|test)/);
  }
});

test("options of operators may stand before the command", async () => {
  const { code, output } = await project.run("--url=http://127.0.0.1", "--json", "--url", "ftp://127.0.0.1", "tasks");
  assert.equal(code, 2);
  assert.match(output, /A server is at an https URL/);
});

test("a shell completes commands, and the options of each", async () => {
  const { code, output } = await project.run("completion", "bash");
  assert.equal(code, 0, output);
  const completed = (...words) => {
    const script = `${output}\nCOMP_WORDS=(${words.map((word) => `'${word}'`).join(" ")}); COMP_CWORD=${words.length - 1}; _a2a_edge; echo "\${COMPREPLY[@]}"`;
    return spawnSync("bash", ["-c", script], { encoding: "utf8" }).stdout.trim();
  };
  assert.equal(completed("a2a-edge", "ta"), "tasks tail");
  assert.equal(completed("a2a-edge", "tasks", "--fa"), "--failed-steps");
  assert.equal(completed("a2a-edge", "start", "--"), "--help");
  assert.equal(completed("a2a-edge", "deploy", "--d"), "--dry-run --domain --diff");
  assert.equal(completed("a2a-edge", "rollback", "--m"), "--message");
  for (const [shell, says] of [["zsh", /compdef|bashcompinit/], ["fish", /^complete -c a2a-edge .*-a tasks/m]]) assert.match((await project.run("completion", shell)).output, says);
  assert.equal((await project.run("completion", "tcsh")).code, 2);
});

test("a build writes the agents, and calls no compiler", async () => {
  const { code, output } = await project.run("build");
  assert.deepEqual({ code, output }, { code: 0, output: "" });
  assert.match(project.read(".a2a-edge/agents.js"), /"one 1/);
  assert.ok(!project.exists("build"));
  assert.deepEqual(project.calls(), []);
});

test("with Rust, a build goes into the project, and what changes nothing is not built again", async () => {
  const { code, output } = await rust.run("build");
  assert.equal(code, 0, output);
  assert.match(output, /^==> Building the Worker$/m);
  for (const name of ["engine.js", "index_bg.wasm", "build.json"]) assert.ok(rust.exists(`build/${name}`), name);
  const before = builds();
  assert.deepEqual(await rust.run("build"), { code: 0, output: "" });
  rust.write("README.md", "of no concern");
  rust.write("agents/one.toml", "one 2");
  await rust.run("build");
  assert.equal(builds(), before);
  assert.match(rust.read(".a2a-edge/agents.js"), /"one 2/);
});

for (const [what, path] of [["a source", "src/lib.rs"], ["the manifest", "Cargo.toml"], ["the lock file", "Cargo.lock"], ["a file that a source includes", "shared/a file"]]) {
  test(`${what} that has changed is built`, async () => {
    await rust.run("build");
    const before = builds();
    rust.write(path, `[package]\nname = "own-agent" # ${path}\n`);
    await rust.run("build");
    assert.equal(builds(), before + 1);
    await rust.run("build");
    assert.equal(builds(), before + 1, "once");
  });
}

test("a mistake in an agent file is told before the compiler is waited for", async () => {
  rust.write("src/lib.rs", "rust 2");
  rust.write("agents/one.toml", "mistake");
  const before = builds();
  const { code, output } = await rust.run("build");
  rust.write("agents/one.toml", "one 1");
  assert.equal(code, 1);
  assert.match(output, /agents\/one\.toml:1: there is no "mistake"/);
  assert.equal(builds(), before);
});

test("the packages of a project with Rust are asked for by their versions", async () => {
  rust.remove("node_modules/binaryen");
  const { code, output } = await rust.run("build");
  assert.equal(code, 1);
  assert.match(output, /npm packages are missing: binaryen\.\n\n {4}Run: npm install\n.*npm install --save-dev binaryen@\^\d+/);
});

test("an old Node is told which one is needed, by the version in package.json", async () => {
  project.write("old.mjs", 'Object.defineProperty(process.versions, "node", { value: "22.11.9" });');
  const { code, output } = await project.node("--import", "./old.mjs", "node_modules/a2a-edge/scripts/a2a-edge.mjs", "check").ended;
  assert.equal(code, 1);
  const { engines } = JSON.parse(project.read("node_modules/a2a-edge/package.json"));
  assert.match(output, new RegExp(`^\\nNode\\.js ${engines.node.slice(2)} or newer is needed, this is 22\\.11\\.9 `));
});

test("a folder in which nothing can be made is told, with the reason", async () => {
  project.remove(".a2a-edge");
  project.write(".a2a-edge", "a file");
  const { code, output } = await project.run("build");
  project.remove(".a2a-edge");
  assert.equal(code, 1);
  assert.match(output, /\.a2a-edge\S* cannot be (?:written|used)/);
  assert.doesNotMatch(output, /^ +at /m, "no stack");
});

test("file names with spaces are read from what cargo lists", () => {
  project.write("it.d", "/t/it.wasm: /a/b.rs /a/with\\ space/c.rs\n\n/a/b.rs:\n");
  assert.deepEqual(readDepInfo(`${project.folder}/it.d`), ["/a/b.rs", "/a/with space/c.rs"]);
});
