// The npm packages: what is in them, and that two checkouts of the same sources make the same bytes.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { chmodSync, cpSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { makeProject, root } from "./project.mjs";

const SCRIPT = `
import { isBuilt, packCreate, packEngine } from "./scripts/lib/pack.mjs";
if (!isBuilt()) throw new Error("nothing is built");
console.log(JSON.stringify([await packEngine("out"), await packCreate("out")]));
process.exit();
`;

const BUILT = ["build/engine.js", "build/index_bg.wasm", "build/checker.wasm", "build-console/assets/console/index.html", "schemas/agent.schema.json", ".a2a-edge/agents.js"];

let one, other, packed;
before(() => {
  [one, other] = [makeProject(), makeProject()];
  for (const project of [one, other]) {
    for (const name of ["create", "LICENSE-APACHE", "LICENSE-MIT"]) cpSync(join(root, name), project.at(name), { recursive: true });
    for (const path of BUILT) project.write(path, path);
    project.write("build/build.json", '{"inputs": ["../of this machine"]}');
  }
  // What a checkout has besides.
  other.write("create/templates/basic/.wrangler/state", "local state");
  other.write("create/templates/basic/node_modules/a/index.js", "installed");
  chmodSync(other.at("scripts/a2a-edge.mjs"), 0o700);
  chmodSync(other.at("js/index.js"), 0o600);
  // With the npm of this machine: that of the project is a stand-in.
  packed = [one, other].map((project) => {
    const script = SCRIPT.replaceAll('"out"', JSON.stringify(project.at("out")));
    const { status, stdout, stderr } = spawnSync(process.execPath, ["--input-type=module", "-e", script], { cwd: project.folder, encoding: "utf8" });
    assert.equal(status, 0, stderr);
    return JSON.parse(stdout);
  });
});
after(() => {
  one.remove();
  other.remove();
});

/** The paths in a tarball. */
function listed(tarball) {
  const { stdout } = spawnSync("tar", ["-tzf", tarball], { encoding: "utf8" });
  return stdout.trim().split("\n").map((path) => path.replace("package/", ""));
}

/** The text of a file in a tarball. */
const read = (tarball, path) => spawnSync("tar", ["-xzOf", tarball, `package/${path}`], { encoding: "utf8" }).stdout;

test("two checkouts of the same sources make the same bytes", () => {
  for (const index of [0, 1]) assert.ok(readFileSync(packed[0][index]).equals(readFileSync(packed[1][index])), packed[0][index]);
});

test("a2a-edge has what its commands import, and nothing of tests and builds", () => {
  const paths = listed(packed[0][0]);
  for (const path of ["build/engine.js", "build/checker.wasm", "dev/main.js", "js/index.d.ts", "migrations/0001_schema.sql", "schemas/agent.schema.json", "scripts/test-project.mjs", "scripts/lib/live.mjs", "scripts/lib/compile.mjs", "scripts/operate/commands/tasks.mjs", "scripts/operate/table.mjs", "scripts/bindgen/Cargo.lock", "README.md", "LICENSE-MIT"]) {
    assert.ok(paths.includes(path), path);
  }
  const foreign = paths.filter((path) => /^(?:tests|crates|src|console|create|bench)\/|tsconfig|bench|conformance|\/(?:test|pack|package|soak|costs|python|deny)\.mjs$/.test(path));
  assert.deepEqual(foreign, []);
});

test("its manifest and its record name nothing of the checkout", () => {
  const manifest = JSON.parse(read(packed[0][0], "package.json"));
  for (const key of ["private", "scripts", "imports", "files", "devDependencies", "optionalDependencies", "dependencies"]) assert.ok(!(key in manifest), key);
  const { inputs, sha256, version, rust } = JSON.parse(read(packed[0][0], "build/build.json"));
  assert.deepEqual([inputs, Object.keys(sha256), version], [undefined, ["build/engine.js", "build/index_bg.wasm", "build/checker.wasm"], manifest.version]);
  assert.match(rust, /^1\.\d+$/);
});

test("create-a2a-edge has the templates with all their files, and nothing that was made in them", () => {
  const paths = listed(packed[1][1]);
  for (const path of ["index.mjs", "templates/basic/gitignore", "templates/basic/.github/workflows/ci.yml", "templates/basic/.dev.vars.example", "templates/basic/.taplo.toml", "templates/rust/Cargo.lock", "templates/rust/src/lib.rs"]) {
    assert.ok(paths.includes(path), path);
  }
  assert.deepEqual(paths.filter((path) => /node_modules|\.wrangler/.test(path)), []);
});
