// What the pages say about the package: README leads to a project by commands of this version, and nothing is fetched by a name that is not ours yet.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { blocksOf, linkedPages, root } from "./markdown.mjs";

const read = (path) => readFileSync(join(root, path), "utf8");
const manifest = JSON.parse(read("package.json"));
const readme = read("README.md");

test("README names the version and the least Node of package.json", () => {
  const versions = [...readme.matchAll(/a2a-edge-(\d[\w.-]*)\.tgz/g)].map(([, version]) => version);
  assert.deepEqual([...new Set(versions)], [manifest.version]);
  const [, node] = /You need Node ([\d.]+) or newer, and nothing else/.exec(readme);
  assert.equal(manifest.engines.node, `>=${node}.0`);
});

test("the agent that README shows is that of a new project", () => {
  const shown = blocksOf("README.md", readme).find(({ text }) => text.startsWith("# agents/hello.toml\n"));
  const template = read("create/templates/basic/agents/hello.toml").replace(/^(?:#.*\n)+/, "");
  assert.equal(`${shown.text.replace(/^#.*\n/, "")}\n`, template);
});

/** Commands that ask a registry for one of our names. `npx a2a-edge` is none: it runs what a project has installed. */
const FETCHES = [
  /\bnpm (?:create|init|exec) (?:-\S+ )*(?:create-)?a2a-edge\b/,
  /\bnpm (?:i|install|add) (?:-\S+ )*(?:create-)?a2a-edge(?![-\w]*\.tgz)\b/,
  /\b(?:npx|bunx|pnpx|(?:pnpm|yarn) (?:create|dlx|add)|bun (?:create|add)) (?:-\S+ )*create-a2a-edge\b/,
  /\b(?:pnpm|yarn|bun) (?:create|dlx|add) (?:-\S+ )*a2a-edge\b/,
  /\b(?:npx|npm exec) (?:-y|--yes) (?:-\S+ )*a2a-edge\b/,
  /\bcargo (?:add|install) (?:-\S+ )*a2a-edge\b/,
];
const fetchesIn = (text) => text.split("\n").filter((line) => FETCHES.some((pattern) => pattern.test(line)));

for (const page of [...linkedPages(), "create/index.mjs", "create/templates/basic/README.md"]) {
  test(`${page} has no command that fetches a2a-edge from a registry`, () => assert.deepEqual(fetchesIn(read(page)), []));
}

test("a command that fetches a2a-edge is noticed", () => {
  const bad = ["npm create a2a-edge my-agents", "npm init a2a-edge", "npm i -D a2a-edge", "npm install a2a-edge@0.4.0", "npx create-a2a-edge x", "npx -y a2a-edge start", "cargo add a2a-edge"];
  for (const line of bad) assert.equal(fetchesIn(line).length, 1, line);
  for (const line of ["npx a2a-edge check", "npx --no a2a-edge build", "npm install ./a2a-edge-0.4.0.tgz", "npm install"]) assert.deepEqual(fetchesIn(line), [], line);
});
