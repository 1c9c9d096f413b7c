// `npm run dev` with Rust, while files are saved: what is served follows the sources, agents are given without a build, and a mistake stops nothing.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { makeProject, startDev, until } from "./project.mjs";

const MISTAKE = "error[E0425]: cannot find value `x` in this scope\n --> src/lib.rs:1:1";

let project, dev, url, served;
before(async () => {
  project = makeProject();
  ({ dev, url, answered: served } = await startDev(project));
});
after(async () => {
  dev.child.kill("SIGTERM");
  await dev.ended;
  project.remove();
});

const serves = (key, text) => until(async () => [(await served())[key], (await served()).files?.[key]].includes(text), `it serves ${key} as ${text}; it said:\n${dev.output}`);
const builds = () => project.calls().filter(([name, what, end]) => name === "cargo" && what === "rustc" && end === "ends").length;
const calls = (tool) => project.calls().filter(([name]) => name === tool).length;

test("a source that is saved is compiled, and a saved agent is given without a build", async () => {
  await serves("rust", "rust 1");
  const before = builds();
  project.write("agents/one.toml", "one 2");
  await serves("agents/one.toml", "one 2");
  assert.equal(builds(), before);
  project.write("src/lib.rs", "rust 2");
  await serves("rust", "rust 2");
  assert.equal(builds(), before + 1);
  await serves("agents/one.toml", "one 2");
});

test("a source that is saved while a build checks its tools is built, and nothing is said to be missing", async () => {
  const [before, start] = [builds(), dev.output.length];
  for (const tool of ["rustc"]) {
    const [asked, from] = [calls("rustc"), dev.output.length];
    project.write(`hold-${tool}`, "");
    project.write("src/lib.rs", `rust 3 ${tool}`);
    await until(() => calls("rustc") > asked, "the build has begun");
    project.write("src/other.rs", "other");
    await until(() => dev.output.slice(from).split("restarting build").length > 2, "wrangler has begun anew");
    project.remove(`hold-${tool}`);
    await serves("rust", `rust 3 ${tool}`);
  }
  assert.doesNotMatch(dev.output.slice(start), /missing|usable|cannot|was not built|was ended|build before/);
  assert.ok(builds() - before >= 1);
});

test("a mistake is told, and the Worker of before goes on until it is mended", async () => {
  const old = (await served()).rust;
  project.write("cargo.txt", `${MISTAKE}\n`);
  project.write("src/lib.rs", "mistaken");
  await until(() => dev.output.includes("The build before is served"), "the mistake is told");
  assert.equal(dev.output.split("E0425").length, 2, dev.output);
  assert.equal((await served()).rust, old);
  // Agents are given meanwhile.
  project.write("agents/one.toml", "one 4");
  await serves("agents/one.toml", "one 4");

  project.remove("cargo.txt");
  project.write("src/lib.rs", "mended");
  await serves("rust", "mended");
});

test("an agent that the Worker cannot serve is told, until it is mended", async () => {
  const [from, told] = [dev.output.length, "These agents refuse every message, since the Worker cannot serve them:\n\n    one: agents/one.toml:1: "];
  assert.ok(!dev.output.includes("refuse every message"), dev.output);
  project.write("agents/one.toml", "unusable 1");
  await until(() => dev.output.slice(from).includes(told), `it is told; it said:\n${dev.output.slice(from)}`);
  assert.doesNotMatch(dev.output, /_dev\/agents/, "asking is not shown");
  project.write("agents/one.toml", "mended");
  await serves("agents/one.toml", "mended");
});

test("a change of the console is served without a build of the Worker, which stays as it is", async () => {
  const page = async () => (await fetch(`${url}/console/`)).text();
  const [before, index] = [builds(), "console/index.html"];
  await until(async () => (await page()).includes("<title>"), `the console is served; it said:\n${dev.output}`);
  project.write(index, project.read(index).replace("<title>", "<title>Changed "));
  await until(async () => (await page()).includes("<title>Changed "), `the changed console is served; it said:\n${dev.output}`);
  assert.equal(builds(), before);

  // The assets are no source: making them begins no build.
  const from = dev.output.length;
  const text = project.read(index);
  project.write(index, text.replace("./src/main.tsx", "./src/nowhere.tsx"));
  await until(() => dev.output.slice(from).includes("The build before is served"), "the mistake is told");
  assert.match(dev.output.slice(from), /The console was not built:\nError: Failed to resolve \.\/src\/nowhere\.tsx/);
  assert.equal(dev.output.slice(from).split("restarting build").length, 2, dev.output.slice(from));
  assert.match(await page(), /<title>Changed /);
  project.write(index, text);
});
