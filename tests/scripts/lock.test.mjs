// Two commands that would build the same at once: the second one waits, and says for whom.
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { after, before, beforeEach, test } from "node:test";
import { makeProject, until } from "./project.mjs";

const LOCK = ".wrangler/build.lock";
const HELD = /^==> Waiting for "([^"]+)" \(pid (\d+)\), which has held \.wrangler\/build\.lock for (\d[\d.]* (?:s|min \d+ s))$/gm;

let project, idle;
before(() => {
  project = makeProject();
  idle = spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"], { stdio: "ignore" });
});
beforeEach(() => {
  project.remove("build");
  project.remove(LOCK);
});
after(() => {
  idle.kill("SIGKILL");
  project.remove();
});

const lock = (owner) => project.write(LOCK, JSON.stringify({ command: "npm test", since: Date.now() - 125_000, ...owner }));

test("a build that waits names the command that holds the lock, its process and its time, once", async () => {
  lock({ pid: idle.pid });
  const build = project.start("build");
  await until(() => build.output.includes("Waiting"), "it waits");
  // It looks for the lock every half a second.
  await new Promise((resolve) => setTimeout(resolve, 1_200));
  const told = [...build.output.matchAll(HELD)];
  assert.equal(told.length, 1, build.output);
  const [[, command, pid, time]] = told;
  assert.deepEqual([command, pid], ["npm test", String(idle.pid)]);
  assert.match(time, /^2 min/);
  assert.ok(!project.exists("build/engine.js"), "nothing is built meanwhile");
  project.remove(LOCK);
  const { code, output } = await build.ended;
  assert.equal(code, 0, output);
  assert.ok(project.exists("build/engine.js"));
  assert.ok(!project.exists(LOCK));
});

/** A command that holds the lock until the file `hold` is gone. */
const HOLDS = `
import { existsSync } from "node:fs";
import { locked } from "./lib/lock.mjs";
import { inProject } from "./lib/paths.mjs";
await locked(inProject("${LOCK}"), async () => {
  console.log("has it");
  while (existsSync(inProject("hold"))) await new Promise((resolve) => setTimeout(resolve, 50));
});
`;

test("one of our commands is named as it is called, without its options", async () => {
  project.write("scripts/holds.mjs", HOLDS);
  project.write("hold", "");
  const first = project.start("holds", "--var", "KEY:secret");
  await until(() => first.output.includes("has it"), "the lock is taken");
  const second = project.start("build");
  await until(() => second.output.includes("Waiting"), "it waits");
  assert.doesNotMatch(project.read(LOCK), /secret/);
  project.remove("hold");
  const [{ code, output }] = await Promise.all([second.ended, first.ended]);
  assert.equal(code, 0, output);
  const [[, command, pid]] = output.matchAll(HELD);
  assert.deepEqual([command, pid], ["npm run holds", String(first.child.pid)]);
});

for (const [title, content] of [
  ["of a process that has ended", () => JSON.stringify({ command: "npm test", pid: spawnSync(process.execPath, ["-e", ""]).pid, since: 0 })],
  ["that is cut", () => '{"command":"npm'],
  ["of another form", () => String(idle.pid)],
]) {
  test(`a lock ${title} is taken over at once`, async () => {
    project.write(LOCK, content());
    const { code, output } = await project.run("build");
    assert.equal(code, 0, output);
    assert.doesNotMatch(output, /Waiting/);
    assert.ok(project.exists("build/engine.js"));
    assert.ok(!project.exists(LOCK));
  });
}
