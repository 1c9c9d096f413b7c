// Selects the tools that a text requests, and the clauses of the text for each tool.
import { areKin, tells, words } from "./words.js";

/** @typedef {import("./request.js").Tool} Tool */

/** The largest number of calls in one answer. */
const MOST_CALLS = 4;

/**
 * The tools that a text requests, in the order of the tools, each with its clauses of the text. Each word selects the tools that match it
 * best: a match of the name counts more than one of the description, and equal words count more than a common root.
 *
 * @param {string} text @param {Tool[]} tools
 * @returns {{ tool: Tool; text: string }[]}
 */
export function choose(text, tools) {
  const known = tools.map(({ name, description }) => ({ name: words(name).filter(tells), description: words(description).filter(tells) }));
  /** @type {Map<number, string>} */
  const chosen = new Map();
  /** @type {number[]} */
  let latest = [];
  let waiting = "";
  for (const clause of clauses(text)) {
    const asked = wanted(clause, known);
    // A clause without a tool belongs to the tools of the previous clause; such clauses at the beginning belong to the first tools.
    const of = asked.length > 0 ? asked : latest;
    if (of.length === 0) {
      waiting += clause;
      continue;
    }
    for (const index of of) chosen.set(index, (chosen.get(index) ?? waiting) + clause);
    waiting = "";
    latest = of;
  }
  const first = [...chosen].sort(([one], [other]) => one - other).slice(0, MOST_CALLS);
  return first.flatMap(([index, said]) => {
    const tool = tools[index];
    return tool === undefined ? [] : [{ tool, text: tidy(first.length === 1 ? text : said) }];
  });
}

/** How well a word matches a tool, from 0 (no match) to 4. @param {string} word @param {{ name: string[]; description: string[] }} tool */
function fit(word, { name, description }) {
  if (name.includes(word)) return 4;
  if (description.includes(word)) return 3;
  if (name.some((known) => areKin(known, word))) return 2;
  return description.some((known) => areKin(known, word)) ? 1 : 0;
}

/** The indexes of the tools that a clause requests. @param {string} clause @param {{ name: string[]; description: string[] }[]} tools */
function wanted(clause, tools) {
  /** @type {Set<number>} */
  const wanted = new Set();
  for (const word of words(clause).filter(tells)) {
    const fits = tools.map((tool) => fit(word, tool));
    const best = Math.max(0, ...fits);
    const those = fits.flatMap((one, index) => (one === best ? [index] : []));
    // A word that occurs in several descriptions is ignored.
    if (best === 0 || (those.length > 1 && best !== 4)) continue;
    for (const index of those) wanted.add(index);
  }
  return [...wanted];
}

/** Splits a text into clauses; their concatenation is the text. @param {string} text */
const clauses = (text) => text.split(/(?<=[.?!;,] |\n| and | then )/).filter((clause) => clause !== "");

/** A text without separators of clauses at its beginning and end. @param {string} text */
function tidy(text) {
  let tidied = text.trim();
  for (;;) {
    const before = tidied;
    tidied = tidied.replace(/[,;\s]+$/, "").replace(/ (?:and|then)$/, "").replace(/^(?:and|then) /, "").trim();
    if (tidied === before) return tidied;
  }
}
