// `a2a-edge upgrade`, in a project that version 0.3.0 made and in a new one. wrangler is the real one; the last test runs the real checker.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdtempSync, readFileSync, readdirSync, realpathSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, test } from "node:test";
import { projectFiles } from "../../create/lib/project.mjs";
import { contentHash } from "../../scripts/lib/inputs.mjs";
import { makeOwnProject, root, version } from "./project.mjs";

const FIXTURE = join(root, "tests", "upgrade", "project-0.3.0");

let project;
beforeEach(() => (project = makeOwnProject({ rust: true })));
afterEach(() => project.remove());

const NOT_OURS = /^(?:node_modules|bin|cache|\.wrangler|calls\.log)(?:\/|$)/;

/** The bytes of each file of the project, as text, by its path. */
function texts() {
  const files = readdirSync(project.folder, { recursive: true }).filter((path) => !NOT_OURS.test(path) && statSync(project.at(path)).isFile());
  return Object.fromEntries(files.sort().map((path) => [path, readFileSync(project.at(path), "latin1")]));
}

/** Puts the project of 0.3.0 in the place of the new one. */
function become(change = (text) => text) {
  for (const name of readdirSync(project.folder)) if (!NOT_OURS.test(name)) project.remove(name);
  for (const path of readdirSync(FIXTURE, { recursive: true }).filter((one) => statSync(join(FIXTURE, one)).isFile())) project.write(path, change(readFileSync(join(FIXTURE, path), "utf8"), path));
}

async function upgrade(...options) {
  const { code, output } = await project.run("upgrade", ...options);
  assert.equal(code, 0, output);
  return output;
}

test("without an option, what changes in a project of 0.3.0 is told, and nothing is written", async () => {
  become();
  const before = texts();
  const output = await upgrade();
  assert.deepEqual(texts(), before);
  assert.match(output, /^This project is of version 0\.3\.0, the package of \d+\.\d+\.\d+\.$/m);
  for (const line of [
    '- no_bundle = true', '+ main = "src/index.ts"', '+ [alias]', '+ "a2a-edge/engine" = "./.a2a-edge/engine.js"',
    '+ [assets] directory = "node_modules/a2a-edge/build-console/assets"', '+ [build] command = "npx --no a2a-edge build"',
    '+ imports: "#agents": "./.a2a-edge/agents.js"', "+ /.a2a-edge/",
  ]) assert.ok(output.split("\n").includes(`    ${line}`), `${line} in:\n${output}`);
  assert.match(output, /Database: no migration is pending/);
  assert.match(output, /Stored forms:\n {4}0\.6\.0: the migration 0002_fewer_rows\.sql /);
  assert.match(output, /Nothing was written\. To write it: npx a2a-edge upgrade --write$/m);
  assert.doesNotMatch(output, /For you to change/);
});

test("a project of 0.3.0 is upgraded, passes `check`, has nothing more to change, and is restored byte for byte", async () => {
  become();
  const before = texts();
  await upgrade("--write");
  const after = texts();
  assert.equal(after["build.rs"], undefined);
  assert.match(after["src/index.ts"], /import agents from "#agents";/);
  assert.match(after["src/lib.rs"], /^ {4}Host::new\(\)\n {8}\.tools\(tools::all\(\)\)$/m);
  assert.doesNotMatch(after["src/lib.rs"], /embedded|check\(\)/);
  assert.doesNotMatch(after["Cargo.toml"], /build-dependencies|a2a-edge-agents/);
  assert.match(after["Cargo.toml"], /\n\n\[workspace\]\n$/);
  const manifest = JSON.parse(after["package.json"]);
  const template = (name) => JSON.parse(readFileSync(join(root, "create", "templates", name, "package.json"), "utf8"));
  const { devDependencies, scripts } = template("basic");
  // Its functions alone need these.
  for (const name of ["typescript", "zod"]) delete devDependencies[name];
  assert.deepEqual(manifest.devDependencies, { ...devDependencies, ...template("rust").devDependencies });
  assert.deepEqual(manifest.scripts, scripts);
  for (const path of ["src/tools.rs", "src/publisher.rs", "agents/pages.toml", "tests/agents.test.mjs"]) assert.equal(after[path], before[path], path);

  assert.match(await upgrade(), /There is nothing to change\./);
  assert.match(await upgrade("--undo"), /^Restored as before the upgrade, of version 0\.3\.0: /);
  assert.deepEqual(texts(), before);
  assert.ok(!existsSync(project.at(".a2a-edge")));

  await upgrade("--write");
  for (const path of ["agents", "src/lib.rs"]) project.remove(path);
  project.write("agents/one.toml", "one 1");
  project.write("src/lib.rs", "rust 1");
  const { code, output } = await project.run("check");
  assert.equal(code, 0, output);
});

