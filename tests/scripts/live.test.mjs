// `npm run dev` in a project without Rust, while files are saved: the Worker that serves is given the agents, and a mistake stops nothing.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { after, before, test } from "node:test";
import { freePort } from "../../scripts/lib/port.mjs";
import { makeOwnProject, startDev, until } from "./project.mjs";

let project, dev, url, answered;
before(async () => {
  project = makeOwnProject();
  ({ dev, url, answered } = await startDev(project));
});
after(async () => {
  dev.child.kill("SIGTERM");
  await dev.ended;
  project.remove();
});

const served = async () => (await answered()).files;
const serves = (path, text) => until(async () => (await served())?.[path] === text, `it serves ${path} as ${text}; it said:\n${dev.output}`);
const says = (text, from = 0) => until(() => dev.output.slice(from).includes(text), `it says "${text}"; it said:\n${dev.output.slice(from)}`);
/** How often wrangler has bundled the Worker anew. */
const reloads = () => dev.output.split("Reloading local server").length - 1;

test("a saved file is served without a new start of the Worker, and the line names it", async () => {
  const from = dev.output.length;
  project.write("agents/one.toml", "one 2");
  await serves("agents/one.toml", "one 2");
  await says("agents/one.toml: live after ", from);
  assert.equal(reloads(), 0);
  assert.doesNotMatch(dev.output, /_dev\/agents/, "giving is not shown");
});

test("files that are saved at once are given together", async () => {
  const from = dev.output.length;
  project.write("agents/one.toml", "one 3");
  project.write("agents/two.toml", "two 3");
  await says("agents/one.toml, agents/two.toml: live after ", from);
  assert.deepEqual(await served(), { "agents/one.toml": "one 3", "agents/two.toml": "two 3" });
});

test("a file is saved as editors do: beside it, and renamed", async () => {
  const from = dev.output.length;
  project.write("agents/one.toml~", "one 4");
  renameSync(project.at("agents/one.toml~"), project.at("agents/one.toml"));
  await serves("agents/one.toml", "one 4");
  await says("agents/one.toml: live after ", from);
  assert.doesNotMatch(dev.output.slice(from), /one\.toml~/);
});

test("new files and folders are noticed, and what is removed", async () => {
  project.write("agents/three.toml", "three");
  await serves("agents/three.toml", "three");
  mkdirSync(project.at("skills/deep/below"), { recursive: true });
  project.write("skills/deep/below/SKILL.md", "skill 1");
  await serves("skills/deep/below/SKILL.md", "skill 1");
  project.write("skills/deep/below/SKILL.md", "skill 2");
  await serves("skills/deep/below/SKILL.md", "skill 2");
  project.remove("skills");
  project.remove("agents/three.toml");
  await until(async () => Object.keys((await served()) ?? {}).length === 2, `they are gone; it said:\n${dev.output}`);
});

test("a mistake is told once, with its place, and the agents of before are served until it is mended", async () => {
  const from = dev.output.length;
  project.write("agents/two.toml", "mistake");
  await says('    agents/two.toml:1: there is no "mistake"\n\nThe agents of before are served until that is mended.\n', from);
  assert.deepEqual(await served(), { "agents/one.toml": "one 4", "agents/two.toml": "two 3" });
  project.write("agents/one.toml", "one 5");
  project.write("agents/two.toml", "two 5");
  await serves("agents/one.toml", "one 5");
  assert.equal(dev.output.slice(from).split("there is no").length, 2, dev.output.slice(from));
});

test("a file that is written in pieces is no mistake", async () => {
  const from = dev.output.length;
  writeFileSync(project.at("agents/two.toml"), "");
  setTimeout(() => writeFileSync(project.at("agents/two.toml"), "two 6"), 40);
  await serves("agents/two.toml", "two 6");
  assert.doesNotMatch(dev.output.slice(from), /there is no/);
});

test("what the Worker refuses, and agents that it cannot serve, are told", async () => {
  const from = dev.output.length;
  project.write("agents/two.toml", "refused");
  await says("agents/two.toml: the Worker did not take the change, it answered 400: an agent is refused", from);
  project.write("agents/two.toml", "unusable");
  await says("These agents refuse every message, since the Worker cannot serve them:\n\n    two: agents/two.toml:1: there is no such kind\n", from);
});

