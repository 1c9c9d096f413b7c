// Words, and the comparison of words.

/** The words of a text, in lower case. @param {string} text */
export function words(text) {
  return text.split(/[^\p{Alphabetic}\p{N}]+/u).filter((word) => word !== "").map((word) => word.toLowerCase());
}

/** True if a word is specific enough to select a tool. @param {string} word */
export function tells(word) {
  return [...word].length > 1 && !/^\d+$/.test(word) && !COMMON.has(word);
}

/**
 * True if two words have the same root, for example `calculate` and `calculator`.
 *
 * @param {string} one @param {string} other
 */
export function areKin(one, other) {
  const [a, b] = [[...one], [...other]];
  const differs = a.findIndex((letter, at) => letter !== b[at]);
  const shared = differs < 0 ? a.length : differs;
  const [short, long] = [Math.min(a.length, b.length), Math.max(a.length, b.length)];
  // An ending: `add`, `adds`, `adding`.
  const isEnding = shared === short && short > 2 && long - short <= (short < 5 ? 3 : 4);
  return isEnding || (shared > 4 && shared * 10 >= long * 7);
}

/** The numbers of a text, in order. A comma may separate thousands. @param {string} text */
export function numbers(text) {
  const runs = text.split(/[^\d.,-]+/).map((run) => run.replace(/[.,-]+$/, "").replace(/^[.,]+/, "").replaceAll(",", ""));
  return runs.filter((run) => /^-?\d*\.?\d+$/.test(run)).map(Number);
}

/** Words that occur in many messages, and in descriptions of many tools. */
const COMMON = new Set((
  "a about after again agent agents all also am an and any anything are as ask at be been before but by call can could current did " +
  "do does find for from get give gives had hand hands has have he hello help her here hi him his how i if in into is it its just know " +
  "knows let like make makes many may me more much must my name new no not now of on one or other our out please same say says see she " +
  "should show shows skill skills so some something task tell tells than thank thanks that the their them then there these they thing " +
  "this to today too tool tools two up us use uses using want was we were what when where which who why will with would you your"
).split(" "));
