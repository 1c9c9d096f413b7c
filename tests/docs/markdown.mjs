// The pages of the documentation, taken apart: code blocks, links, and the places that links lead to.
import { readFileSync, readdirSync } from "node:fs";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";

export const root = fileURLToPath(new URL("../..", import.meta.url));

/** The pages whose code blocks are run: README and docs, but for those that a command writes. */
export function pages() {
  const docs = readdirSync(join(root, "docs")).filter((name) => name.endsWith(".md")).sort().map((name) => join("docs", name));
  return ["README.md", ...docs].map(readPage).filter(({ text }) => !/do not edit/i.test(text.slice(0, 1000)));
}

export function readPage(path) {
  const text = readFileSync(join(root, path), "utf8");
  return { path, text, blocks: blocksOf(path, text) };
}

/**
 * The fenced code blocks of a page, each with its `line`, the language that it names (`lang`), what it holds (`text`), the
 * line of prose before it (`before`), and `skip`, the reason of a comment `<!-- not run: reason -->` before it.
 */
export function blocksOf(path, text) {
  const blocks = [];
  let open;
  let before = "";
  for (const [index, line] of text.split("\n").entries()) {
    const fence = /^(\s*)```(.*)$/.exec(line);
    if (open && fence && fence[2] === "") {
      blocks.push({ ...open, text: open.lines.join("\n") });
      [open, before] = [undefined, ""];
    } else if (open) {
      open.lines.push(line.startsWith(open.indent) ? line.slice(open.indent.length) : line.trimStart());
    } else if (fence) {
      const skip = /^<!-- not run: (.+) -->$/.exec(before)?.[1];
      open = { path, line: index + 1, lang: fence[2].trim(), indent: fence[1], lines: [], before, skip };
    } else if (line.trim() !== "") {
      before = line.trim();
    }
  }
  if (open) throw new Error(`${path}:${open.line}: the block does not end`);
  return blocks.map((block, index) => ({ ...block, next: blocks[index + 1] }));
}

/** The text of a page without its code: what links and headings are looked for in. */
const prose = (text) => text.replace(/^\s*```[\s\S]*?^\s*```$/gm, (block) => "\n".repeat(block.split("\n").length - 1));

/** The links of a page, each with its line and its target. */
export function linksOf(text) {
  return prose(text).split("\n").flatMap((line, index) => {
    const plain = line.replace(/`[^`]*`/g, "");
    const targets = [...plain.matchAll(/\]\(([^()\s]+)\)/g), ...plain.matchAll(/(?:src|srcset|href)="([^"]+)"/g)];
    return targets.map(([, target]) => ({ line: index + 1, target }));
  });
}

/** The anchors of a page as GitHub makes them of headings. */
export function anchorsOf(text) {
  const seen = new Map();
  const headings = [...prose(text).matchAll(/^#{1,6} (.+)$/gm)].map(([, heading]) => heading);
  return new Set(headings.map((heading) => {
    const words = heading.replace(/\[([^\]]*)\]\([^)]*\)/g, "$1").replace(/[`*_]/g, (sign) => (sign === "_" ? "_" : ""));
    const slug = words.trim().toLowerCase().replace(/[^\p{L}\p{N}_\- ]/gu, "").replace(/ /g, "-");
    const count = seen.get(slug) ?? 0;
    seen.set(slug, count + 1);
    return count === 0 ? slug : `${slug}-${count}`;
  }));
}

/** Every page that may hold links: those at the root and in docs, and what else is read on a code host. */
export function linkedPages() {
  const at = (folder) => readdirSync(join(root, folder)).filter((name) => name.endsWith(".md")).map((name) => join(folder, name));
  return [...at("."), "llms.txt", ...at("docs"), join("tests", "e2e", "README.md")].map((path) => relative(root, join(root, path)));
}
