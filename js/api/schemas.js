// Schemas of arguments and settings: JSON Schema for the engine, and the check by the library that made the schema.
import { Failure } from "./errors.js";
import { forEngine } from "./json-schema.js";

/** The JSON Schema that the engine reads. */
const TARGET = "draft-2020-12";

/** How schemas of a library become JSON Schema, by the vendor that they name. */
const WRAPPERS = /** @type {Record<string, string>} */ ({
  zod: "zod 4.2 or later is needed: npm install zod@latest",
  valibot: "wrap it: toStandardJsonSchema(schema), of @valibot/to-json-schema",
  arktype: "arktype 2.1.28 or later is needed: npm install arktype@latest",
});

/** What to do about any other library. */
const OTHERS = "use a library with Standard JSON Schema (zod, arktype, valibot), or give JSON Schema";

/** The mark of schemas of the AI SDK. */
const AI_SCHEMA = Symbol.for("vercel.ai.schema");

/**
 * A schema as it is used.
 *
 * @typedef {object} Checked
 * @property {Record<string, unknown>} json The JSON Schema for the engine.
 * @property {(value: unknown) => unknown} validate Gives the value with defaults and transforms, or a promise of it; throws a
 *   `Failure` if it does not fit.
 */

/**
 * Reads a schema of arguments: Standard Schema with JSON Schema, a schema of the AI SDK, or JSON Schema.
 *
 * @param {any} schema @param {string} what The beginning of an error, as "tools.find_place".
 * @returns {Checked}
 * @throws {TypeError} If it cannot become JSON Schema of an object.
 */
export function readSchema(schema, what) {
  // The AI SDK makes some schemas when they are needed.
  const given = typeof schema === "function" && standardOf(schema) === undefined ? madeBy(schema, what) : schema;
  const standard = standardOf(given);
  const json = asObject(standard === undefined ? plainJson(given, what) : standardJson(standard, what));
  if (json["type"] !== "object") {
    const wanted = "must be an object, with a name for each argument, such as z.object({ city: z.string() })";
    throw new TypeError(`${what}: the schema of its arguments ${wanted}; it has ${typeName(json)}`);
  }
  if (standard !== undefined) return { json, validate: (value) => after(standard.validate(value), settled) };
  if (typeof given.validate === "function") return { json, validate: (value) => after(given.validate(value), settledByAi) };
  return { json, validate: (value) => value };
}

/**
 * The problems of settings; an empty list if they fit.
 *
 * @param {any} schema Standard Schema, or undefined for a kind without settings. @param {unknown} settings
 * @returns {{ value: unknown } | { problems: { path: string, problem: string }[] }}
 */
export function readSettings(schema, settings) {
  const standard = standardOf(schema);
  if (standard === undefined) {
    const problems = Object.keys(/** @type {object} */ (settings)).map((path) => ({ path, problem: "is no key: the kind has no settings" }));
    return problems.length === 0 ? { value: {} } : { problems };
  }
  const checked = standard.validate(settings);
  if (typeof checked?.then === "function") throw new TypeError("the schema of settings is asynchronous; give one that is not");
  return checked.issues === undefined ? { value: checked.value } : { problems: checked.issues.map(problemOf) };
}

/** The methods of a Standard Schema; undefined for anything else. @param {any} schema */
export const standardOf = (schema) => (typeof schema?.["~standard"]?.validate === "function" ? schema["~standard"] : undefined);

/**
 * Passes a value on, at once if it is no promise.
 *
 * @template T @param {any} value @param {(value: any) => T} next @returns {T | Promise<T>}
 */
export function after(value, next) {
  return typeof value?.then === "function" ? Promise.resolve(value).then(next) : next(value);
}

/** @param {() => unknown} make @param {string} what @returns {any} */
function madeBy(make, what) {
  try {
    return make();
  } catch (error) {
    throw new TypeError(`${what}: its schema cannot be made: ${/** @type {any} */ (error)?.message ?? error}`, { cause: error });
  }
}

/** A schema that combines schemas of objects with the type that the engine wants to see. @param {Record<string, any>} json */
function asObject(json) {
  const isObject = (/** @type {any} */ { type }) => type === "object";
  const combines = json["allOf"]?.some(isObject) || json["anyOf"]?.every(isObject) || json["oneOf"]?.every(isObject);
  return json["type"] === undefined && combines ? { type: "object", ...json } : json;
}

/** @param {any} standard @param {string} what */
function standardJson(standard, what) {
  if (typeof standard.jsonSchema?.input !== "function") {
    throw new TypeError(`${what}: its schema, of ${standard.vendor}, cannot become JSON Schema; ${WRAPPERS[standard.vendor] ?? OTHERS}`);
  }
  try {
    return forEngine(standard.jsonSchema.input({ target: TARGET }), true);
  } catch (error) {
    const reason = /** @type {any} */ (error)?.message ?? error;
    throw new TypeError(`${what}: its schema, of ${standard.vendor}, cannot become JSON Schema: ${reason}`, { cause: error });
  }
}

/** @param {any} schema @param {string} what */
function plainJson(schema, what) {
  if (typeof schema !== "object" || schema === null) {
    const forms = 'such as z.object({ city: z.string() }) of zod, or JSON Schema: { type: "object", properties: { … } }';
    throw new TypeError(`${what}: it needs an inputSchema, ${forms}`);
  }
  const json = AI_SCHEMA in schema ? schema.jsonSchema : schema;
  if (typeof json?.then === "function") {
    throw new TypeError(`${what}: its JSON Schema is a promise; give a schema that is there at once`);
  }
  return forEngine(json, typeof schema.validate === "function");
}

/** @param {Record<string, unknown>} json */
const typeName = (json) => (json["type"] === undefined ? "no `type`" : `the type ${JSON.stringify(json["type"])}`);

/** The value of a Standard Schema's answer. @param {any} checked */
function settled(checked) {
  if (checked.issues === undefined) return checked.value;
  /** @type {{ path: string, problem: string }[]} */
  const problems = checked.issues.map(problemOf);
  throw new Failure(problems.map(({ path, problem }) => (path === "" ? problem : `${path}: ${problem}`)).join("; "), { fault: "arguments" });
}

/** The value of an answer of the AI SDK's schemas. @param {any} checked */
function settledByAi(checked) {
  if (checked.success) return checked.value;
  throw new Failure(checked.error?.message ?? "the arguments do not fit", { fault: "arguments", cause: checked.error });
}

/** @param {{ message: string, path?: readonly any[] }} issue */
function problemOf({ message, path = [] }) {
  const keys = path.map((key) => (typeof key === "object" && key !== null ? key.key : key));
  return { path: keys.map(String).join("."), problem: message };
}
