// Values of JavaScript in agent files.

/**
 * A value as TOML.
 *
 * @param {unknown} value @param {string} path Where it is, for errors.
 * @returns {string}
 * @throws {TypeError} If TOML has no such value.
 */
export function toToml(value, path) {
  if (typeof value === "string") return text(value);
  if (typeof value === "boolean" || typeof value === "bigint") return String(value);
  if (typeof value === "number" && Number.isFinite(value)) return number(value);
  if (Array.isArray(value)) return `[${value.map((item, at) => toToml(item, `${path}[${at}]`)).join(", ")}]`;
  if (typeof value === "object" && value !== null && isPlain(value)) return table(value, path);
  const shown = value === null ? "null" : typeof value === "object" ? value.constructor?.name : String(value);
  throw new TypeError(`${path} is ${shown}, which an agent file cannot hold; it holds texts, numbers, booleans, lists and tables`);
}

/** @param {string} value */
function text(value) {
  return JSON.stringify(value.toWellFormed()).replaceAll("\x7f", "\\u007f");
}

/** @param {number} value */
function number(value) {
  if (Object.is(value, -0)) return "-0.0";
  const shown = String(value);
  return Number.isInteger(value) && Math.abs(value) > Number.MAX_SAFE_INTEGER && !shown.includes("e") ? `${shown}.0` : shown;
}

/** @param {object} value @param {string} path */
function table(value, path) {
  const given = Object.entries(value).filter(([, member]) => member !== undefined);
  return `{ ${given.map(([key, member]) => `${text(key)} = ${toToml(member, `${path}.${key}`)}`).join(", ")} }`;
}

/** @param {object} value */
function isPlain(value) {
  const prototype = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}
