// What is wrong with a card that cannot be used, each error at its line of what was served. Pure.
import { jsonLines } from "../../api/json-lines.ts";
import type { UnfitCard } from "../../api/problem.ts";

/** An error, and the line where it stands, from 1. */
export interface Mistake {
  line: number;
  /** The member of the card; empty if it is the text itself. */
  about: string;
  text: string;
}

/** A line of what was served, or a number of lines that are left out. */
export type Row = { line: number; text: string; isCut: boolean; mistakes: Mistake[] } | { left: number };

export interface Told {
  rows: Row[];
  mistakes: Mistake[];
  /** Whether the breaks of the lines are not those of what was served. */
  isLaidOut: boolean;
}

/** Lines that are shown if there are no more. */
const MOST_LINES = 300;
/** Lines that are shown around an error, and at the beginning, of a longer text. */
const AROUND = 3;
const FIRST = 20;
/** Letters of a line that are shown. */
const MOST_LETTERS = 400;

/** The card line by line, and its errors in their order. */
export function toldOf({ text, isCut, violations }: Pick<UnfitCard, "text" | "isCut" | "violations">): Told {
  const { lines, isLaidOut, fault, lineOf } = jsonLines(text);
  const mistakes = violations.map(({ field, description }): Mistake => ({ line: lineOf(field), about: field, text: description }));
  // A text that was cut ends anywhere.
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
