// `npm run dev` while files are saved: what is served follows the files, and a mistake stops nothing.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { freePort } from "../../scripts/lib/port.mjs";
import { makeProject, until } from "./project.mjs";

const MISTAKE = "agents/one.toml:1: there is no such step";

let project, dev, url;
before(async () => {
  project = makeProject();
  const port = await freePort();
  url = `http://127.0.0.1:${port}/`;
  dev = project.start("dev", "--port", String(port), "--inspector-port", String(await freePort()));
  await until(() => dev.output.includes("a2a-edge serves at") || dev.child.exitCode !== null, "it serves");
  assert.equal(dev.child.exitCode, null, dev.output);
});
after(async () => {
  dev.child.kill("SIGTERM");
  await dev.ended;
  project.remove();
});

const served = async () => (await fetch(url)).text();
const serves = (texts) => until(async () => (await served()) === texts, `it serves ${texts}; it said:\n${dev.output}`);
const builds = () => project.calls().filter(([name, what, end]) => name === "cargo" && what === "rustc" && end === "ends").length;
const calls = (tool) => project.calls().filter(([name]) => name === tool).length;

test("two files that are saved at once are built once, together", async () => {
  await serves("one 1, two 1");
  const before = builds();
  project.write("agents/one.toml", "one 2");
  project.write("agents/two.toml", "two 2");
  await serves("one 2, two 2");
  assert.equal(builds() - before, 1);
});

test("a file that is saved while a build checks its tools is built, and nothing is said to be missing", async () => {
  const [before, start] = [builds(), dev.output.length];
  for (const tool of ["npm", "rustc"]) {
    const [asked, from] = [calls("rustc") + calls("npm"), dev.output.length];
    project.write(`hold-${tool}`, "");
    project.write("agents/one.toml", `one 3 ${tool}`);
    await until(() => calls("rustc") + calls("npm") > asked, "the build has begun");
    project.write("agents/two.toml", `two 3 ${tool}`);
    await until(() => dev.output.slice(from).split("restarting build").length > 2, "wrangler has begun anew");
    project.remove(`hold-${tool}`);
    await serves(`one 3 ${tool}, two 3 ${tool}`);
  }
  assert.doesNotMatch(dev.output.slice(start), /missing|usable|cannot|was not built|was ended|build before/);
  assert.ok(builds() - before >= 2);
});

test("a mistake is told, and the Worker of before goes on until it is mended", async () => {
  const old = await served();
  project.write("cargo.txt", `error: a2a-edge@0.1.0: ${MISTAKE}\n`);
  project.write("agents/one.toml", "mistaken");
  await until(() => dev.output.includes("The build before is served"), "the mistake is told");
  assert.equal(dev.output.split(MISTAKE).length, 2, dev.output);
  assert.equal(await served(), old);

  project.remove("cargo.txt");
  project.write("agents/one.toml", "mended");
  await until(async () => (await served()).startsWith("mended"), "the mended file is served");
});

test("an agent whose executor the Worker cannot make is told after each build, until it is mended", async () => {
  const [from, told] = [dev.output.length, "refuse every message:\n\n    one: unservable 1, "];
  assert.ok(!dev.output.includes("refuse every message"), dev.output);
  project.write("agents/one.toml", "unservable 1");
  await until(() => dev.output.slice(from).includes(told), `it is told; it said:\n${dev.output.slice(from)}`);
  assert.doesNotMatch(dev.output, /console\/api\/agents/, "asking is not shown");
  project.write("agents/one.toml", "mended again");
  await until(async () => (await served()).startsWith("mended again"), "the mended file is served");
});

test("a change of the console is served without a build of the Worker, which stays as it is", async () => {
  const page = async () => (await fetch(`${url}console/`)).text();
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

test("a changed file of variables is read, and only a change of its text starts the Worker again", async () => {
  const restarts = () => dev.output.split(".dev.vars has changed; starting the Worker again.").length - 1;
  const shown = await served();
  project.write(".dev.vars", "A=1\n");
  await until(() => restarts() === 1 && dev.output.includes(" again.\nServing at"), `it is served again; it said:\n${dev.output}`);
  await serves(shown);
  project.write(".dev.vars", "A=1\n");
  project.write(".dev.vars", "A=2\n");
  const again = () => dev.output.split(" again.\nServing at").length - 1;
  await until(() => restarts() === 2 && again() === 2, `the change is noticed; it said:\n${dev.output}`);
  await serves(shown);
  assert.equal(restarts(), 2);
});
