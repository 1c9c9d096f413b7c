// What a process does that runs tests of an author: it needs no flags, prints nothing besides, and ends by itself.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { testAgent } from "a2a-edge/testing";

const fixture = (name) => fileURLToPath(new URL(`fixtures/${name}`, import.meta.url));

/** Runs Node until it ends. */
async function node(...args) {
  // Node's runner of tests tells its children that they are such.
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  const child = spawn(process.execPath, args, { env, stdio: ["ignore", "pipe", "pipe"] });
  const texts = [child.stdout, child.stderr].map(async (stream) => Buffer.concat(await stream.toArray()).toString());
  const code = await new Promise((resolve) => child.once("exit", resolve));
  const [output, errors] = await Promise.all(texts);
  return { code, output, errors };
}

const skip = process.features.typescript ? false : "this version of Node does not read TypeScript";

test("a test in TypeScript runs without flags, and its process ends", { skip }, async () => {
  const { code, output, errors } = await node("--test", "--test-reporter=tap", fixture("seats.test.ts"));
  assert.deepEqual([code, errors], [0, ""], output);
  assert.match(output, /# pass 3/);
});

test("the entry module of a Worker can be imported in Node, and says where it runs", async () => {
  const { default: handlers, TaskObject } = await import("./fixtures/entry.mjs");
  await assert.rejects(handlers.fetch(new Request("https://a.example/"), {}, {}), /The Worker does not run in Node\. Serve it: npx a2a-edge dev/);
  assert.throws(() => new TaskObject({}, {}), /objects of tasks live in workerd/);
});

test("code that imports cloudflare:workers can be imported later, and has the bindings of its agent", async () => {
  const { named } = await import("./fixtures/bindings.mjs");
  const agent = await testAgent(named, { env: { NAME: "north" } });
  assert.equal((await agent.send("go")).artifacts.result.text, "north NAME");
});

test("with --import a2a-edge/testing, such code can be imported by statements", async () => {
  const imports = `data:text/javascript,${encodeURIComponent(`import ${JSON.stringify(new URL("fixtures/bindings.mjs", import.meta.url).href)};`)}`;
  const { code, errors } = await node("--import", "a2a-edge/testing", "--import", imports, "--eval", "0");
  assert.deepEqual([code, errors], [0, ""]);
});

test("a2a-edge has the same exports in Node as on the platform", async () => {
  const { readFileSync } = await import("node:fs");
  const exported = (path) => {
    const text = readFileSync(new URL(`../../js/${path}`, import.meta.url), "utf8");
    const lists = [...text.matchAll(/^export \{([^}]*)\}/gm)].flatMap(([, names]) => names.split(",").map((name) => name.trim()));
    return [...lists, ...[...text.matchAll(/^export (?:const|function|class) (\w+)/gm)].map(([, name]) => name)].sort();
  };
  assert.deepEqual(exported("node.js"), exported("index.js"));
});
