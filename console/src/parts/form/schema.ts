// A JSON schema as the fields of a form. Schemas are texts of agents: they may be wrong, huge, deep or endless, so they are read within bounds, and
// what no field can show is a field for JSON.
import { matcherOf, type Matcher } from "./pattern.ts";

/** One allowed value with its label. */
export interface Option {
  value: unknown;
  word: string;
}

export type TextInput = "text" | "long" | "email" | "url" | "date" | "datetime-local" | "password";

/** The lengths are numbers of letters. */
export type TextKind = { kind: "text"; input: TextInput; minLength: number; maxLength: number; matches: Matcher | undefined };
export type NumberKind = { kind: "number"; isInteger: boolean; minimum: number; maximum: number; above: number; below: number; multipleOf: number | undefined };

/** What a field accepts. */
export type Kind =
  | { kind: "object"; members: readonly Field[] }
  | { kind: "choice"; options: readonly Option[] }
  | { kind: "choices"; options: readonly Option[]; minItems: number; maxItems: number }
  | { kind: "list"; item: TextKind | NumberKind; minItems: number; maxItems: number; isUnique: boolean }
  | { kind: "file"; accept: string | undefined }
  | { kind: "json"; type: "object" | "array" | undefined }
  | TextKind
  | NumberKind;

export interface Field {
  /** The member of its object, and the place in the form, which names its input. */
  name: string;
  path: string;
  title: string;
  description: string;
  isRequired: boolean;
  /** The value at first. */
  initial: unknown;
  of: Kind;
}

const MAX_FIELDS = 120;
/** Objects that are deeper in the schema are fields for JSON. */
const MAX_DEPTH = 5;
const MAX_OPTIONS = 500;
/** How many schemas are looked at, with references and alternatives. */
const MAX_STEPS = 1000;
const MAX_TITLE = 200;
const MAX_DESCRIPTION = 2000;

type Schema = Readonly<Record<string, unknown>>;

/** The field for a whole value of the schema; undefined if the schema is not one, or too large for a form. */
export function fieldOf(schema: unknown): Field | undefined {
  if (!isSchema(schema)) return undefined;
  try {
    return new Reader(schema).field(schema, { name: "", path: "answer", isRequired: true, depth: 0, through: ["#"], initial: undefined });
  } catch (error) {
    if (error instanceof TooLarge) return undefined;
    throw error;
  }
}

class TooLarge extends Error {}

interface Place {
  name: string;
  path: string;
  isRequired: boolean;
  depth: number;
  /** The references that led here: one of them again would have no end. */
  through: readonly string[];
  initial: unknown;
}

class Reader {
  readonly #root: Schema;
  #steps = 0;
  #fields = 0;

  constructor(root: Schema) {
    this.#root = root;
  }

  field(given: unknown, place: Place): Field {
    if ((this.#fields += 1) > MAX_FIELDS) throw new TooLarge();
    const through = [...place.through];
    const schema = this.#settled(given, through) ?? {};
    const initial = "default" in schema ? schema["default"] : place.initial;
    const title = textIn(schema, "title").slice(0, MAX_TITLE);
    return {
      name: place.name,
      path: place.path,
      title: title === "" ? place.name.slice(0, MAX_TITLE) : title,
      description: textIn(schema, "description").slice(0, MAX_DESCRIPTION),
      isRequired: place.isRequired,
      initial,
      of: this.#kind(schema, { ...place, through, initial }),
    };
  }

  #kind(schema: Schema, place: Place): Kind {
    const type = typeOf(schema);
    const options = type === "boolean" ? BOOLEANS : this.#options(schema);
    if (options !== undefined) return { kind: "choice", options };
    switch (type) {
      case "object":
        return isSchema(schema["properties"]) && place.depth < MAX_DEPTH ? this.#object(schema, schema["properties"], place) : { kind: "json", type };
      case "array":
        return this.#array(schema, place);
      case "string":
        return isFile(schema) ? { kind: "file", accept: textIn(schema, "contentMediaType") || undefined } : textKind(schema);
      case "number":
      case "integer":
        return numberKind(schema, type === "integer");
      default:
        return { kind: "json", type: undefined };
    }
  }

  #object(schema: Schema, properties: Schema, place: Place): Kind {
    const required = new Set(Array.isArray(schema["required"]) ? schema["required"] : []);
    const names = Object.keys(properties);
    if (names.length > MAX_FIELDS) throw new TooLarge();
    const initial = isSchema(place.initial) ? place.initial : {};
    const members = names.map((name) =>
      this.field(properties[name], {
        name,
        path: `${place.path}/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`,
        isRequired: required.has(name),
        depth: place.depth + 1,
        through: place.through,
        initial: Object.hasOwn(initial, name) ? initial[name] : undefined,
      }),
    );
    return { kind: "object", members };
  }

