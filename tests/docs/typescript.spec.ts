// The TypeScript of examples/typescript and of the pages, in projects as their authors have them: its types, its tests, and what the page says of it.

import assert from "node:assert/strict";
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { basename, join } from "node:path";
import { after, before, describe, test } from "node:test";
import { pages, readPage, root } from "./markdown.mjs";
import { generate, makeProject, runIn, typeMistakes, type Project } from "./projects.mjs";

const EXAMPLES = "examples/typescript";
const page = readPage("docs/typescript.md");
const TOTALS = /^ℹ (?:tests|pass|fail) (\d+)$/gm;

/** Runs the tests of a project; all must pass, and there must be some. */
async function passes(project: Project): Promise<void> {
  const files = readdirSync(project.at("tests")).filter((name) => name.endsWith(".test.ts")).map((name) => join("tests", name));
  const { code, output } = await runIn(project, process.execPath, ["--disable-warning=ExperimentalWarning", "--test", "--test-reporter=spec", ...files]);
  assert.equal(code, 0, output);
  const [all, passed, failed] = [...output.matchAll(TOTALS)].map(([, count]) => Number(count));
  assert.ok(all !== undefined && all >= files.length && all === passed && failed === 0, output);
}

describe("examples/typescript", () => {
  let project: Project;
  before(async () => {
    project = makeProject({ from: [EXAMPLES] });
    await generate(project);
  });
  after(() => project.remove());

  test("it compiles, strictly", async () => {
    assert.equal(await typeMistakes(project, ["src", "tests"]), "");
  });

  test("its tests pass", () => passes(project));

  test("the page shows ten examples, each from a file that has a test, or is one", () => {
    const [, after = ""] = page.text.split("\n## Ten examples\n");
    const examples = (after.split(/\n## /)[0] ?? "").split(/\n### \d+ /).slice(1);
    assert.equal(examples.length, 10);
    for (const example of examples) {
      const file = /^\[(examples\/typescript\/\S+)\]\(\.\.\/\1\)\n\n```ts\n/m.exec(example)?.[1];
      assert.ok(file, `no file is shown: ${example.split("\n")[0]}`);
      const tested = /\/tests\//.test(file) ? file : `${EXAMPLES}/tests/${basename(file, ".ts")}.test.ts`;
      assert.ok(existsSync(join(root, tested)), `${tested} is missing`);
      assert.ok(/\btest\("/.test(readFileSync(join(root, tested), "utf8")), `${tested} has no test`);
    }
  });
});

describe("examples/typescript/expenses", () => {
  let project: Project;
  before(async () => {
    project = makeProject({ from: [`${EXAMPLES}/expenses`] });
    await generate(project);
  });
  after(() => project.remove());

  test("it is one file of at most 60 lines", () => {
    const lines = readFileSync(project.at("src", "index.ts"), "utf8").trimEnd().split("\n");
    assert.ok(lines.length <= 60, `${lines.length} lines`);
    assert.deepEqual(readdirSync(project.at("src")), ["index.ts"]);
  });

  test("it compiles, strictly", async () => {
    assert.equal(await typeMistakes(project, ["src", "tests"]), "");
  });

  test("its tests pass", () => passes(project));
});

/** Blocks of pages that are no files, by the paths that they have in a project: modules, and files that the first line of a block names. */
const blocks = pages().flatMap(({ path, blocks: of }) => {
  const shown = of.filter(({ lang, skip, before: line }) => lang === "ts" && skip === undefined && !/^\[[^\]]*\]\(/.test(line));
  const folder = `pages/${path.replace(/\W/g, "-")}`;
  return shown.map(({ text, line }) => [`${folder}/${/^\/\/ (\S+\.ts)\n/.exec(text)?.[1] ?? `line-${line}.ts`}`, `${text}\n`] as const);
});

test("the blocks of TypeScript on pages compile, strictly", async () => {
  assert.ok(blocks.length > 10, "the pages are read");
  const project = makeProject({ files: Object.fromEntries(blocks) });
  try {
    await generate(project);
    assert.equal(await typeMistakes(project, ["pages"]), "");
  } finally {
    project.remove();
  }
});
