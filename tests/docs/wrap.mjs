// `node tests/docs/wrap.mjs`: wraps the prose of the pages in docs/. What is shown of them stays the same.
import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { wrapped } from "../../scripts/lib/wrap.mjs";
import { root } from "./markdown.mjs";

/** The paths of the pages that are wrapped. */
export const PAGES = readdirSync(join(root, "docs")).filter((name) => name.endsWith(".md")).sort().map((name) => join("docs", name));

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const path of PAGES.map((page) => join(root, page))) {
    const text = readFileSync(path, "utf8");
    const made = wrapped(text);
    if (made === text) continue;
    writeFileSync(path, made);
    console.log(path);
  }
}
