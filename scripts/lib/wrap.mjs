// The width of prose in Markdown: pages are wrapped by this module, and tests/docs/width.test.mjs checks them.

/** The largest width of a line of prose, in characters. */
export const WIDTH = 120;

/** What stays on one line: a code span, a link, a picture. */
const WHOLE = /(`+)(?!`).*?(?<!`)\1(?!`)|!?\[(?:[^[\]]|\[[^\]]*\](?:\([^()]*\))?)*\]\([^()]*\)/g;

/** A word that would begin a list, a heading, a table or HTML at the beginning of a line. */
const BEGINS_A_BLOCK = /^(?:[-+*>]|[-=]+|#{1,6}|\d{1,9}[.)]|\|.*|<.*|(?:```|~~~).*)$/;

/** The indentation and the marker of a list in front of a paragraph. */
const MARKER = /^\s*(?:(?:[-+*]|\d{1,9}[.)])\s+)?/;

/** A Markdown text whose paragraphs and items of lists have no longer lines, but for words that cannot be broken. Other paragraphs stay as they are. */
export function wrapped(markdown) {
  return blocksOf(markdown).flatMap(({ lines, isProse }) => (isProse && lines.some(isTooLong) ? wrap(lines) : lines)).join("\n");
}

/** The numbers of the lines of prose that are too long. */
export function longLines(markdown) {
  return blocksOf(markdown).flatMap(({ at, lines, isProse }) => lines.flatMap((line, index) => (isProse && isTooLong(line) ? [at + index + 1] : [])));
}

const widthOf = (text) => [...text].length;

const isTooLong = (line) => widthOf(line) > WIDTH && unitsOf(line.replace(MARKER, "")).length > 1;

function wrap(lines) {
  const [marker] = MARKER.exec(lines[0]);
  const [first, ...units] = unitsOf(lines.map((line) => line.trim()).join(" ").slice(marker.trimStart().length));
  const made = [marker + first];
  for (const unit of units) {
    const longer = `${made.at(-1)} ${unit}`;
    if (widthOf(longer) <= WIDTH) made[made.length - 1] = longer;
    else made.push(" ".repeat(marker.length) + unit);
  }
  return made;
}

/** The pieces of a paragraph between which a line may end. */
function unitsOf(text) {
  const words = text.replace(WHOLE, (whole) => whole.replaceAll(" ", "\0")).split(/ +/).map((word) => word.replaceAll("\0", " "));
  const units = [];
  for (const word of words) {
    if (units.length > 0 && BEGINS_A_BLOCK.test(word)) units[units.length - 1] += ` ${word}`;
    else units.push(word);
  }
  return units;
}

/** The blocks of a text with their first lines, counted from 0: paragraphs and items of lists (`isProse`), and all other lines. */
function blocksOf(markdown) {
  const blocks = [];
  let fence;
  let isOpen = false;
  for (const [at, line] of markdown.split("\n").entries()) {
    const [, mark] = /^\s*(`{3,}|~{3,})/.exec(line) ?? [];
    const isCode = fence !== undefined || mark !== undefined;
    if (fence === undefined) fence = mark;
    else if (mark?.startsWith(fence) && line.trim() === mark) fence = undefined;
    const isProse = !isCode && !/^\s*(?:$|\||<|#{1,6} |\[[^\]]+\]: )/.test(line);
    const continues = isProse && isOpen && !/\S/.test(MARKER.exec(line)[0]);
    if (continues) blocks.at(-1).lines.push(line);
    else blocks.push({ at, lines: [line], isProse });
    isOpen = isProse;
  }
  return blocks;
}
