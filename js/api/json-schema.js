// JSON Schemas in the form that the engine reads: draft 2020-12, without what a library checks by itself and the engine cannot.

const MAPS = ["properties", "patternProperties", "$defs", "definitions"];
const LISTS = ["allOf", "anyOf", "oneOf", "prefixItems"];
const SCHEMAS = ["items", "additionalProperties", "propertyNames", "not"];

/**
 * Look-around, references to groups and classes of Unicode: what the engine's regular expressions, of linear time, do not have.
 */
const NOT_LINEAR = /\(\?<?[=!]|\\[1-9]|\\k<|\\p\{/i;

/**
 * The schema of arguments for the engine, as plain JSON.
 *
 * @param {object} schema Of draft 2020-12, or of draft 7 as far as tuples are concerned.
 * @param {boolean} isChecked Whether a library checks the arguments, too. Patterns that the engine cannot check are then left to
 *   it.
 * @returns {Record<string, unknown>}
 */
export function forEngine(schema, isChecked) {
  const { $schema: _, ...json } = JSON.parse(JSON.stringify(schema));
  return read(json, isChecked);
}

/** @param {any} schema @param {boolean} isChecked @returns {any} */
function read(schema, isChecked) {
  if (typeof schema !== "object" || schema === null) return schema;
  const { items, additionalItems, ...others } = schema;
  // Tuples of draft 7.
  const rest = additionalItems === undefined ? {} : { items: additionalItems };
  const given = Array.isArray(items) ? { ...others, prefixItems: items, ...rest } : schema;
  const entries = Object.entries(given).filter(([key, value]) => !(isChecked && key === "pattern" && NOT_LINEAR.test(value)));
  return Object.fromEntries(entries.map(([key, value]) => [key, inside(key, value, isChecked)]));
}

/** @param {string} key @param {any} value @param {boolean} isChecked */
function inside(key, value, isChecked) {
  if (SCHEMAS.includes(key)) return read(value, isChecked);
  if (LISTS.includes(key) && Array.isArray(value)) return value.map((schema) => read(schema, isChecked));
  if (!MAPS.includes(key) || typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, schema]) => [name, read(schema, isChecked)]));
}
