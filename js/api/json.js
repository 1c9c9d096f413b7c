// JSON of values that authors give. A value that JSON would change or drop silently is refused, with its path.

/** The largest depth of JSON that the engine reads. */
const MAX_DEPTH = 100;

/** What to write in place of values that are no JSON. */
const ADVICE = /** @type {Record<string, string>} */ ({
  Date: "date.toISOString()",
  Map: "Object.fromEntries(map)",
  Set: "[...set]",
  URL: "url.href",
  Response: "await response.json()",
  Promise: "await",
  bigint: "String(number)",
});

/**
 * The JSON of a value; `undefined` becomes `null`, and members that are `undefined` are left out.
 *
 * @param {unknown} value
 * @param {string} what The beginning of the error, as "the result of step reserve".
 * @throws {TypeError} If the value is not JSON.
 */
export function jsonText(value, what) {
  if (value === undefined) return "null";
  refuseMisfits(value, "", [], what);
  const text = JSON.stringify(value);
  // Half of a surrogate pair, which JSON.stringify escapes, cannot be text elsewhere.
  return /\\ud[89a-f]/.test(text) ? JSON.stringify(value, wellFormed) : text;
}

/** @param {string} _key @param {unknown} value */
const wellFormed = (_key, value) => (typeof value === "string" ? value.toWellFormed() : value);

/** @param {unknown} value @param {string} path @param {object[]} around @param {string} what */
function refuseMisfits(value, path, around, what) {
  const name = misfit(value);
  if (name !== undefined) throw new TypeError(`${what} is not JSON: ${place(path)} ${name}; ${advice(value)}`);
  if (typeof value !== "object" || value === null) return;
  if (around.includes(value)) throw new TypeError(`${what} is not JSON: ${place(path)} the object that it is a part of, a cycle`);
  if (around.length >= MAX_DEPTH) throw new TypeError(`${what} is nested more than ${MAX_DEPTH} levels deep`);
  around.push(value);
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index += 1) refuseMisfits(value[index] ?? null, `${path}[${index}]`, around, what);
  } else {
    for (const [key, member] of Object.entries(value)) {
      if (member !== undefined) refuseMisfits(member, `${path}.${key}`, around, what);
    }
  }
  around.pop();
}

/** What a value is that is not JSON by itself; undefined if it is. @param {unknown} value */
function misfit(value) {
  switch (typeof value) {
    case "string":
    case "boolean":
      return undefined;
    case "number":
      return Number.isFinite(value) ? undefined : String(value);
    case "object":
      return value === null || isPlain(value) ? undefined : `a ${classOf(value)}`;
    default:
      return `a ${typeof value}`;
  }
}

/** Whether an object is a list or a plain object, of any realm. @param {object} value */
function isPlain(value) {
  if (Array.isArray(value)) return true;
  const prototype = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

/** @param {object} value */
const classOf = (value) => value.constructor?.name || "class instance";

/** @param {string} path */
const place = (path) => (path === "" ? "it is" : `${path} is`);

/** @param {unknown} value */
function advice(value) {
  const instead = ADVICE[typeof value === "object" && value !== null ? classOf(value) : typeof value];
  return instead === undefined ? "JSON has texts, numbers, true, false, null, lists and plain objects" : `write ${instead}`;
}
