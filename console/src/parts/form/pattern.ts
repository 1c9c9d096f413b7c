// The `pattern` of a schema as a matcher whose time grows with the text alone. The engine of the browser tries one way after the other, so a pattern
// of an agent such as `(a+)+$` could keep the page busy for years; here all ways are followed at the same time (Thompson).

/** True if the pattern matches some part of the text. */
export type Matcher = (text: string) => boolean;

/** Longer patterns, and those that need more instructions, are left to the agent. */
const MAX_PATTERN = 1000;
const MAX_PROGRAM = 2000;
const MAX_DEPTH = 50;
/** The product of the lengths of program and text up to which a text is checked. */
const MAX_WORK = 4_000_000;

type Node =
  | { kind: "letter"; accepts: (letter: string) => boolean }
  | { kind: "place"; holds: (before: string, after: string) => boolean }
  | { kind: "sequence"; of: Node[] }
  | { kind: "choice"; of: Node[] }
  | { kind: "repeated"; of: Node; least: number; most: number };

type Instruction = Extract<Node, { kind: "letter" | "place" }> | { kind: "split"; to: readonly number[] } | { kind: "match" };

/** The matcher of a pattern; undefined if the pattern is wrong or too large, or needs attempts: references back, and looking around. */
export function matcherOf(pattern: string): Matcher | undefined {
  if (pattern.length > MAX_PATTERN || !["u", ""].some((flags) => compiles(pattern, flags))) return undefined;
  try {
    const program = new Writer().program(new Reader(pattern).read());
    return (text) => matches(program, [...text]);
  } catch {
    return undefined;
  }
}

/** True for a pattern of the browser. Compiling makes no attempts. Only the syntax without flags has escapes such as `\-`. */
function compiles(pattern: string, flags: string): boolean {
  try {
    new RegExp(pattern, flags);
    return true;
  } catch {
    return false;
  }
}

/** Writes the program of a pattern. @throws if it is too large. */
class Writer {
  readonly #program: Instruction[] = [];
  #steps = 0;

  program(node: Node): readonly Instruction[] {
    this.#write(node);
    this.#add({ kind: "match" });
    return this.#program;
  }