test("a change of the code is served with the newest agents", async () => {
  project.write("agents/two.toml", "two 7");
  await serves("agents/two.toml", "two 7");
  const before = reloads();
  project.write("src/index.ts", `${project.read("src/index.ts")}\n// changed\n`);
  project.write("agents/two.toml", "two 8");
  await until(() => reloads() > before, `wrangler bundles it; it said:\n${dev.output}`);
  await serves("agents/two.toml", "two 8");
  assert.equal((await answered()).files["agents/one.toml"], "one 5");
});

test("what only code explains is a mistake until the entry registers something", async () => {
  const [from, plain] = [dev.output.length, project.read("src/index.ts")];
  project.write("agents/two.toml", "of code");
  await says('agents/two.toml:1: there is no "of code"', from);
  project.write("src/index.ts", plain.replace("worker({ agents })", "worker({ agents, tools: {} })"));
  await serves("agents/two.toml", "of code");
  project.write("agents/two.toml", "two 9");
  await serves("agents/two.toml", "two 9");
  project.write("src/index.ts", plain);
});

test("a changed secret starts the Worker again, with the newest agents", async () => {
  project.write("agents/two.toml", "two 9");
  await serves("agents/two.toml", "two 9");
  project.write(".dev.vars", "A=first\n");
  await until(async () => (await answered()).variable === "first", `it has the variable; it said:\n${dev.output}`);
  assert.equal((await served())["agents/two.toml"], "two 9");
  const from = dev.output.length;
  project.write("agents/two.toml", "two 10");
  await says("agents/two.toml: live after ", from);
});

test("the printed command ends this server, which is started again with the newest agents and another command", async () => {
  const printed = () => [...dev.output.matchAll(/^To see that tasks outlive a crash: (pkill -9 -g \d+ workerd)$/gm)].map(([, command]) => command);
  const [before, last] = [printed().length, printed().at(-1)];
  const files = await served();
  assert.equal(spawnSync("sh", ["-c", last]).status, 0, last);
  await until(() => printed().length > before, `it is served again; it said:\n${dev.output}`);
  assert.match(dev.output, /The runtime has died; starting it again\.\nServing at \S+ again\.\nTo see/);
  assert.notEqual(printed().at(-1), last);
  await until(async () => JSON.stringify(await served()) === JSON.stringify(files), `it serves the same; it said:\n${dev.output}`);
});

test("a page of the console has the server killed, and started again, and knows nothing by which others could", async () => {
  const ask = (headers) => fetch(new URL("/_dev/kill", url), { method: "POST", body: "{}", headers: { "content-type": "application/json", ...headers } });
  const from = dev.output.length;
  assert.equal((await ask({ origin: "https://evil.example" })).status, 403);
  assert.doesNotMatch(dev.output.slice(from), /has died/);
  const answer = await ask({});
  assert.equal(answer.status, 202);
  assert.doesNotMatch(await answer.text(), /127\.0\.0\.1/);
  await says("Serving at", from);
  assert.match(dev.output.slice(from), /The runtime has died; starting it again\.\nServing at \S+ again\./);
  await until(async () => (await served()) !== undefined, `it serves again; it said:\n${dev.output}`);
  // Each start can be killed, not the first alone.
  const again = dev.output.length;
  assert.equal((await ask({})).status, 202);
  await says("Serving at", again);
});

test("a second one in the same folder says which process serves, and how to serve beside it", async () => {
  for (const command of ["dev", "start"]) {
    const { code, output } = await project.run(command, "--port", String(await freePort()));
    assert.equal(code, 1);
    assert.match(output, new RegExp(`The agents of this folder are served already, at http://localhost:${new URL(url).port} by process ${dev.child.pid}\\.\n\n    End it with Ctrl-C, or: kill ${dev.child.pid}\n`));
    assert.ok(output.includes(`npx a2a-edge ${command} --port N --persist-to FOLDER`), output);
  }
});
