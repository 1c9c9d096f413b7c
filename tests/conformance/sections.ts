// The sections of docs/conformance.md that commands write; all else there is written by hand.
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { wrapped } from "../../scripts/lib/wrap.mjs";

/** The page. */
export const PAGE = fileURLToPath(new URL("../../docs/conformance.md", import.meta.url));

/** The lines that a section stands between. */
export interface Marks {
  begin: string;
  end: string;
}

/** The lines of the section of this suite. */
export function marks(suite: string): Marks {
  return { begin: `<!-- written by a command: ${suite} -->`, end: `<!-- end of ${suite} -->` };
}

/** A page with this text between those lines. */
export function withSection(page: string, { begin, end }: Marks, text: string): string {
  const [from, to] = [page.indexOf(begin), page.indexOf(end)];
  if (from < 0 || to < from) throw new Error(`there is no line ${begin} with a line ${end} behind it`);
  return `${page.slice(0, from)}${begin}\n\n${text.trim()}\n\n${page.slice(to)}`;
}

/** The text between those lines. */
export function sectionIn(page: string, { begin, end }: Marks): string {
  return page.slice(page.indexOf(begin) + begin.length, page.indexOf(end)).trim();
}

/** Writes the section of this suite, in lines of the width of all pages. */
export function writeSection(suite: string, text: string): void {
  writeFileSync(PAGE, withSection(readFileSync(PAGE, "utf8"), marks(suite), wrapped(text)));
}
