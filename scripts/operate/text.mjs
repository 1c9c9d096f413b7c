// Texts of servers, agents and callers for terminals: nothing in them controls the terminal, and their widths are known.

/** Letters that control terminals or hide: controls, formats (without the joiners of emoji and of some scripts), separators of lines, lone surrogates. */
const UNSAFE = /(?![\u200c\u200d])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;

/** The longest text that is measured, in UTF-16 units: a letter may have any number of marks. */
const MAX_UNITS = 4000;

/** A text on one line: white space is one space, and each unsafe letter is shown by its number, such as `\x1b`. */
export function clean(text) {
  return String(text)
    .replace(/[\t\n\v\f\r\u0085\u2028\u2029 ]+/g, " ")
    .replace(UNSAFE, numberOf);
}

/** The lines of a text, each safe; trailing empty lines are left out. */
export function cleanLines(text) {
  return String(text)
    .trimEnd()
    .split(/\r\n|[\n\r\u0085\u2028\u2029]/)
    .map((line) => line.replaceAll("\t", "    ").replace(UNSAFE, numberOf));
}

/** A value as JSON on one line. Letters that JSON allows and terminals obey are escaped. */
export function jsonLine(value) {
  return JSON.stringify(value).replace(UNSAFE, (letter) =>
    [...Array(letter.length).keys()].map((at) => `\\u${letter.charCodeAt(at).toString(16).padStart(4, "0")}`).join(""),
  );
}

function numberOf(letter) {
  const number = letter.codePointAt(0);
  return number < 0x100 ? `\\x${number.toString(16).padStart(2, "0")}` : `\\u{${number.toString(16)}}`;
}

const letters = new Intl.Segmenter(undefined, { granularity: "grapheme" });

/** The number of columns that a safe text takes. */
export function widthOf(text) {
  if (/^[\x20-\x7e]*$/.test(text)) return text.length;
  let width = 0;
  for (const { segment } of letters.segment(text)) width += widthOfLetter(segment);
  return width;
}

/** The beginning of a safe text that takes at most this many columns; `…` stands for the rest. */
export function cut(text, width) {
  const short = text.length > MAX_UNITS ? text.slice(0, MAX_UNITS) : text;
  if (short === text && widthOf(text) <= width) return text;
  if (width < 1) return "";
  let kept = "";
  let used = 0;
  for (const { segment } of letters.segment(short)) {
    used += widthOfLetter(segment);
    if (used > width - 1) break;
    kept += segment;
  }
  return `${kept}…`;
}

/** A safe text filled with spaces to a width. */
export function padded(text, width, isRight = false) {
  const spaces = " ".repeat(Math.max(0, width - widthOf(text)));
  return isRight ? spaces + text : text + spaces;
}

function widthOfLetter(letter) {
  const first = letter.codePointAt(0);
  if (WIDE.some(([from, to]) => first >= from && first <= to) || letter.includes("\ufe0f")) return 2;
  return /^[\p{Mn}\p{Me}\u200c\u200d]+$/u.test(letter) ? 0 : 1;
}

/** The letters that terminals show two columns wide, by East Asian Width of Unicode. */
const WIDE = [
  [0x1100, 0x115f],
  [0x231a, 0x231b],
  [0x23e9, 0x23ec],
  [0x25fd, 0x25fe],
  [0x2614, 0x2615],
  [0x2648, 0x2653],
  [0x26a1, 0x26a1],
  [0x26bd, 0x26be],
  [0x2705, 0x2705],
  [0x270a, 0x270b],
  [0x2728, 0x2728],
  [0x274c, 0x274c],
  [0x2753, 0x2755],
  [0x2757, 0x2757],
  [0x2795, 0x2797],
  [0x2e80, 0x303e],
  [0x3041, 0x33ff],
  [0x3400, 0x4dbf],
  [0x4e00, 0xa4cf],
  [0xa960, 0xa97f],
  [0xac00, 0xd7a3],
  [0xf900, 0xfaff],
  [0xfe30, 0xfe6f],
  [0xff01, 0xff60],
  [0xffe0, 0xffe6],
  [0x1f1e6, 0x1f1ff],
  [0x1f300, 0x1f64f],
  [0x1f680, 0x1f6ff],
  [0x1f7e0, 0x1f7eb],
  [0x1f900, 0x1f9ff],
  [0x1fa70, 0x1faff],
  [0x20000, 0x3fffd],
];
