// Parses markdown in the form that agents usually write: CommonMark with tables, task lists, strikethrough and bare links of GFM, where each
// line end is a line break. HTML and link definitions stay text. The time is proportional to the length of the text, for any input. Pure: the
// page renders the tokens.

/** A block of a text. */
export type Block =
  | { type: "heading"; depth: number; level?: number; tokens: Inline[] }
  | { type: "hr" }
  | { type: "code"; text: string; lang: string }
  | { type: "blockquote"; tokens: Block[] }
  | { type: "list"; ordered: boolean; start: number; items: Item[] }
  | { type: "table"; header: Cell[]; rows: Cell[][] }
  | { type: "paragraph" | "line"; tokens: Inline[] };

/** A piece of a line. A `text` may contain character references; `escape` and `codespan` do not. */
export type Inline =
  | { type: "br" }
  | { type: "text" | "codespan" | "escape"; text: string }
  | { type: "strong" | "em" | "del"; tokens: Inline[] }
  | { type: "link"; href: string; tokens: Inline[] }
  | { type: "image"; href: string; text: string };

/** An item of a list; `checked` is set in a task list. */
export interface Item {
  tokens: Block[];
  checked?: boolean;
}

export interface Cell {
  tokens: Inline[];
  align: "left" | "right" | "center" | undefined;
}

/** Quotes and lists that are nested deeper than this are text. */
const MAX_DEPTH = 12;

/** Emphasis marks beyond this number, in one paragraph, are text. */
const MAX_MARKS = 300;

const FENCE = /^( {0,3})(`{3,}(?=[^`]*$)|~{3,})[ \t]*(.*?)[ \t]*$/;
const HEADING = /^ {0,3}(#{1,6})(?=[ \t]|$)(.*)$/;
const RULE = /^ {0,3}([-*_])(?:[ \t]*\1){2,}[ \t]*$/;
const QUOTE = /^ {0,3}> ?/;
const ITEM = /^( {0,3})([-*+]|\d{1,9}[.)])(?:( {1,4})(?=\S)|( *)$|( ))/;
const UNDERLINE = /^ {0,3}(=+|-+)[ \t]*$/;
const DELIMITERS = /^ {0,3}\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$/;

const isBlank = (line: string | undefined): boolean => line === undefined || line.trim() === "";

/** True if a line ends the paragraph before it. */
function interrupts(line: string): boolean {
  if (FENCE.test(line) || HEADING.test(line) || RULE.test(line) || QUOTE.test(line)) return true;
  const item = ITEM.exec(line);
  return item !== null && item[4] === undefined && (/[-*+]/.test(item[2] ?? "") || /^1[.)]/.test(item[2] ?? ""));
}

/** The tokens of a whole text. */
export function tokensOf(text: string): Block[] {
  const lines = text.replace(/\r\n?/g, "\n").split("\n").map((line) => line.replace(/^[ \t]+/, (indent) => indent.replaceAll("\t", "    ")));
  return blocks(lines, 0);
}

