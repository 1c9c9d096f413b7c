// What a project is told when something is wrong with its files, its folder or its package: each a sentence that says what to do.
import assert from "node:assert/strict";
import { chmodSync, cpSync, mkdirSync, symlinkSync } from "node:fs";
import { afterEach, beforeEach, test } from "node:test";
import { at, read, remove, run, start, startAs, write } from "./trial.mjs";

let hello;
beforeEach(() => (hello = read("agents/hello.toml")));
afterEach(() => {
  write("agents/hello.toml", hello);
  for (const name of ["odd", "secret"]) remove(`agents/${name}.toml`);
});

const check = () => run("npx", "a2a-edge", "check");
const another = () => hello.replace("default = true\n", "");

/** `check` fails, and says this. */
async function says(text) {
  const { code, output } = await check();
  assert.equal(code, 1, output);
  assert.ok(text instanceof RegExp ? text.test(output) : output.includes(text), output);
  assert.doesNotMatch(output, /^ {4}at .*:\d+:\d+\)?$/m, "no stack");
}

test("Windows line ends, and the mark of UTF-8 at the beginning of a file, are taken", async () => {
  write("agents/odd.toml", `\ufeff${another().replaceAll("\n", "\r\n")}`);
  const { code, output } = await check();
  assert.equal(code, 0, output);
});

test("a line is named although the file has Windows line ends", async () => {
  write("agents/odd.toml", another().replace("tags", "tgas").replaceAll("\n", "\r\n"));
  const line = another().split("\n").findIndex((text) => text.startsWith("tags")) + 1;
  await says(new RegExp(`^ {4}agents/odd\\.toml:${line}: .*tgas`, "m"));
});

test("a file that is not UTF-8", async () => {
  write("agents/odd.toml", Buffer.from("name = \"Gr\xfc\xdfe\"\n", "latin1"));
  await says(/agents\/odd\.toml: .*is not UTF-8; save it with that encoding/);
});

test("a symbolic link out of the project", async () => {
  symlinkSync("/etc/hostname", at("agents/odd.toml"));
  await says(/agents\/odd\.toml: .*leads out of the project by a symbolic link/);
});

test("half a file", async () => {
  write("agents/odd.toml", another().slice(0, 120));
  await says(/agents\/odd\.toml:\d+: /);
});

test("more files than anybody writes by hand", async () => {
  mkdirSync(at("kept"));
  cpSync(at("agents"), at("kept/agents"), { recursive: true });
  for (let number = 0; number < 10_000; number += 1) write(`agents/many-${number}.toml`, "");
  await says(/agents\/?: .*has 10004 entries; the limit is 10000/);
  remove("agents");
  cpSync(at("kept/agents"), at("agents"), { recursive: true });
  remove("kept");
});

test("a package whose files do not belong together, or of which one is missing", async () => {
  const file = "node_modules/a2a-edge/build/engine.js";
  const before = read(file);
  write(file, `${before}\n`);
  await says(/The npm package a2a-edge in \S+ is damaged: build\/engine\.js is not the file that belongs to the others\.\n\n {4}Run: rm -rf \S+node_modules\/a2a-edge && npm install/);
  remove(file);
  await says("is damaged: build/engine.js is missing.");
  write(file, before);
  assert.equal((await check()).code, 0);
});

test("a package without wrangler", async () => {
  const found = at("node_modules/wrangler");
  cpSync(found, at("kept"), { recursive: true });
  remove("node_modules/wrangler");
  await says(/npm packages are missing: wrangler\.\n\n {4}Run: npm install\n/);
  cpSync(at("kept"), found, { recursive: true });
  remove("kept");
});

test("agents that another version has checked: the Worker does not start, and says both versions", async () => {
  const before = read("src/index.ts");
  write("src/index.ts", before.replace("{ agents,", '{ agents: { ...agents, version: "0.0.1" },'));
  const { code, output } = await run("npm", "test");
  write("src/index.ts", before);
  assert.equal(code, 1);
  assert.match(output, /The agents were checked by a2a-edge 0\.0\.1, but this Worker is a2a-edge \d+\.\d+\.\d+\. Run: npm install/);
});

test("a folder that this user may not write", async () => {
  remove(".a2a-edge");
  remove(".wrangler");
  chmodSync(at("."), 0o555);
  // Root may write everywhere.
  const nobody = process.getuid() === 0 ? { uid: 65534, gid: 65534 } : {};
  const { code, output } = await startAs(nobody, "node", "node_modules/a2a-edge/scripts/a2a-edge.mjs", "build").ended;
  chmodSync(at("."), 0o755);
  assert.equal(code, 1);
  assert.match(output, /\.(?:a2a-edge|wrangler)\S* cannot be (?:written|used)[^]*(?:permission|Let this user write)/);
  assert.doesNotMatch(output, /^ {4}at .*:\d+:\d+\)?$/m, "no stack");
});

test("a port in use", async () => {
  const { createServer } = await import("node:http");
  const server = createServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const { port } = server.address();
  const running = start("npx", "a2a-edge", "start", "--port", String(port));
  const { code, output } = await running.ended;
  server.close();
  assert.equal(code, 1);
  assert.match(output, new RegExp(`${port}`));
  assert.match(output, /in use/);
});
