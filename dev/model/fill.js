// Values that match a JSON schema, made from a text.
import { numbers, words } from "./words.js";

/** @typedef {import("./request.js").Schema} Schema */

const PLACES = ["city", "place", "location", "town", "country", "region", "where"];
const BEFORE_PLACES = ["in", "at", "for", "near", "from", "to"];
const MOST_ITEMS = 100;

/** The largest depth to which a schema is filled. */
const MOST_LEVELS = 20;

/** Fills schemas from a text; each number of the text is used once. */
export class Filling {
  #text;
  #numbers;
  #quoted;
  #level = 0;
  /** The name of the first required number for which the text had no number. @type {string | undefined} */
  missing;

  /** @param {string} text */
  constructor(text) {
    this.#text = text;
    this.#numbers = numbers(text);
    this.#quoted = text.split('"').filter((quoted, at) => at % 2 === 1 && quoted.trim() !== "");
  }

  /**
   * The arguments of a tool, or another object. Optional members are only filled if the text contains a value for them.
   *
   * @param {Schema | null | undefined} schema
   * @returns {Record<string, any>}
   */
  object(schema) {
    const required = Array.isArray(schema?.required) ? schema.required : [];
    /** @type {Record<string, any>} */
    const filled = {};
    this.#level += 1;
    for (const [name, member] of Object.entries(this.#level > MOST_LEVELS ? {} : schema?.properties ?? {})) {
      const value = this.#value(name, member, required.includes(name));
      if (value !== undefined) filled[name] = value;
    }
    this.#level -= 1;
    return filled;
  }

  /** @param {string} name @param {any} schema @param {boolean} isRequired @returns {any} */
  #value(name, schema, isRequired) {
    if (schema?.const !== undefined) return schema.const;
    if (Array.isArray(schema?.enum)) {
      const text = this.#text.toLowerCase();
      const said = schema.enum.find((/** @type {unknown} */ value) => value !== "" && text.includes(String(value).toLowerCase()));
      return said ?? (isRequired ? schema.enum[0] : undefined);
    }
    const choice = [schema?.anyOf, schema?.oneOf, schema?.allOf].find((choices) => Array.isArray(choices) && choices.length > 0);
    if (choice !== undefined) return this.#deeper(() => this.#value(name, choice[0], isRequired));
    switch (kind(schema)) {
      case "number":
      case "integer":
        return this.#number(name, schema, isRequired);
      case "boolean": {
        const said = new Set(words(this.#text));
        const isNamed = words(name).every((part) => said.has(part));
        return isRequired || isNamed ? isNamed : undefined;
      }
      case "array":
        return this.#deeper(() => this.#array(name, schema.items, isRequired));
      case "object": {
        const inner = this.object(schema);
        return isRequired || Object.keys(inner).length > 0 ? inner : undefined;
      }
      case "null":
        return isRequired ? null : undefined;
      default: {
        const text = this.#string(name, isRequired);
        return text !== undefined && Number.isSafeInteger(schema?.maxLength) ? [...text].slice(0, schema.maxLength).join("") : text;
      }
    }
  }

  /** @param {() => any} fill */
  #deeper(fill) {
    this.#level += 1;
    const value = this.#level > MOST_LEVELS ? undefined : fill();
    this.#level -= 1;
    return value;
  }

  /** @param {string} name @param {any} schema @param {boolean} isRequired */
  #number(name, schema, isRequired) {
    const number = this.#numbers.shift();
    if (number !== undefined) return kind(schema) === "integer" ? Math.trunc(number) : number;
    const otherwise = schema?.default ?? schema?.minimum;
    if (isRequired && otherwise === undefined) this.missing ??= name;
    return isRequired ? otherwise ?? 0 : undefined;
  }

  /** @param {string} name @param {any} items @param {boolean} isRequired */
  #array(name, items, isRequired) {
    const values = [];
    if (["number", "integer"].includes(kind(items))) {
      while (this.#numbers.length > 0 && values.length < MOST_ITEMS) values.push(this.#number(name, items, true));
    } else {
      const value = this.#value(name, items, isRequired);
      if (value !== undefined) values.push(value);
    }
    return isRequired || values.length > 0 ? values : undefined;
  }

  /** @param {string} name @param {boolean} isRequired @returns {string | undefined} */
  #string(name, isRequired) {
    return special(name.toLowerCase(), this.#text) ?? this.#quoted.shift() ?? (isRequired ? this.#text.trim() : undefined);
  }
}

/**
 * A value of the kind that a name suggests: a URL, a mail address, a time zone, a date or a place.
 *
 * @param {string} name @param {string} text
 */
function special(name, text) {
  const is = (/** @type {string[]} */ ...parts) => parts.some((part) => name.includes(part));
  const bare = text.split(/\s+/).map((word) => word.replace(/^[.,?!;"()]+|[.,?!;"()]+$/g, ""));
  if (is("url", "uri", "link")) return bare.find((word) => word.includes("://"));
  if (is("mail")) return bare.find((word) => word.includes("@"));
  if (is("zone")) return bare.find((word) => word.includes("/") && !word.includes("://"));
  if (is("date")) return bare.find((word) => word.split("-").length === 3);
  return is(...PLACES) ? place(text) : undefined;
}

/** The capitalized words after `in`, `at`, `for`, `near`, `from` or `to`. @param {string} text */
function place(text) {
  const all = text.split(/\s+/).filter((word) => word !== "");
  for (const [at, word] of all.entries()) {
    if (!BEFORE_PLACES.includes(word)) continue;
    const found = [];
    for (const next of all.slice(at + 1)) {
      if (!/^\p{Lu}/u.test(next)) break;
      const bare = next.replace(/[^\p{Alphabetic}\p{N}]+$/u, "");
      found.push(bare);
      if (bare !== next) break;
    }
    if (found.length > 0) return found.join(" ");
  }
  return undefined;
}

/** The first type of a schema; a schema with properties is an object. @param {any} schema @returns {string} */
function kind(schema) {
  const named = Array.isArray(schema?.type) ? schema.type.find((/** @type {unknown} */ type) => type !== "null") : schema?.type;
  return typeof named === "string" ? named : typeof schema?.properties === "object" ? "object" : "string";
}