function blocks(lines: string[], depth: number): Block[] {
  const found: Block[] = [];
  for (let at = 0; at < lines.length; ) {
    const line = lines[at] ?? "";
    const from = at;
    const taken = (test: (line: string) => boolean): string[] => {
      while (at < lines.length && test(lines[at] ?? "")) at += 1;
      return lines.slice(from, at);
    };
    const [fence, heading] = [FENCE.exec(line), HEADING.exec(line)];
    if (isBlank(line)) {
      at += 1;
    } else if (fence !== null) {
      const [, indent = "", mark = "", lang = ""] = fence;
      at += 1;
      const isEnd = (one: string): boolean => /^ {0,3}(`+|~+)[ \t]*$/.test(one) && one.trim().startsWith(mark);
      const inside = taken((one) => !isEnd(one)).slice(1);
      if (at < lines.length) at += 1;
      else if (inside.at(-1) === "") inside.pop();
      const text = inside.map((one) => one.replace(new RegExp(`^ {0,${indent.length}}`), "")).join("\n");
      found.push({ type: "code", text, lang });
    } else if (/^ {4}/.test(line)) {
      const inside = taken((one) => /^ {4}/.test(one) || isBlank(one)).map((one) => one.slice(4));
      found.push({ type: "code", text: inside.join("\n").trimEnd(), lang: "" });
    } else if (heading !== null) {
      at += 1;
      const words = (heading[2] ?? "").trim().replace(/(?:^|[ \t]+)#+$/, "");
      found.push({ type: "heading", depth: (heading[1] ?? "").length, tokens: inline(words) });
    } else if (RULE.test(line)) {
      at += 1;
      found.push({ type: "hr" });
    } else if (QUOTE.test(line) && depth < MAX_DEPTH) {
      const inside = taken((one) => QUOTE.test(one) || (!isBlank(one) && !interrupts(one)));
      found.push({ type: "blockquote", tokens: blocks(inside.map((one) => one.replace(QUOTE, "")), depth + 1) });
    } else if (ITEM.test(line) && depth < MAX_DEPTH) {
      const { list, end } = listAt(lines, at, depth);
      at = end;
      found.push(list);
    } else if (line.includes("|") && DELIMITERS.test(lines[at + 1] ?? "") && cells(line).length === cells(lines[at + 1] ?? "").length) {
      const aligns = cells(lines[at + 1] ?? "").map(alignOf);
      const row = (text: string): Cell[] => {
        const texts = cells(text);
        return aligns.map((align, column) => ({ align, tokens: inline(texts[column] ?? "") }));
      };
      at += 2;
      const rows = taken((one) => !isBlank(one) && !interrupts(one)).slice(2);
      found.push({ type: "table", header: row(line), rows: rows.map(row) });
    } else {
      at += 1;
      // A following line of `=` or `-` makes the paragraph a heading.
      while (at < lines.length && !isBlank(lines[at]) && !UNDERLINE.test(lines[at] ?? "") && !interrupts(lines[at] ?? "")) at += 1;
      const words = lines.slice(from, at).map((one) => one.trimStart()).join("\n").trimEnd();
      const under = at < lines.length ? UNDERLINE.exec(lines[at] ?? "") : null;
      if (under !== null) at += 1;
      if (under === null) found.push({ type: "paragraph", tokens: inline(words) });
      else found.push({ type: "heading", depth: under[1]?.startsWith("=") ? 1 : 2, tokens: inline(words) });
    }
  }
  return found;
}

/** The list that begins at a line, and the index of the line after the list. */
function listAt(lines: string[], from: number, depth: number): { list: Block; end: number } {
  const kindOf = (mark: string): string => mark.slice(-1);
  const first = ITEM.exec(lines[from] ?? "")?.[2] ?? "";
  const texts: string[][] = [];
  let [at, isLoose] = [from, false];
  while (at < lines.length) {
    const line = lines[at] ?? "";
    const item = ITEM.exec(line);
    if (item === null || RULE.test(line) || kindOf(item[2] ?? "") !== kindOf(first)) break;
    const width = item[4] !== undefined ? (item[1] ?? "").length + (item[2] ?? "").length + 1 : item[0].length;
    const own = [line.slice(width)];
    const isInside = (one: string): boolean => one.startsWith(" ".repeat(width));
    for (at += 1; at < lines.length; at += 1) {
      const next = lines[at] ?? "";
      if (isBlank(next)) {
        // The item continues after empty lines if the next text is indented.
        let after = at;
        while (after < lines.length && isBlank(lines[after])) after += 1;
        if (after >= lines.length || !isInside(lines[after] ?? "") || (own.length === 1 && isBlank(own[0]))) break;
        own.push(...lines.slice(at, after).map(() => ""));
        at = after - 1;
      } else if (isInside(next)) own.push(next.slice(width));
      else if (ITEM.test(next) || interrupts(next) || isBlank(own.at(-1))) break;
      else own.push(next.trimStart());
    }
    texts.push(own);
    let after = at;
    while (after < lines.length && isBlank(lines[after])) after += 1;
    const next = ITEM.exec(lines[after] ?? "");
    if (after > at && next !== null && kindOf(next[2] ?? "") === kindOf(first) && !RULE.test(lines[after] ?? "")) [at, isLoose] = [after, true];
  }
  const read = texts.map((text): [Item, string[]] => {
    const task = /^\[([ xX])\][ \t]+/.exec(text[0] ?? "");
    const rest = task === null ? text : [(text[0] ?? "").slice(task[0].length), ...text.slice(1)];
    return [{ tokens: blocks(rest, depth + 1), ...(task !== null && { checked: task[1] !== " " }) }, text];
  });
  isLoose ||= read.some(([{ tokens }, text]) => tokens.length > 1 && text.some((line, at) => at > 0 && line === "" && tokens[0]?.type === "paragraph"));
  const items = read.map(([item]) => item);
  // In a list without empty lines, the texts of items are not paragraphs.
  if (!isLoose) for (const item of items) item.tokens = item.tokens.map((token) => (token.type === "paragraph" ? { ...token, type: "line" } : token));
  return { list: { type: "list", ordered: /\d/.test(first), start: parseInt(first, 10) || 0, items }, end: at };
}

function cells(line: string): string[] {
  const inside = line.trim().replace(/^\|/, "").replace(/(^|[^\\])\|$/, "$1");
  return inside.split(/(?<!\\)\|/).map((cell) => cell.trim().replaceAll("\\|", "|"));
}

function alignOf(cell: string): Cell["align"] {
  if (cell.endsWith(":")) return cell.startsWith(":") ? "center" : "right";
  return cell.startsWith(":") ? "left" : undefined;
}

/** A run of marks that may begin or end emphasis. */
interface Mark {
  char: string;
  count: number;
  opens: boolean;
  closes: boolean;
  /** The text token of the run of marks. */
  token: Inline & { text: string };
}

const STOP = /[\\`*_~![<\n]|https?:\/\//g;
const TARGET = /\(\s{0,9}(?:<([^<>\n]{0,2000})>|([^\s()<]{0,2000}(?:\([^\s()]{0,500}\)[^\s()]{0,500}){0,9}))(?:\s{1,9}(?:"[^"]{0,300}"|'[^']{0,300}'|\([^()]{0,300}\)))?\s{0,9}\)/y;
const ANGLES = /<((?:https?|mailto):[^\s<>]{1,2000}|[\w.+-]{1,64}@[\w.-]{1,255})>/y;
const BARE = /https?:\/\/[^\s<>]{1,2000}/y;
const isPunctuation = (char: string): boolean => /[\p{P}\p{S}]/u.test(char);

/** The tokens of a line or a paragraph. Links cannot contain links. */
function inline(text: string, inLink = false): Inline[] {
  const tokens: Inline[] = [];
  const marks: Mark[] = [];
  const ends = text.includes("[") ? brackets(text) : new Map<number, number>();
  const unclosed = new Set<string>();
  const words = (text: string): void => {
    const last = tokens.at(-1);
    if (last?.type === "text" && !marks.some(({ token }) => token === last)) last.text += text;
    else tokens.push({ type: "text", text });
  };
  const matched = (pattern: RegExp, at: number): RegExpExecArray | null => {
    pattern.lastIndex = at;
    return pattern.exec(text);
  };
  for (let at = 0; at < text.length; ) {
    STOP.lastIndex = at;
    const stop = STOP.exec(text)?.index ?? text.length;
    words(text.slice(at, stop));
    if (stop >= text.length) break;
    at = stop;
    const char = text[at] ?? "";
    const next = text[at + 1] ?? "";
    if (char === "\\" && /[!-/:-@[-`{-~]/.test(next)) {
      tokens.push({ type: "escape", text: next });
      at += 2;
    } else if (char === "\n" || (char === "\\" && next === "\n")) {
      const last = tokens.at(-1);
      if (last?.type === "text") last.text = last.text.trimEnd();
      tokens.push({ type: "br" });
      at += char === "\n" ? 1 : 2;
    } else if (char === "`") {
      const { end, inside } = codeAt(text, at, unclosed);
      if (inside === undefined) words(text.slice(at, end));
      else {
        const code = inside.replaceAll("\n", " ");
        const isPadded = code.startsWith(" ") && code.endsWith(" ") && code.trim() !== "";
        tokens.push({ type: "codespan", text: isPadded ? code.slice(1, -1) : code });
      }
      at = end;
    } else if (char === "[" || (char === "!" && next === "[")) {
      const open = char === "[" ? at : at + 1;
      const close = ends.get(open);
      const target = close === undefined || (inLink && char === "[") ? null : matched(TARGET, close + 1);
      if (close === undefined || target === null) {
        words(text.slice(at, open + 1));
        at = open + 1;
      } else {
        const inside = text.slice(open + 1, close);
        const href = (target[1] ?? target[2] ?? "").replace(/\\([!-/:-@[-`{-~])/g, "$1");
        at = TARGET.lastIndex;
        tokens.push(char === "[" ? { type: "link", href, tokens: inline(inside, true) } : { type: "image", href, text: inside });
      }
    } else if (char === "<" || char === "h") {
      const found = inLink || (char === "h" && /\w/.test(text[at - 1] ?? "")) ? null : matched(char === "<" ? ANGLES : BARE, at);
      const raw = found === null ? (char === "<" ? "<" : "http") : char === "<" ? found[0] : trimmedUrl(found[0]);
      if (found === null) words(raw);
      else {
        const url = char === "<" ? (found[1] ?? "") : raw;
        tokens.push({ type: "link", href: url.includes(":") ? url : `mailto:${url}`, tokens: [{ type: "text", text: url }] });
      }
      at += raw.length;
    } else if ("*_~".includes(char)) {
      let end = at;
      while (text[end] === char) end += 1;
      const raw = text.slice(at, end);
      const mark = marks.length < MAX_MARKS ? markAt(text, at, end) : undefined;
      if (mark === undefined) words(raw);
      else {
        tokens.push(mark.token);
        marks.push(mark);
      }
      at = end;
    } else {
      words(char);
      at += 1;
    }
  }
  return emphasized(tokens, marks);
}

/**
 * The code span that begins with the backticks at a position, and its end. If the span is not closed, returns only the backticks and records
 * their run in `unclosed`.
 */
function codeAt(text: string, at: number, unclosed: Set<string>): { end: number; inside?: string } {
  const behind = (from: number): number => {
    while (text[from] === "`") from += 1;
    return from;
  };
  const begin = behind(at);
  const run = text.slice(at, begin);
  // If a run of this length is not closed here, no later run is closed either.
  for (let from = begin; !unclosed.has(run); ) {
    const found = text.indexOf(run, from);
    if (found < 0) unclosed.add(run);
    else {
      from = behind(found);
      if (from - found === run.length) return { end: from, inside: text.slice(begin, found) };
    }
  }
  return { end: begin };
}

/** The closing bracket of each opening one, except for escaped brackets and brackets in code. */
function brackets(text: string): Map<number, number> {
  const [ends, open, unclosed]: [Map<number, number>, number[], Set<string>] = [new Map(), [], new Set()];
  for (let at = 0; at < text.length; at += 1) {
    const char = text[at];
    if (char === "\\") at += 1;
    else if (char === "[") open.push(at);
    else if (char === "]") {
      const from = open.pop();
      if (from !== undefined) ends.set(from, at);
    } else if (char === "`") at = codeAt(text, at, unclosed).end - 1;
  }
  return ends;
}

/** A URL in a text without the punctuation after it. */
function trimmedUrl(found: string): string {
  const url = found.replace(/[?!.,:;*_~'"\]]+$/, "");
  const [opened, closed] = [url.split("(").length, url.split(")").length];
  return closed > opened && url.endsWith(")") ? trimmedUrl(url.slice(0, -1)) : url;
}

/** The role of a run of marks, from the characters next to it; undefined if it is text. */
function markAt(text: string, from: number, end: number): Mark | undefined {
  const char = text[from] ?? "";
  const [before, after] = [text[from - 1] ?? " ", text[end] ?? " "];
  const follows = (one: string, other: string): boolean => !/\s/.test(one) && (!isPunctuation(one) || /\s/.test(other) || isPunctuation(other));
  const [left, right] = [follows(after, before), follows(before, after)];
  const [opens, closes] = char === "_" ? [left && (!right || isPunctuation(before)), right && (!left || isPunctuation(after))] : [left, right];
  if ((!opens && !closes) || (char === "~" && end - from > 2)) return undefined;
  return { char, count: end - from, opens, closes, token: { type: "text", text: text.slice(from, end) } };
}

/** Puts the tokens between matching marks into one token, from the inside to the outside (CommonMark, appendix). */
function emphasized(tokens: Inline[], marks: Mark[]): Inline[] {
  for (let at = 0; at < marks.length; ) {
    const closer = marks[at] as Mark;
    const opener = closer.closes ? openerOf(marks, at) : undefined;
    if (opener === undefined) {
      at += 1;
      continue;
    }
    const length = closer.char === "~" ? closer.count : Math.min(2, opener.count, closer.count);
    const [from, to] = [tokens.indexOf(opener.token), tokens.indexOf(closer.token)];
    const inside = tokens.slice(from + 1, to).filter(isShown);
    const type = closer.char === "~" ? "del" : length === 2 ? "strong" : "em";
    tokens.splice(from + 1, to - from - 1, { type, tokens: inside });
    for (const mark of [opener, closer]) {
      mark.count -= length;
      mark.token.text = mark.char.repeat(mark.count);
    }
    // Marks between the two cannot match any more and become text.
    marks.splice(marks.indexOf(opener) + 1, at - marks.indexOf(opener) - 1);
    at = marks.indexOf(closer);
    if (opener.count === 0) {
      marks.splice(marks.indexOf(opener), 1);
      at -= 1;
    }
    if (closer.count === 0) marks.splice(at, 1);
  }
  return tokens.filter(isShown);
}

const isShown = (token: Inline): boolean => token.type !== "text" || token.text !== "";

function openerOf(marks: Mark[], at: number): Mark | undefined {
  const closer = marks[at] as Mark;
  for (let before = at - 1; before >= 0; before -= 1) {
    const mark = marks[before] as Mark;
    if (mark.char !== closer.char || !mark.opens) continue;
    if (mark.char === "~" ? mark.count !== closer.count : (mark.closes || closer.opens) && (mark.count + closer.count) % 3 === 0 && mark.count % 3 !== 0) continue;
    return mark;
  }
  return undefined;
}
