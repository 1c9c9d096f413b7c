// The results in docs/peers.md. Pure: text in, text out.

/** What one program did. */
export interface Result {
  name: string;
  language: string;
  version: string;
  what: string;
  passed: boolean;
}

/** The marks before the tables. */
export const PEERS = "<!-- written by npm run test:peers -->\n";
export const SAMPLES = "<!-- written by npm run test:peers with --sdk and --samples -->\n";
const END = "<!-- end -->";

/** The page with these results behind a mark, in the place of those of before. */
export function results(page: string, told: Result[], BEGIN = PEERS): string {
  const from = page.indexOf(BEGIN);
  const to = page.indexOf(END, from);
  if (from < 0 || to < from) throw new Error(`docs/peers.md must have the lines ${BEGIN.trim()} and ${END}`);
  const rows = told.map(({ name, language, version, what, passed }) => `| \`${name}\` ${version} | ${language} | ${what} | ${passed ? "passed" : "**failed**"} |\n`);
  const head = "| program | language | what it does | |\n|---|---|---|---|\n";
  return `${page.slice(0, from)}${BEGIN}${head}${rows.join("")}${page.slice(to)}`;
}
