// The prose of the pages in docs/ has lines of at most 120 characters, and air between its paragraphs.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { WIDTH, longLines, wrapped } from "../../scripts/lib/wrap.mjs";
import { root } from "./markdown.mjs";
import { PAGES } from "./wrap.mjs";

for (const page of PAGES) {
  test(`the lines of ${page} are no longer than ${WIDTH} characters`, () => {
    const long = longLines(readFileSync(join(root, page), "utf8")).map((line) => `${page}:${line}`);
    assert.deepEqual(long, [], "to wrap them: node tests/docs/wrap.mjs");
  });

  test(`headings and tables of ${page} have an empty line behind them`, () => {
    const text = readFileSync(join(root, page), "utf8").replace(/^\s*```[\s\S]*?^\s*```$/gm, "");
    assert.deepEqual([...text.matchAll(/^(?:#{1,6} .*|\|.*)\n(?!\||<|\n|$).+$/gm)].map(([lines]) => lines), []);
  });
}

const words = (count, word = "word") => Array.from({ length: count }, () => word).join(" ");
/** 119 characters. */
const LINE = words(24);

describe("a text is wrapped", () => {
  for (const [title, text, expected] of [
    ["at the last word that fits", `${LINE} a bc`, `${LINE}\na bc`],
    ["never within its limit", `${LINE}\nand so\non`, `${LINE}\nand so\non`],
    ["anew in a paragraph with a longer line, alone", `${words(30)}\nand so\non\n\none\ntwo`, `${LINE}\n${words(6)} and so on\n\none\ntwo`],
    ["in items of lists, with their indentation", `- ${words(25)}\n- one\n  10. ${words(25)}`, `- ${words(23)}\n  word word\n- one\n  10. ${words(23)}\n      word word`],
    ["not in a table, a heading, code and HTML", `| ${words(30)} |\n\n## ${words(30)}\n\n\`\`\`sh\n${words(30)}\n\`\`\`\n\n<p ${words(30)}>`, undefined],
    ["not within a link, a picture or a code span", `${words(23)} [two words](a.md) ![one more](b.svg) \`c d\``, `${words(23)}\n[two words](a.md) ![one more](b.svg) \`c d\``],
    ["not within a picture that is a link", `${words(22)} [![two words](a.svg)](b.md)`, `${words(22)}\n[![two words](a.svg)](b.md)`],
    ["so that no line begins a list or a heading", `${words(23)} word - and # so 40. on`, `${words(23)}\nword - and # so 40. on`],
    ["not where one word is too long", `[${words(30)}](a.md)`, undefined],
    ["by characters, not by bytes", words(24, "äöüß"), undefined],
  ]) {
    test(title, () => {
      assert.equal(wrapped(text), expected ?? text);
      assert.deepEqual(longLines(wrapped(text)), []);
    });
  }
});

test("lines that are too long are found by their numbers", () => {
  assert.deepEqual(longLines(`one\n\n\`\`\`\n${words(30)}\n\`\`\`\n${words(30)}\ntwo\n- ${words(30)}\n| ${words(30)} |\n`), [6, 8]);
});
