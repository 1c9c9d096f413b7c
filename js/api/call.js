// What a tool gets beside its arguments.
import { jsonText } from "./json.js";
import { isPart, resultJson } from "./parts.js";
import { runOf } from "./run.js";
import { isStream } from "./write.js";

/** @typedef {import("./link.js").Link} Link */
/** @typedef {import("../index.d.ts").Call} Call */

/**
 * @param {Link} link @param {import("./run.js").Facts & { toolCallId: string }} facts @param {any} env
 * @returns {Call}
 */
export function callOf(link, facts, env) {
  const working = (/** @type {string | undefined} */ text) => {
    if (text !== undefined && typeof text !== "string") {
      throw new TypeError(`the progress must be a text, got ${jsonText(text, "the progress")}`);
    }
    link.call("progress", text);
  };
  return {
    ...runOf(link, facts, env, working),
    toolCallId: facts.toolCallId,
    messages: [],
    context: {},
    get signal() {
      return link.signal;
    },
    get abortSignal() {
      return link.signal;
    },
  };
}

/**
 * The JSON of the parts of a tool's result. A stream of a tool of a2a-edge is a result in pieces; of that of another library the
 * last one is the result, as in the AI SDK.
 *
 * @param {Link} link @param {unknown} result @param {boolean} isForeign
 * @returns {string | Promise<string>}
 */
export function partsJson(link, result, isForeign) {
  link.refuseOpenSteps();
  if (!isStream(result)) return resultJson(result, "the result of the tool");
  return (isForeign ? lastOf(result) : joined(result)).then((whole) => partsJson(link, whole, isForeign));
}

/** @param {AsyncIterable<unknown>} stream @returns {Promise<unknown>} */
async function lastOf(stream) {
  let last;
  for await (const result of stream) last = result;
  return last;
}

/**
 * The pieces of a stream, with texts that follow each other in one.
 *
 * @param {AsyncIterable<unknown>} stream @returns {Promise<unknown>}
 */
async function joined(stream) {
  const decoder = new TextDecoder();
  /** @type {unknown[]} */
  const parts = [];
  let text = "";
  const close = () => {
    if (text !== "") parts.push({ text });
    text = "";
  };
  for await (const piece of stream) {
    if (piece instanceof Uint8Array) text += decoder.decode(piece, { stream: true });
    else if (typeof piece === "string") text += piece;
    else if (isPart(piece)) {
      close();
      parts.push(piece);
    } else {
      const got = jsonText(piece, "a piece of a result");
      throw new TypeError(`a piece of a result must be a text, bytes of a text or a part, got ${got}`);
    }
  }
  text += decoder.decode();
  close();
  return parts.length === 1 && "text" in /** @type {object} */ (parts[0]) ? parts[0] : parts.length === 0 ? "" : parts;
}
