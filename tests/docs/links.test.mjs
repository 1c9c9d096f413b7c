// Links between pages lead somewhere.
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { test } from "node:test";
import { anchorsOf, blocksOf, linkedPages, linksOf, root } from "./markdown.mjs";

for (const page of linkedPages().filter((path) => existsSync(join(root, path)))) {
  test(`the links of ${page} lead to files and headings that exist`, () => {
    const text = readFileSync(join(root, page), "utf8");
    const broken = linksOf(text).filter(({ target }) => !leadsSomewhere(page, target)).map(({ line, target }) => `${page}:${line}: ${target}`);
    assert.deepEqual(broken, []);
  });
}

function leadsSomewhere(page, target) {
  if (/^(?:https?|mailto):/.test(target)) return true;
  const [path, anchor] = target.split("#");
  const file = path === "" ? page : normalize(join(dirname(page), path));
  if (file.startsWith("..") || !existsSync(join(root, file))) return false;
  return anchor === undefined || !file.endsWith(".md") || anchorsOf(readFileSync(join(root, file), "utf8")).has(anchor);
}

test("a link that leads nowhere is noticed", () => {
  assert.ok(leadsSomewhere("docs/changing.md", "upgrades.md"));
  for (const target of ["nowhere.md", "upgrades.md#nowhere", "#nowhere", "../../elsewhere.md"]) assert.ok(!leadsSomewhere("docs/changing.md", target), target);
  assert.deepEqual(linksOf("a [b](c.md) `[d](e.md)`\n```sh\n[f](g.md)\n```\n[h](#i)"), [{ line: 1, target: "c.md" }, { line: 5, target: "#i" }]);
  assert.deepEqual([...anchorsOf("# A `b` c, d\n## A Worker of one's own\n## A `b` c, d\n")], ["a-b-c-d", "a-worker-of-ones-own", "a-b-c-d-1"]);
});

test("blocks are found with their language, their line and the reason why they are not run", () => {
  const [one, two] = blocksOf("a.md", "Text\n\n```sh\nls\n```\n\n<!-- not run: why -->\n  ```js\n  x\n   y\n  ```\n");
  assert.deepEqual([one.lang, one.line, one.text, one.before, one.skip, one.next.lang], ["sh", 3, "ls", "Text", undefined, "js"]);
  assert.deepEqual([two.lang, two.line, two.text, two.skip], ["js", 8, "x\n y", "why"]);
  assert.throws(() => blocksOf("a.md", "```sh\nls\n"), /a\.md:1: the block does not end/);
});
