// Checks what a form contains against its fields, and makes the value that is sent. Pure.
import { isSchema, type Field, type Kind, type NumberKind, type TextKind } from "./schema.ts";

/** What the input of a field contains: its text, the numbers of the chosen options, or base64 of a file. */
export interface Entered {
  text: string;
  /** True if the browser could not read what was typed, for example a date without a year. */
  isUnreadable?: boolean;
  chosen?: readonly number[];
}

/** The value of a form, or what is wrong with it by the paths of the fields. */
export interface Checked {
  value: unknown;
  problems: ReadonlyMap<string, string>;
}

/** The value of an empty field: its member is left out. */
const NOTHING = Symbol("nothing");

export function check(field: Field, entered: (path: string) => Entered): Checked {
  const problems = new Map<string, string>();
  const value = read(field, entered, problems);
  return { value: value === NOTHING ? {} : value, problems };
}

function read(field: Field, entered: (path: string) => Entered, problems: Map<string, string>): unknown {
  const { of, path, isRequired } = field;
  if (of.kind === "object") {
    const found = new Map<string, string>();
    const members = of.members.map((member): [string, unknown] => [member.name, read(member, entered, found)]);
    const given = members.filter(([, value]) => value !== NOTHING);
    // An object that may be missing needs its members only if one of them is given.
    if (!isRequired && given.length === 0 && [...found.values()].every((text) => text === NEEDED)) return NOTHING;
    for (const [at, text] of found) problems.set(at, text);
    return Object.fromEntries(given);
  }
  const { text, isUnreadable = false, chosen = [] } = entered(path);
  const wrong = (problem: string): typeof NOTHING => {
    problems.set(path, problem);
    return NOTHING;
  };
  if (isUnreadable) return wrong(of.kind === "number" ? "This is not a number." : "This is not complete.");
  if (of.kind === "choices") {
    if (chosen.length === 0 && !isRequired) return NOTHING;
    const problem = countProblem(chosen.length, of, "choice");
    return problem === undefined ? chosen.map((at) => of.options[at]?.value) : wrong(problem);
  }
  if (text.trim() === "" && (of.kind !== "text" || text === "")) {
    // A list that has to be there may be empty.
    if (of.kind === "list" && isRequired && of.minItems === 0) return [];
    return isRequired ? wrong(NEEDED) : NOTHING;
  }
  const parsed = parse(of, text);
  return "problem" in parsed ? wrong(parsed.problem) : parsed.value;
}

type Parsed = { value: unknown } | { problem: string };

function parse(of: Exclude<Kind, { kind: "object" | "choices" }>, text: string): Parsed {
  switch (of.kind) {
    case "choice":
      return { value: of.options[Number(text)]?.value };
    case "file":
      return { value: text };
    case "text":
      return parseText(of, text);
    case "number":
      return parseNumber(of, text);
    case "list": {
      const lines = text.split("\n").map((line) => line.trim());
      const values: unknown[] = [];
      for (const [at, line] of lines.entries()) {
        if (line === "") continue;
        const parsed = of.item.kind === "text" ? parseText(of.item, line) : parseNumber(of.item, line);
        if ("problem" in parsed) return { problem: `Line ${at + 1}: ${parsed.problem}` };
        values.push(parsed.value);
      }
      if (of.isUnique && new Set(values).size < values.length) return { problem: "No line may be there twice." };
      const problem = countProblem(values.length, of, "line");
      return problem === undefined ? { value: values } : { problem };
    }
    case "json":
      return parseJson(of.type, text);
  }
}

function parseText({ input, minLength, maxLength, matches }: TextKind, text: string): Parsed {
  const { length } = [...text];
  if (length < minLength) return { problem: `At least ${counted(minLength, "character")}; this has ${length}.` };
  if (length > maxLength) return { problem: `At most ${counted(maxLength, "character")}; this has ${length}.` };
  if (input === "email" && !/^[^\s@]+@[^\s@]+$/.test(text)) return { problem: "This is not an email address." };
  if (input === "url" && !URL.canParse(text)) return { problem: "This is not an address with a scheme, as https://example.com." };
  if (input === "date" && !isDate(text)) return { problem: "This is not a date, as 2026-01-31." };
  if (matches?.(text) === false) return { problem: "This has not the form that the agent asks for." };
  if (input !== "datetime-local") return { value: text };
  const at = new Date(text);
  return Number.isNaN(at.getTime()) ? { problem: "This is not a date with a time, as 2026-01-31T12:00." } : { value: at.toISOString() };
}

function parseNumber(of: NumberKind, text: string): Parsed {
  const value = Number(text);
  if (!Number.isFinite(value)) return { problem: "This is not a number." };
  if (of.isInteger && !Number.isInteger(value)) return { problem: "This has to be a whole number." };
  if (of.isInteger && !Number.isSafeInteger(value)) return { problem: "This number is too large to be sent exactly." };
  if (value < of.minimum) return { problem: `At least ${of.minimum}.` };
  if (value > of.maximum) return { problem: `At most ${of.maximum}.` };
  if (value <= of.above) return { problem: `More than ${of.above}.` };
  if (value >= of.below) return { problem: `Less than ${of.below}.` };
  const times = of.multipleOf === undefined ? 0 : value / of.multipleOf;
  if (Math.abs(times - Math.round(times)) > 1e-9 * Math.max(1, Math.abs(times))) return { problem: `A multiple of ${of.multipleOf}.` };
  return { value };
}

function parseJson(type: "object" | "array" | undefined, text: string): Parsed {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return { problem: `This is not JSON: ${error instanceof Error ? error.message : ""}` };
  }
  if (type === "array" && !Array.isArray(value)) return { problem: "This has to be a list in JSON." };
  if (type === "object" && !isSchema(value)) return { problem: "This has to be an object in JSON." };
  return { value };
}

function countProblem(count: number, { minItems, maxItems }: { minItems: number; maxItems: number }, word: string): string | undefined {
  if (count < minItems) return `At least ${counted(minItems, word)}.`;
  return count > maxItems ? `At most ${counted(maxItems, word)}.` : undefined;
}

/** True for a day that exists. */
function isDate(text: string): boolean {
  const at = new Date(`${text}T00:00:00Z`);
  return /^\d{4}-\d{2}-\d{2}$/.test(text) && !Number.isNaN(at.getTime()) && at.toISOString().startsWith(text);
}

const counted = (count: number, word: string): string => `${count} ${word}${count === 1 ? "" : "s"}`;

const NEEDED = "This is needed.";
