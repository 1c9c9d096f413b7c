// The shim around the glue of wasm-bindgen: what it hands to the platform, and what it does after an abort.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { pathToFileURL } from "node:url";
import { root } from "./project.mjs";

const PLATFORM = "export class DurableObject { constructor(ctx, env) { Object.assign(this, { ctx, env }); } }";

// An instance that ends by a trap, and then refuses its objects until it is replaced.
const GLUE = `
export const log = [];
const state = { instanceId: 1, criticalError: false };
export const __worker_init_state = () => state;
export function __wbg_reset_state() { log.push("replaced"); }
export class Task {
    constructor(ctx, env) { log.push("made"); this.instance = state.instanceId; this.given = [ctx, env]; }
    fetch(request) { return [this.instance, request, ...this.given]; }
    async alarm() { throw new WebAssembly.RuntimeError("unreachable"); }
    other() { throw new Error("refused"); }
    replace() { state.instanceId += 1; }
    free() {}
}
export function fetch(request, env, ctx) { return [request, env, ctx]; }
`;

const WORKER = `
import * as glue from "./index.js";
import { durable, starter } from "./shim.js";
const passes = {
  give: (agents) => glue.log.push([agents.index]),
  giveFunctions: (functions) => glue.log.push([functions]),
};
const start = starter(() => "1.2.3", passes, { fetch: glue.fetch });
export { start };
export default start({ version: "1.2.3", index: "the agents", agents: {} }, "the functions");
export const Task = durable(glue.Task);
export const log = glue.log;
`;

/** What the start of the Worker passes to the module. */
const GIVEN = [["the agents"], ["the functions"]];

let folder;
before(() => {
  folder = mkdtempSync(join(tmpdir(), "a2a-edge-shim-"));
  copyFileSync(join(root, "scripts", "shim", "shim.js"), join(folder, "shim.js"));
  for (const [name, text] of [["platform.js", PLATFORM], ["index.js", GLUE], ["worker.js", WORKER], ["package.json", '{"type":"module"}']]) {
    writeFileSync(join(folder, name), text);
  }
  globalThis.addEventListener ??= () => {};
});
after(() => rmSync(folder, { recursive: true, force: true }));

/** The bundle of a build in which a panic aborts, or of one in which it does not. */
async function worker({ aborts }) {
  const out = `bundle-${Math.random()}.js`;
  const args = ["worker.js", "--bundle", "--format=esm", `--outfile=${out}`, `--define:ABORTS=${aborts}`, "--alias:cloudflare:workers=./platform.js"];
  const { status, stderr } = spawnSync(join(root, "node_modules", "esbuild", "bin", "esbuild"), args, { cwd: folder, encoding: "utf8" });
  assert.equal(status, 0, stderr);
  return import(pathToFileURL(join(folder, out)).href);
}

test("handlers and methods get what the platform gives, and only methods of the class are there", async () => {
  const { default: handlers, Task } = await worker({ aborts: false });
  assert.deepEqual(handlers.fetch("request", "env", "ctx"), ["request", "env", "ctx"]);
  const task = new Task("ctx", "env");
  assert.deepEqual(task.fetch("request"), [1, "request", "ctx", "env"]);
  assert.equal(task.free, undefined);
});

test("an object is made anew when the glue has replaced its instance", async () => {
  const { Task, log } = await worker({ aborts: false });
  const task = new Task("ctx", "env");
  task.replace();
  assert.deepEqual(task.fetch("request"), [2, "request", "ctx", "env"]);
  assert.deepEqual(task.fetch("again")[0], 2);
  assert.deepEqual(log, [...GIVEN, "made", "made"]);
});

test("where a panic aborts, a trap replaces the instance before the next call, an error does not", async () => {
  const { default: handlers, Task, log } = await worker({ aborts: true });
  const task = new Task("ctx", "env");
  assert.throws(() => task.other(), /refused/);
  task.fetch("request");
  assert.deepEqual(log, [...GIVEN, "made"]);

  await assert.rejects(task.alarm(), WebAssembly.RuntimeError);
  assert.deepEqual(handlers.fetch("request"), ["request", undefined, undefined]);
  assert.deepEqual(task.fetch("request"), [2, "request", "ctx", "env"]);
  assert.deepEqual(log, [...GIVEN, "made", "replaced", "made"]);
});

test("a Worker that is started again, by a bundler that replaces modules, has a new instance", async () => {
  const { start, Task, log } = await worker({ aborts: false });
  const task = new Task("ctx", "env");
  const handlers = start({ version: "1.2.3", index: "others", agents: {} }, "other functions");
  assert.deepEqual(handlers.fetch("request"), ["request", undefined, undefined]);
  assert.deepEqual(task.fetch("request"), [2, "request", "ctx", "env"]);
  assert.deepEqual(log, [...GIVEN, "made", "replaced", ["others"], ["other functions"], "made"]);
});

test("a Worker does not start without agents, nor with those of another version", async () => {
  const { start } = await worker({ aborts: false });
  for (const missing of [undefined, {}, { version: "1.2.3" }]) assert.throws(() => start(missing), /The agents are missing: pass the default export of "#agents"/);
  assert.throws(() => start({ version: "1.2.4", index: "", agents: {} }), /The agents were checked by a2a-edge 1\.2\.4, but this Worker is a2a-edge 1\.2\.3\. Run: npm install/);
});
