// Which tools a text asks for, and which of its clauses are for which of them.
import { areKin, tells, words } from "./words.js";

/** @typedef {import("./request.js").Tool} Tool */

/** The largest number of calls that are made at once. */
const MOST_CALLS = 4;

/**
 * The tools that a text asks for, in their own order, each with the clauses that are for it: each word asks for the tools that it fits best,
 * by their name before their description, letter by letter before by its root.
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
    // A clause that names no tool belongs to the one before, and the first ones to what follows.
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

/** How well a word fits a tool, from 0 for not at all. @param {string} word @param {{ name: string[]; description: string[] }} tool */
function fit(word, { name, description }) {
  if (name.includes(word)) return 4;
  if (description.includes(word)) return 3;
  if (name.some((known) => areKin(known, word))) return 2;
  return description.some((known) => areKin(known, word)) ? 1 : 0;
}

/** The tools that a clause asks for, by their numbers. @param {string} clause @param {{ name: string[]; description: string[] }[]} tools */
function wanted(clause, tools) {
  /** @type {Set<number>} */
  const wanted = new Set();
  for (const word of words(clause).filter(tells)) {
    const fits = tools.map((tool) => fit(word, tool));
    const best = Math.max(0, ...fits);
    const those = fits.flatMap((one, index) => (one === best ? [index] : []));
    // A word of several descriptions says little.
    if (best === 0 || (those.length > 1 && best !== 4)) continue;
    for (const index of those) wanted.add(index);
  }
  return [...wanted];
}

/** The clauses of a text, which together are the text. @param {string} text */
const clauses = (text) => text.split(/(?<=[.?!;,] |\n| and | then )/).filter((clause) => clause !== "");

/** A text without what separates its clauses at the ends. @param {string} text */
function tidy(text) {
  let tidied = text.trim();
  for (;;) {
    const before = tidied;
    tidied = tidied.replace(/[,;\s]+$/, "").replace(/ (?:and|then)$/, "").replace(/^(?:and|then) /, "").trim();
    if (tidied === before) return tidied;
  }
}
