// The shim around the glue of wasm-bindgen, with the module that catches panics: what it hands to the platform, and what it does after a panic.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { pathToFileURL } from "node:url";
import { root } from "./project.mjs";

const PLATFORM = "export class DurableObject { constructor(ctx, env) { Object.assign(this, { ctx, env }); } }";

// An instance with a stack, whose calls may be stopped in the middle.
const GLUE = `
export const log = [];
const state = { instanceId: 1 };
export const instance = { stack: { value: 1000 }, isBroken: false, calls: undefined };
export const __worker_init_state = () => state;
export function __wbg_reset_state() {
  log.push("replaced");
  Object.assign(instance, { stack: { value: 1000 }, isBroken: false });
}
export const stackPointer = () => instance.stack;
export const isBroken = () => instance.isBroken;
export const catchPanics = () => log.push("catches");
export const engineVersion = () => "1.2.3";
export function stop(bytes) {
  instance.stack.value -= bytes;
  throw new WebAssembly.RuntimeError("unreachable");
}
export class Task {
    constructor(ctx, env) { log.push("made"); this.instance = state.instanceId; this.given = [ctx, env]; }
    fetch(request) { return [this.instance, request, ...this.given]; }
    panics() { stop(16); }
    other() { throw new Error("refused"); }
    replace() { state.instanceId += 1; }
    free() {}
}
export function fetch(request, env, ctx) { return [request, env, ctx]; }
`;

const WORKER = `
import * as glue from "./index.js";
import * as panic from "./panic.js";
import { connect } from "./shim.js";
const passes = {
  give: (agents) => glue.log.push([agents.index]),
  giveFunctions: (functions) => glue.log.push([functions]),
};
const { durable, starter } = connect(glue, panic);
const start = starter(passes, ["fetch"]);
export { start };
export default start({ version: "1.2.3", index: "the agents", agents: {} }, "the functions");
export const Task = durable("Task");
export const { attempt, report } = panic;
export const { instance, log, stop } = glue;
`;

/** What the start of the Worker passes to the module. */
const GIVEN = ["catches", ["the agents"], ["the functions"]];

let folder;
before(() => {
  folder = mkdtempSync(join(tmpdir(), "a2a-edge-shim-"));
  copyFileSync(join(root, "scripts", "shim", "shim.js"), join(folder, "shim.js"));
  copyFileSync(join(root, "js", "panic.js"), join(folder, "panic.js"));
  for (const [name, text] of [["platform.js", PLATFORM], ["index.js", GLUE], ["worker.js", WORKER], ["package.json", '{"type":"module"}']]) {
    writeFileSync(join(folder, name), text);
  }
});
after(() => rmSync(folder, { recursive: true, force: true }));

/** A new instance of the bundle, whose log is in `printed`. */
async function worker(t) {
  const printed = t?.mock.method(console, "error", () => {}).mock;
  const out = `bundle-${Math.random()}.js`;
  const args = ["worker.js", "--bundle", "--format=esm", `--outfile=${out}`, "--alias:cloudflare:workers=./platform.js"];
  const { status, stderr } = spawnSync(join(root, "node_modules", "esbuild", "bin", "esbuild"), args, { cwd: folder, encoding: "utf8" });
  assert.equal(status, 0, stderr);
  return { ...(await import(pathToFileURL(join(folder, out)).href)), printed };
}

test("handlers and methods get what the platform gives, and only methods of the class are there", async () => {
  const { default: handlers, Task } = await worker();
  assert.deepEqual(handlers.fetch("request", "env", "ctx"), ["request", "env", "ctx"]);
  const task = new Task("ctx", "env");
  assert.deepEqual(task.fetch("request"), [1, "request", "ctx", "env"]);
  assert.equal(task.free, undefined);
});