  #array(schema: Schema, place: Place): Kind {
    const item = this.#settled(schema["items"], [...place.through]);
    const [minItems, maxItems] = [countIn(schema, "minItems", 0), countIn(schema, "maxItems", Infinity)];
    const options = item === undefined ? undefined : this.#options(item);
    if (options !== undefined) return { kind: "choices", options, minItems, maxItems };
    const type = item === undefined ? undefined : typeOf(item);
    const isUnique = schema["uniqueItems"] === true;
    if (item !== undefined && type === "string" && !isFile(item)) return { kind: "list", item: textKind(item), minItems, maxItems, isUnique };
    if (item !== undefined && (type === "number" || type === "integer")) return { kind: "list", item: numberKind(item, type === "integer"), minItems, maxItems, isUnique };
    return { kind: "json", type: "array" };
  }

  /** The allowed values; undefined if there are too many, or the value is free. */
  #options(schema: Schema): Option[] | undefined {
    if ("const" in schema) return [{ value: schema["const"], word: textIn(schema, "title") || wordOf(schema["const"]) }];
    const listed = schema["enum"];
    if (Array.isArray(listed)) {
      const names = Array.isArray(schema["enumNames"]) ? schema["enumNames"] : [];
      return listed.length === 0 || listed.length > MAX_OPTIONS ? undefined : listed.map((value, at) => ({ value, word: typeof names[at] === "string" ? names[at].slice(0, MAX_TITLE) : wordOf(value) }));
    }
    const some = alternativesOf(schema);
    if (some.length === 0 || some.length > MAX_OPTIONS) return undefined;
    const options = some.map((one) => {
      const only = isSchema(one) ? ("const" in one ? [one["const"]] : one["enum"]) : undefined;
      if (!isSchema(one) || !Array.isArray(only) || only.length !== 1) return undefined;
      return { value: only[0] as unknown, word: (textIn(one, "title") || textIn(one, "description") || wordOf(only[0])).slice(0, MAX_TITLE) };
    });
    return options.every((option) => option !== undefined) ? options : undefined;
  }

  /** The schema with what it refers to and consists of; undefined if that cannot be found, or has no end. References are added to `through`. */
  #settled(given: unknown, through: string[]): Schema | undefined {
    if ((this.#steps += 1) > MAX_STEPS) throw new TooLarge();
    if (!isSchema(given)) return undefined;
    const { $ref: reference, ...own } = given;
    if (reference !== undefined) {
      if (typeof reference !== "string" || through.includes(reference)) return undefined;
      through.push(reference);
      const target = this.#settled(pointedTo(this.#root, reference), through);
      return target === undefined ? undefined : this.#settled({ ...target, ...own }, through);
    }
    if (Array.isArray(given["allOf"])) {
      const { allOf, ...rest } = given;
      const all = (allOf as unknown[]).map((one) => this.#settled(one, through));
      return all.every((one) => one !== undefined) ? this.#settled(all.reduce(both, rest), through) : undefined;
    }
    const real = alternativesOf(given).filter((one) => !(isSchema(one) && one["type"] === "null"));
    if (real.length === 1 && this.#options(given) === undefined) {
      const { anyOf: _, oneOf: __, ...rest } = given;
      const only = this.#settled(real[0], through);
      return only === undefined ? undefined : both(only, rest);
    }
    return given;
  }
}

/** Two schemas that both hold: members of the second come first, except for the properties, which are joined. */
function both(one: Schema, other: Schema): Schema {
  const properties = [one["properties"], other["properties"]].filter(isSchema);
  const required = [one["required"], other["required"]].flatMap((names) => (Array.isArray(names) ? (names as unknown[]) : []));
  return { ...one, ...other, ...(properties.length === 2 ? { properties: { ...properties[0], ...properties[1] } } : {}), ...(required.length > 0 ? { required } : {}) };
}

/** What a reference within the document points to (RFC 6901). */
function pointedTo(root: Schema, reference: string): unknown {
  if (reference === "#") return root;
  if (!reference.startsWith("#/")) return undefined;
  let found: unknown = root;
  for (const token of reference.slice(2).split("/")) {
    const name = unescaped(token);
    if (typeof found !== "object" || found === null || !Object.hasOwn(found, name)) return undefined;
    found = (found as Schema)[name];
  }
  return found;
}

function unescaped(token: string): string {
  try {
    return decodeURIComponent(token).replaceAll("~1", "/").replaceAll("~0", "~");
  } catch {
    return token;
  }
}

function textKind(schema: Schema): TextKind {
  const input = INPUTS.get(textIn(schema, "format")) ?? "text";
  const maxLength = countIn(schema, "maxLength", Infinity);
  const isLong = input === "text" && maxLength > 200 && maxLength !== Infinity;
  const pattern = textIn(schema, "pattern");
  return { kind: "text", input: isLong ? "long" : input, minLength: countIn(schema, "minLength", 0), maxLength, matches: pattern === "" ? undefined : matcherOf(pattern) };
}

function numberKind(schema: Schema, isInteger: boolean): NumberKind {
  const [minimum, maximum] = [numberIn(schema, "minimum", -Infinity), numberIn(schema, "maximum", Infinity)];
  // In older drafts these are booleans about the bounds.
  const above = schema["exclusiveMinimum"] === true ? minimum : numberIn(schema, "exclusiveMinimum", -Infinity);
  const below = schema["exclusiveMaximum"] === true ? maximum : numberIn(schema, "exclusiveMaximum", Infinity);
  const multipleOf = numberIn(schema, "multipleOf", 0);
  return { kind: "number", isInteger, minimum, maximum, above, below, multipleOf: multipleOf > 0 ? multipleOf : undefined };
}

/** The type; of several, the first that is not null. */
function typeOf(schema: Schema): string | undefined {
  const { type } = schema;
  const found: unknown = Array.isArray(type) ? type.find((one) => one !== "null") : type;
  return typeof found === "string" ? found : isSchema(schema["properties"]) ? "object" : undefined;
}

/** True if the text is the content of a file, in base64. */
function isFile(schema: Schema): boolean {
  return schema["contentEncoding"] === "base64" || schema["format"] === "binary" || schema["format"] === "byte";
}

function alternativesOf(schema: Schema): readonly unknown[] {
  const some = schema["anyOf"] ?? schema["oneOf"];
  return Array.isArray(some) ? (some as unknown[]) : [];
}

export function isSchema(value: unknown): value is Schema {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function textIn(schema: Schema, name: string): string {
  const value = schema[name];
  return typeof value === "string" ? value : "";
}

function numberIn(schema: Schema, name: string, otherwise: number): number {
  const value = schema[name];
  return typeof value === "number" && Number.isFinite(value) ? value : otherwise;
}

function countIn(schema: Schema, name: string, otherwise: number): number {
  return Math.max(0, numberIn(schema, name, otherwise));
}

const wordOf = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value)).slice(0, MAX_TITLE);

const INPUTS: ReadonlyMap<string, TextInput> = new Map([["email", "email"], ["uri", "url"], ["url", "url"], ["date", "date"], ["date-time", "datetime-local"], ["password", "password"]]);

const BOOLEANS: readonly Option[] = [
  { value: true, word: "Yes" },
  { value: false, word: "No" },
];
