// Parts of A2A: from what authors give to the form on the wire.
import { jsonText } from "./json.js";

/** @typedef {import("../index.d.ts").Part} Part */

const CONTENTS = ["text", "data", "raw", "url"];
const EXTRAS = ["mediaType", "filename", "metadata"];

/**
 * Whether a value is a part: an object with exactly one of `text`, `data`, `raw` and `url`, and besides only `mediaType`,
 * `filename` and `metadata`.
 *
 * @param {unknown} value @returns {value is Part}
 */
export function isPart(value) {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  const keys = Object.keys(value).filter((key) => /** @type {Record<string, unknown>} */ (value)[key] !== undefined);
  const contents = keys.filter((key) => CONTENTS.includes(key));
  if (contents.length !== 1 || keys.some((key) => !CONTENTS.includes(key) && !EXTRAS.includes(key))) return false;
  const { text, raw, url, mediaType, filename } = /** @type {Record<string, unknown>} */ (value);
  const areTexts = [text, url, mediaType, filename].every((member) => member === undefined || typeof member === "string");
  return areTexts && (raw === undefined || typeof raw === "string" || bytesOf(raw) !== undefined);
}

/**
 * The JSON of a list of parts, of a text, a part or a list of parts.
 *
 * @param {unknown} content
 * @param {string} what The beginning of an error, as "the question".
 */
export function contentJson(content, what) {
  if (typeof content === "string") return `[${textPart(content)}]`;
  const parts = Array.isArray(content) ? content : [content];
  if (parts.length === 0 || !parts.every(isPart)) {
    const forms = "a text, a part such as { text }, { data }, { raw } or { url }, or a list of parts with at least one";
    throw new TypeError(`${what} must be ${forms}; wrap other JSON as { data: … }`);
  }
  return `[${parts.map((part) => partJson(part, what)).join()}]`;
}

/**
 * The JSON of the list of parts of a result: a text, a part, a list of parts, or any other JSON, which becomes one data part.
 *
 * @param {unknown} result @param {string} what
 */
export function resultJson(result, what) {
  const areParts = Array.isArray(result) && result.length > 0 && result.every(isPart);
  if (typeof result === "string" || isPart(result) || areParts) return contentJson(result, what);
  if (bytesOf(result) !== undefined) throw new TypeError(`${what} is bytes; give a part: { raw: bytes, mediaType: "…" }`);
  return `[{"data":${jsonText(result, what)}}]`;
}

/** The JSON of a part. @param {Part} part @param {string} what */
export function partJson(part, what) {
  const bytes = "raw" in part ? bytesOf(part.raw) : undefined;
  return jsonText(bytes === undefined ? part : { ...part, raw: base64(bytes) }, what);
}

/** The JSON of a part with a text. @param {string} text */
export const textPart = (text) => `{"text":${JSON.stringify(text.toWellFormed())}}`;

/** The bytes of a buffer or a view; undefined for anything else. @param {unknown} value */
function bytesOf(value) {
  if (value instanceof Uint8Array) return value;
  if (value instanceof ArrayBuffer) return new Uint8Array(value);
  return ArrayBuffer.isView(value) ? new Uint8Array(value.buffer, value.byteOffset, value.byteLength) : undefined;
}

/** @param {Uint8Array & { toBase64?: () => string }} bytes */
function base64(bytes) {
  if (bytes.toBase64 !== undefined) return bytes.toBase64();
  let text = "";
  for (let at = 0; at < bytes.length; at += CHUNK_BYTES) text += String.fromCharCode(...bytes.subarray(at, at + CHUNK_BYTES));
  return btoa(text);
}

/** How many arguments a call takes safely. */
const CHUNK_BYTES = 8_192;
