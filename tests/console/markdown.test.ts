// The reader of markdown: as the library marked reads the same texts, quick whatever it is given, and without losing a word.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Lexer } from "marked";
import { tokensOf, type Block, type Inline } from "../../console/src/parts/markdown-tokens.ts";

const TEXTS: Record<string, string> = {
  paragraphs: "One line\nand another\n\nA second paragraph.   \nWith spaces.\\\nAnd a break.",
  headings: "# One #\n\n## Two *with* `code`\n\nThree\n=====\n\nFour\n---\n\n####### no heading\n\n#no heading",
  emphasis: "*em* **strong** ***both*** _em_ __strong__ snake_case_word 2 * 3 * 4 **bold *and em* bold** *a **b** c* ~~gone~~ ~one~ *open **and closed** only",
  "emphasis beside letters": "un*frigging*believable foo_bar_baz **a**b **\"quoted\"**. *(in)*, **note:** this",
  code: "Use `a b`, `` a`b ``, ` x ` and `unclosed.\n\n```js\nconst a = `x`;\n\n  indented\n```\n\n~~~\nplain\n~~~\n\n    indented code\n    more\n\nend",
  "an open fence": "```python\nprint('still streaming')\n",
  quotes: "> quoted\n> *more*\nlazy\n\n> > nested\n> back\n\n> - a\n> - b",
  lists: "- one\n- two\n  - nested\n  - again\n    1. deep\n- three\n\n1. first\n2. second\n\n7) seven\n8) eight",
  "loose lists": "- one\n\n- two\n\n  second paragraph\n\n- three",
  "lists and text": "Before:\n- one\n- two\n\nAfter.\n\n* a\n+ b",
  "a list with code": "1. Do this:\n\n   ```sh\n   ls\n   ```\n\n2. Then that.",
  tasks: "- [ ] open\n- [x] done\n- plain",
  tables: "| a | b | c |\n|:--|--:|:-:|\n| 1 | `x` | **y** |\n| \\| | | z\n\nafter\n\na | b\n--|--\n1 | 2",
  rules: "a\n\n---\n\n* * *\n\n___\n\nb",
  links: '[text](https://a.example) [titled](https://a.example "Title") [angled](<https://a.example/x y>) [paren](https://a.example/(x)) ![image](https://a.example/i.png) [*em* `code`](#x) [broken](no close',
  "bare links": "See https://a.example/x?y=1. And (https://a.example/y), <https://b.example> or <me@a.example>.",
  escapes: "\\*not em\\* \\[no link\\](x) \\\\ a\\b & &amp; &lt;b&gt;",
  markup: "<b>bold</b> and <script>alert(1)</script> inline",
  brackets: "[a [b] c](x) [d] [e][f] `[g](h)` [i](`j`)",
  mixed: "## Result\n\nThe **sum** is `3`:\n\n1. *add* `1`\n2. add `2`\n\n> **Note**: see [docs](https://a.example).\n\n| n | v |\n|---|---|\n| 1 | 2 |",
};

/** The tokens as a text that both readers can be compared by. */
function shown(tokens: readonly unknown[]): string {
  const all = tokens as Record<string, unknown>[];
  return all.map((token) => {
    const inner = Array.isArray(token["tokens"]) ? shown(token["tokens"] as unknown[]) : undefined;
    const type = String(token["type"]);
    if (type === "space" || type === "checkbox") return "";
    if (type === "text" || type === "html" || type === "line") return inner ?? String("raw" in token ? token["raw"] : token["text"]);
    if (type === "escape") return String(token["text"]);
    if (type === "paragraph") return `<p>${inner}</p>`;
    if (type === "heading") return `<h${String(token["depth"])}>${inner}</h>`;
    if (type === "code") return `<pre ${String(token["lang"] ?? "")}>${String(token["text"])}</pre>`;
    if (type === "codespan") return `<code>${String(token["text"])}</code>`;
    if (type === "link") return `<a ${String(token["href"])}>${inner}</a>`;
    if (type === "image") return `<img ${String(token["href"])} ${String(token["text"])}>`;
    if (type === "list") {
      const items = token["items"] as { tokens: unknown[]; checked?: boolean }[];
      const list = items.map(({ tokens, checked }) => `<li${checked === undefined ? "" : checked ? " x" : " o"}>${shown(tokens)}</li>`).join("");
      return token["ordered"] === true ? `<ol ${String(token["start"])}>${list}</ol>` : `<ul>${list}</ul>`;
    }
    if (type === "table") {
      const cell = ({ tokens, align }: { tokens: unknown[]; align: string | null | undefined }) => `<td ${align ?? "-"}>${shown(tokens)}</td>`;
      const row = (cells: unknown[]) => `<tr>${(cells as { tokens: unknown[]; align: string | null }[]).map(cell).join("")}</tr>`;
      return `<table>${[token["header"] as unknown[], ...(token["rows"] as unknown[][])].map(row).join("")}</table>`;
    }
    return inner === undefined ? `<${type}>` : `<${type}>${inner}</${type}>`;
  }).join("");
}

for (const [name, text] of Object.entries(TEXTS)) {
  test(`${name} are read as marked reads them`, () => {
    assert.equal(shown(tokensOf(text)), shown(new Lexer({ gfm: true, breaks: true }).lex(text)));
  });
}

test("markup and definitions of links stay as they are written", () => {
  const text = '<div onclick="x">\n\n[a]: https://a.example\n\n<a href="javascript:x">[b](javascript:x)</a>';
  assert.equal(shown(tokensOf(text)), '<p><div onclick="x"></p><p>[a]: <a https://a.example>https://a.example</a></p><p><a href="javascript:x"><a javascript:x>b</a></a></p>');
});

test("no word is lost, whatever the text", () => {
  const pieces = ["word", "*", "**", "_", "`", "```", "\n", "\n\n", "- ", "1. ", "> ", "# ", "|", "|-|-|", "[", "](", ")", "!", "<", "~~", "    ", "\\", "https://a.example ", "=", "---"];
  let seed = 7;
  const random = (below: number): number => (seed = (seed * 48_271) % 2_147_483_647) % below;
  for (let round = 0; round < 3000; round += 1) {
    const text = Array.from({ length: 1 + random(30) }, (_, index) => (random(3) === 0 ? `w${index} ` : pieces[random(pieces.length)])).join("");
    const kept = JSON.stringify(tokensOf(text));
    for (const [word] of text.matchAll(/w\d+/g)) assert.ok(kept.includes(word), `${word} of ${JSON.stringify(text)}`);
  }
});

test("texts that attack the reader are read in time", () => {
  const long = 20_000;
  for (const piece of ["*a ", "**a", "_a_ *", "[", "![", "[a](", "[a](b \"", "`", "``a`", "> ", "- ", "1. ", "* - ", "|", "|-", "<", "https://", "~~a", "\\", "# ", "    ", "a\n", "(", "*a **b _c ", "`".repeat(50) + "a "]) {
    const text = piece.repeat(long / piece.length);
    const begun = performance.now();
    const tokens = tokensOf(text);
    assert.ok(performance.now() - begun < 2000, `${JSON.stringify(piece)} took ${performance.now() - begun} ms`);
    assert.ok(depthOf(tokens) < 1100, piece);
  }
});

function depthOf(tokens: readonly (Block | Inline)[]): number {
  return tokens.reduce((depth, token) => Math.max(depth, 1 + ("tokens" in token ? depthOf(token.tokens) : "items" in token ? Math.max(0, ...token.items.map((item) => depthOf(item.tokens))) : 0)), 0);
}
