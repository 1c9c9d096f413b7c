// The errors of a card that cannot be used, each with its line of the served text. Pure.
import { jsonLines } from "../../api/json-lines.ts";
import type { UnfitCard } from "../../api/problem.ts";

/** An error with its line, from 1. */
export interface Mistake {
  line: number;
  /** The member of the card; empty if the error concerns the whole text. */
  about: string;
  text: string;
}

/** A line of the served text, or a number of lines that are left out. */
export type Row = { line: number; text: string; isCut: boolean; mistakes: Mistake[] } | { left: number };

export interface Told {
  rows: Row[];
  mistakes: Mistake[];
  /** True if the line breaks differ from those of the served text. */
  isLaidOut: boolean;
}

/** A text of up to this many lines is shown completely. */
const MOST_LINES = 300;
/** The number of lines shown around an error, and at the beginning, of a longer text. */
const AROUND = 3;
const FIRST = 20;
/** The number of characters shown of a line. */
const MOST_LETTERS = 400;

/** The card line by line, and its errors in order. */
export function toldOf({ text, isCut, violations }: Pick<UnfitCard, "text" | "isCut" | "violations">): Told {
  const { lines, isLaidOut, fault, lineOf } = jsonLines(text);
  const mistakes = violations.map(({ field, description }): Mistake => ({ line: lineOf(field), about: field, text: description }));
  // The end of a cut text is not an error.
  if (fault !== undefined && !isCut) mistakes.push({ line: fault.line, about: "", text: fault.text });
  mistakes.sort((one, other) => one.line - other.line);
  const isShown = (line: number) => lines.length <= MOST_LINES || line <= FIRST || mistakes.some((mistake) => Math.abs(mistake.line - line) <= AROUND);
  const rows: Row[] = [];
  lines.forEach((whole, index) => {
    const line = index + 1;
    const last = rows.at(-1);
    if (isShown(line)) rows.push({ line, text: whole.slice(0, MOST_LETTERS), isCut: whole.length > MOST_LETTERS, mistakes: mistakes.filter((mistake) => mistake.line === line) });
    else if (last !== undefined && "left" in last) last.left++;
    else rows.push({ left: 1 });
  });
  return { rows, mistakes, isLaidOut };
}