test("line ends of Windows, comments and settings of one's own stay", async () => {
  const own = (text, path) => (path === "wrangler.toml" ? text.replace("no_bundle = true", 'no_bundle = true # as it was\nlogpush = true # mine') : text);
  become((text, path) => own(text, path).replaceAll("\n", "\r\n"));
  const before = texts();
  await upgrade("--write");
  const after = texts();
  for (const path of ["wrangler.toml", "package.json", ".gitignore", "Cargo.toml", "src/lib.rs"]) assert.doesNotMatch(after[path], /[^\r]\n/, path);
  assert.match(after["wrangler.toml"], /^logpush = true # mine\r$/m);
  assert.doesNotMatch(after["wrangler.toml"], /no_bundle/);
  await upgrade("--undo");
  assert.deepEqual(texts(), before);
});

test("what somebody has changed by hand is left, and named", async () => {
  become((text, path) => {
    if (path === "build.rs") return text.replace("fn main", "fn more() {}\n\nfn main");
    if (path === "src/lib.rs") return text.replace("Host::embedded(a2a_edge::embedded!())", "Host::embedded(MINE)");
    if (path === "wrangler.toml") return text.replace(/\[build\]\n.*\n.*\n/, "").replace("no_bundle", 'build = { command = "make" }\nno_bundle');
    return text;
  });
  const before = texts();
  const output = await upgrade("--write").catch(({ message }) => message);
  const after = texts();
  for (const path of ["build.rs", "Cargo.toml"]) assert.equal(after[path], before[path], path);
  assert.match(after["src/lib.rs"], /Host::embedded\(MINE\)/);
  assert.match(after["wrangler.toml"], /^build = \{ command = "make" \}$/m);
  assert.match(output, /build\.rs has code of its own/);
  assert.match(output, /src\/lib\.rs:9 is of 0\.3\.0: Host::embedded\(MINE\)/);
  assert.match(output, /wrangler\.toml is not as a2a-edge writes it\. At the end: \[build\], command = /);
});

test("an upgrade is not undone over later changes", async () => {
  become();
  await upgrade("--write");
  project.write("src/lib.rs", "// mine\n");
  const before = texts();
  const { code, output } = await project.run("upgrade", "--undo");
  assert.equal(code, 1);
  assert.match(output, /These files have changed since the upgrade, and undoing it would lose that:\n\n {4}src\/lib\.rs\n/);
  assert.deepEqual(texts(), before);
  project.remove("src/lib.rs");
  await upgrade("--undo");
  assert.equal(project.read("src/lib.rs"), readFileSync(join(FIXTURE, "src", "lib.rs"), "utf8"));
});

test("in a repository, it says to commit first what is not committed", async () => {
  become();
  const git = (...args) => spawnSync("git", ["-c", "user.name=a", "-c", "user.email=a@b", ...args], { cwd: project.folder });
  git("init", "--quiet");
  assert.match(await upgrade(), /Nothing was written\. Commit first what has changed/);
  git("add", "--all");
  git("commit", "--quiet", "--message", "all");
  // The settings that were read are kept in .wrangler/, which the project ignores.
  assert.match(await upgrade(), /Nothing was written\. Everything is committed/);
});

test("a project of this version has nothing to change, and nothing to undo", async () => {
  for (const [path, text] of projectFiles(project.folder, { npm: version })) project.write(path, text);
  for (const path of ["Cargo.toml", "Cargo.lock", "src/lib.rs"]) project.remove(path);
  const before = texts();
  assert.match(await upgrade(), /^This project is of version (\S+), and so is the package\.[^]*There is nothing to change\.$/m);
  assert.match(await upgrade("--write"), /There is nothing to change\.$/m);
  assert.deepEqual(texts(), before);
  const { code, output } = await project.run("upgrade", "--undo");
  assert.equal(code, 1);
  assert.match(output, /There is no upgrade to undo/);
});

/** True if the checker of this checkout is that of its sources. */
function isCheckerCurrent() {
  const manifest = join(root, "build", "checker.json");
  if (!existsSync(manifest)) return false;
  const { content, inputs } = JSON.parse(readFileSync(manifest, "utf8"));
  return content === contentHash(inputs, root);
}

test("the checker finds the agents of the project of 0.3.0 in order", { skip: !isCheckerCurrent() && "the checker is not built of these sources" }, async () => {
  const { check } = await import("../../scripts/lib/checker.mjs");
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "a2a-edge-agents-")));
  try {
    cpSync(join(FIXTURE, "agents"), join(folder, "agents"), { recursive: true });
    assert.deepEqual(check({ folder, joins: true }).problems, []);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
