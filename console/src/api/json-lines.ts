// Splits a text that should be JSON into lines, and finds the line of each value. Pure.
//
// The text stays unchanged, including numbers, escapes and duplicate members. Only if a line is too long to read, the space between tokens changes.

/** A syntax error in a text. */
export interface Fault {
  /** Counted from 1. */
  line: number;
  text: string;
}

export interface JsonLines {
  lines: string[];
  /** True if the line breaks differ from those of the text. */
  isLaidOut: boolean;
  /** The error that makes the text invalid JSON, if any; the text after it stays on its line. */
  fault: Fault | undefined;
  /** The line, from 1, of the value at a path such as `skills[0].tags`; for a missing value, the line of the innermost value on its path. */
  lineOf(path: string): number;
}

/** The longest line that is not broken. */
const LONGEST_LINE = 300;
/** The deepest nesting of values. */
const DEEPEST = 200;

interface Word {
  at: number;
  text: string;
  /** The depth at which the word is nested. */
  depth: number;
  /** The path of the value or the member that begins with this word. */
  path?: string;
}

/** Reads a text. */
export function jsonLines(text: string): JsonLines {
  const words: Word[] = [];
  const fault = new Reader(text, words).read();
  const asWritten = text.split(/\r\n|\n|\r/);
  const isLaidOut = asWritten.some((line) => line.length > LONGEST_LINE) && words.length > 1;
  const { lines, at } = isLaidOut ? laidOut(text, words, fault?.at) : { lines: asWritten, at: lineCounter(text) };
  const known = new Map<string, number>();
  for (const { at: begins, path } of words) if (path !== undefined && !known.has(path)) known.set(path, at(begins));
  return {
    lines,
    isLaidOut,
    fault: fault === undefined ? undefined : { line: at(fault.at), text: fault.text },
    lineOf(path) {
      for (let place = normal(path); place !== ""; place = place.replace(/(^|\.)[^.[\]]*$|\[\d+\]$/, "")) {
        const found = known.get(place);
        if (found !== undefined) return found;
      }
      return known.get("") ?? 1;
    },
  };
}

/** Reads words until the next one is not allowed in its place. */
class Reader {
  #at = 0;
  readonly #text: string;
  readonly #words: Word[];

  constructor(text: string, words: Word[]) {
    [this.#text, this.#words] = [text, words];
  }

  /** Reads the whole text; returns the position and the reason if it ended early. */
  read(): { at: number; text: string } | undefined {
    const why = this.#value("", 0) ?? (this.#next() === "" ? undefined : "nothing may stand behind the value");
    return why === undefined ? undefined : { at: Math.min(this.#at, this.#text.length), text: why };
  }

  /** Skips white space and returns the next character. */
  #next(): string {
    while (/[ \t\r\n]/.test(this.#text[this.#at] ?? "")) this.#at++;
    return this.#text[this.#at] ?? "";
  }

  #take(text: string, depth: number, path?: string): void {
    this.#words.push({ at: this.#at, text, depth, ...(path === undefined ? {} : { path }) });
    this.#at += text.length;
  }

  #value(path: string, depth: number): string | undefined {
    const first = this.#next();
    if (depth > DEEPEST) return "its values stand too deep in one another";
    if (first === "{" || first === "[") return this.#members(first, path, depth);
    const word = first === '"' ? this.#string() : this.#match(/-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?|true|false|null/y);
    if (word === undefined) return first === "" ? "the text ends where a value is to stand" : first === '"' ? "this text has no end, or holds what must be escaped" : "here no value of JSON begins";
    this.#take(word, depth, path);
    return undefined;
  }

  #members(opening: "{" | "[", path: string, depth: number): string | undefined {
    const closing = opening === "{" ? "}" : "]";
    this.#take(opening, depth, path);
    if (this.#next() === closing) return void this.#take(closing, depth);
    for (let index = 0; ; index++) {
      let place = `${path}[${index}]`;
      if (opening === "{") {
        const name = this.#next() === '"' ? this.#string() : undefined;
        if (name === undefined) return "the name of a member is to stand here, in double quotes";
        place = joined(path, JSON.parse(name) as string);
        this.#take(name, depth + 1, place);
        if (this.#next() !== ":") return "a colon is to stand here";
        this.#take(":", depth + 1);
      }
      const why = this.#value(place, depth + 1);
      if (why !== undefined) return why;
      const next = this.#next();
      if (next === closing) return void this.#take(closing, depth);
      if (next !== ",") return `a comma or ${closing} is to stand here`;
      this.#take(",", depth + 1);
    }
  }

  #string(): string | undefined {
    // eslint-disable-next-line no-control-regex
    return this.#match(/"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/y);
  }

  #match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at;
    return pattern.exec(this.#text)?.[0];
  }
}

/** Lays out the words with a line for each member and element; also returns a function from the position of a word to its line. */
function laidOut(text: string, words: readonly Word[], end: number | undefined): { lines: string[]; at: (place: number) => number } {
  const lines = [""];
  const places: [at: number, line: number][] = [];
  const begin = (depth: number) => void lines.push("  ".repeat(Math.min(depth, 20)));
  words.forEach((word, index) => {
    const before = words[index - 1]?.text;
    const closes = word.text === "}" || word.text === "]";
    if (before === "," || ((before === "{" || before === "[") && !closes)) begin(word.depth);
    else if (closes && before !== "{" && before !== "[") begin(word.depth);
    lines[lines.length - 1] += word.text === ":" ? ": " : word.text;
    places.push([word.at, lines.length]);
  });
  if (end !== undefined) {
    places.push([end, lines.length]);
    lines[lines.length - 1] += ` ${text.slice(end)}`;
  }
  const of = new Map(places);
  return { lines, at: (place) => of.get(place) ?? lines.length };
}

/** Returns the line of a position in a text. */
function lineCounter(text: string): (place: number) => number {
  const breaks = [...text.matchAll(/\r\n|\n|\r/g)].map(({ index, 0: found }) => index + found.length);
  return (place) => {
    let [low, high] = [0, breaks.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((breaks[middle] ?? 0) <= place) low = middle + 1;
      else high = middle;
    }
    return low + 1;
  };
}

function joined(path: string, name: string): string {
  const member = camel(name);
  return path === "" ? member : `${path}.${member}`;
}

/** A path with the names of the specification: readers also accept `default_output_modes`. */
function normal(path: string): string {
  return path.split(".").map(camel).join(".");
}

function camel(name: string): string {
  return name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