test("an object is made anew when the glue has replaced its instance", async () => {
  const { Task, log } = await worker();
  const task = new Task("ctx", "env");
  task.replace();
  assert.deepEqual(task.fetch("request"), [2, "request", "ctx", "env"]);
  assert.deepEqual(task.fetch("again")[0], 2);
  assert.deepEqual(log, [...GIVEN, "made", "made"]);
});

/** The state of an object that counts its restarts. */
function counted() {
  const context = { reasons: [], abort: (reason) => context.reasons.push(reason) };
  return context;
}

/** Waits for the timers that are due. */
const nextTurn = () => new Promise((resolve) => setTimeout(resolve, 5));

test("a panic ends its call, restarts its object after everything that the call has begun, and leaves the instance", async (t) => {
  const { default: handlers, Task, log, instance } = await worker(t);
  const [context, other] = [counted(), counted()];
  const [task, beside] = [new Task(context, "env"), new Task(other, "env")];
  assert.throws(() => task.other(), /refused/);
  await nextTurn();
  assert.deepEqual(context.reasons, [], "an error is no panic");

  assert.throws(() => task.panics(), WebAssembly.RuntimeError);
  assert.deepEqual(context.reasons, [], "what the call has begun is still to be done");
  await nextTurn();
  assert.deepEqual([context.reasons.length, other.reasons.length], [1, 0]);
  assert.equal(instance.stack.value, 984);
  assert.deepEqual(handlers.fetch("request"), ["request", undefined, undefined]);
  assert.equal(instance.stack.value, 1000, "the stack of the stopped call is free again");
  assert.equal(beside.fetch("request")[0], 1);
  assert.deepEqual(log, [...GIVEN, "made", "made"]);
});

test("an instance that a panic left unusable is replaced before the next event, with its objects", async (t) => {
  const { Task, log, instance } = await worker(t);
  const task = new Task(counted(), "env");
  assert.throws(() => task.panics(), WebAssembly.RuntimeError);
  instance.isBroken = true;
  assert.equal(task.fetch("request")[0], 2);
  assert.equal(task.fetch("request")[0], 2);
  assert.deepEqual(log, [...GIVEN, "made", "replaced", "catches", "made"]);
});

test("a caught panic gives its caller the stack as it was, and one message to the log", async (t) => {
  const { attempt, report, instance, stop, printed } = await worker(t);
  instance.stack.value = 900;
  assert.equal(attempt(() => {}), true);
  const isDone = attempt(() => {
    report("panicked at src/x.rs:1:1: reason");
    stop(300);
  });
  assert.deepEqual([isDone, instance.stack.value], [false, 900]);
  assert.equal(printed.callCount(), 1);
  assert.match(printed.calls[0].arguments[0], /^panicked at src\/x\.rs:1:1: reason\n\nStack:/);
  assert.equal(attempt(() => stop(300)), false, "a fault without a message");
  assert.equal(printed.callCount(), 2);
  assert.match(printed.calls[1].arguments[0], /unreachable/);
});

test("a Worker that is started again, by a bundler that replaces modules, has a new instance", async () => {
  const { start, Task, log } = await worker();
  const task = new Task("ctx", "env");
  const handlers = start({ version: "1.2.3", index: "others", agents: {} }, "other functions");
  assert.deepEqual(handlers.fetch("request"), ["request", undefined, undefined]);
  assert.deepEqual(task.fetch("request"), [2, "request", "ctx", "env"]);
  assert.deepEqual(log, [...GIVEN, "made", "replaced", "catches", ["others"], ["other functions"], "made"]);
});

test("a Worker does not start without agents, nor with those of another version", async () => {
  const { start } = await worker();
  for (const missing of [undefined, {}, { version: "1.2.3" }]) assert.throws(() => start(missing), /The agents are missing: pass the default export of "#agents"/);
  assert.throws(() => start({ version: "1.2.4", index: "", agents: {} }), /The agents were checked by a2a-edge 1\.2\.4, but this Worker is a2a-edge 1\.2\.3\. Run: npm install/);
});