  #write(node: Node): void {
    // Also what adds nothing, as an empty group that is repeated, takes steps.
    if ((this.#steps += 1) > 10 * MAX_PROGRAM) throw new Error("too large");
    switch (node.kind) {
      case "sequence":
        return node.of.forEach((one) => this.#write(one));
      case "choice":
        return this.#writeChoice(node.of);
      case "repeated":
        return this.#writeRepeated(node);
      default:
        this.#add(node);
    }
  }

  #writeChoice(all: readonly Node[]): void {
    const split = this.#add({ kind: "split", to: [] });
    const begins: number[] = [];
    const ends = all.map((one) => {
      begins.push(this.#program.length);
      this.#write(one);
      return this.#add({ kind: "split", to: [] });
    });
    this.#program[split] = { kind: "split", to: begins };
    for (const end of ends) this.#program[end] = { kind: "split", to: [this.#program.length] };
  }

  #writeRepeated({ of, least, most }: Extract<Node, { kind: "repeated" }>): void {
    for (let nth = 0; nth < least; nth += 1) this.#write(of);
    const splits: number[] = [];
    for (let nth = least; nth < (most === Infinity ? least + 1 : most); nth += 1) {
      splits.push(this.#add({ kind: "split", to: [] }));
      this.#write(of);
    }
    if (most === Infinity) this.#add({ kind: "split", to: [splits[0]!] });
    for (const split of splits) this.#program[split] = { kind: "split", to: [split + 1, this.#program.length] };
  }

  #add(instruction: Instruction): number {
    if (this.#program.length >= MAX_PROGRAM) throw new Error("too large");
    return this.#program.push(instruction) - 1;
  }
}

/** Reads a pattern. @throws if it is wrong, or cannot be followed without attempts. */
class Reader {
  readonly #letters: readonly string[];
  #at = 0;
  #depth = 0;

  constructor(pattern: string) {
    this.#letters = [...pattern];
  }

  read(): Node {
    const node = this.#choice();
    if (this.#at < this.#letters.length) throw new Error("unbalanced");
    return node;
  }

  #choice(): Node {
    if ((this.#depth += 1) > MAX_DEPTH) throw new Error("too deep");
    const of: Node[] = [];
    do {
      const sequence: Node[] = [];
      while (this.#at < this.#letters.length && !["|", ")"].includes(this.#letters[this.#at]!)) sequence.push(this.#repeated());
      of.push({ kind: "sequence", of: sequence });
    } while (this.#takes("|"));
    this.#depth -= 1;
    return of.length === 1 ? of[0]! : { kind: "choice", of };
  }

  /** An atom with its quantifier. Whether that is greedy does not matter for a match. */
  #repeated(): Node {
    const of = this.#atom();
    const found = /^(?:([*+?])|\{(\d+)(?:(,)(\d*))?\})\??/.exec(this.#letters.slice(this.#at, this.#at + 24).join(""));
    if (found === null) return of;
    this.#at += found[0].length;
    const [, sign, least, comma, most] = found;
    if (sign !== undefined) return { kind: "repeated", of, least: sign === "+" ? 1 : 0, most: sign === "?" ? 1 : Infinity };
    return { kind: "repeated", of, least: Number(least), most: comma === undefined ? Number(least) : most === "" ? Infinity : Number(most) };
  }

  #atom(): Node {
    const letter = this.#letters[this.#at++] ?? "";
    switch (letter) {
      case "(": {
        const isPlain = !this.#takes("?") || this.#takes(":") || (this.#takes("<") && /[^=!]/.test(this.#upTo(">")[0] ?? "="));
        if (!isPlain) throw new Error("looks around");
        const inner = this.#choice();
        if (!this.#takes(")")) throw new Error("unbalanced");
        return inner;
      }
      case "^":
        return { kind: "place", holds: (before) => before === "" };
      case "$":
        return { kind: "place", holds: (_, after) => after === "" };
      case "\\":
        return this.#escape();
      case "[":
        return classOf(`[${this.#upTo("]")}`);
      case ".":
        return classOf(".");
      default:
        return { kind: "letter", accepts: (one) => one === letter };
    }
  }

  #escape(): Node {
    const letter = this.#letters[this.#at++] ?? "";
    if (/[bB]/.test(letter)) return { kind: "place", holds: (before, after) => (/^\w$/.test(before) !== /^\w$/.test(after)) === (letter === "b") };
    if (/[1-9k]/.test(letter)) throw new Error("refers back");
    if (!/[a-z0]/i.test(letter)) return { kind: "letter", accepts: (one) => one === letter };
    const rest = this.#letters.slice(this.#at, this.#at + 80).join("");
    const more = { u: /^(?:[0-9a-f]{4}|\{[0-9a-f]+\})/i, x: /^[0-9a-f]{2}/i, c: /^[a-z]/i, p: /^\{[^}]*\}/, P: /^\{[^}]*\}/ }[letter]?.exec(rest)?.[0] ?? "";
    this.#at += more.length;
    return classOf(`\\${letter}${more}`);
  }

  /** The letters up to an unescaped end, with the end. */
  #upTo(end: string): string {
    const from = this.#at;
    while (this.#letters[this.#at] !== end) {
      if (this.#at >= this.#letters.length) throw new Error("unbalanced");
      this.#at += this.#letters[this.#at] === "\\" ? 2 : 1;
    }
    this.#at += 1;
    return this.#letters.slice(from, this.#at).join("");
  }

  #takes(letter: string): boolean {
    if (this.#letters[this.#at] !== letter) return false;
    this.#at += 1;
    return true;
  }
}

/** A class of letters. The browser decides about a single letter, which takes one attempt. */
function classOf(source: string): Node {
  const one = new RegExp(`^${source}$`, "u");
  return { kind: "letter", accepts: (letter) => one.test(letter) };
}

/** Follows all ways through the program at the same time. A text that is too long for that passes: the agent checks it. */
function matches(program: readonly Instruction[], text: readonly string[]): boolean {
  if (program.length * text.length > MAX_WORK) return true;
  let current: Iterable<number> = [];
  for (let at = 0; at <= text.length; at += 1) {
    const [before = "", letter = ""] = [text[at - 1], text[at]];
    // A match may begin at each letter.
    const open = [...current, 0];
    const reached = new Set<number>();
    const next = new Set<number>();
    for (let nth = open.pop(); nth !== undefined; nth = open.pop()) {
      const one = program[nth]!;
      if (one.kind === "match") return true;
      if (reached.has(nth)) continue;
      reached.add(nth);
      if (one.kind === "split") open.push(...one.to);
      else if (one.kind === "place") one.holds(before, letter) && open.push(nth + 1);
      else if (letter !== "" && one.accepts(letter)) next.add(nth + 1);
    }
    current = next;
  }
  return false;
}
