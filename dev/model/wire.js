// The answer of the scripted model in the format of chat completions.
import { tokens } from "./request.js";

/** @typedef {import("./request.js").ChatRequest} ChatRequest @typedef {import("./reply.js").Reply} Reply */

/** The id of every answer. It is always the same, so that the same request has the same answer. */
const ID = "chatcmpl-dev";

/** The largest number of pieces in which a text is streamed. */
const MOST_PIECES = 200;

/** The answer without a stream. @param {ChatRequest} request @param {Reply} reply */
export function whole(request, reply) {
  const calls = reply.calls.map(({ id, name, arguments: given }) => ({ id, type: "function", function: { name, arguments: JSON.stringify(given) } }));
  const message = calls.length === 0 ? { role: "assistant", content: reply.text } : { role: "assistant", content: null, tool_calls: calls };
  return {
    id: ID, object: "chat.completion", created: 0, model: request.model, choices: [{ index: 0, message, finish_reason: end(reply) }],
    usage: usage(request, reply),
  };
}

/**
 * The events of a streamed answer, in order, usually with one word each.
 *
 * @param {ChatRequest} request @param {Reply} reply
 */
export function events(request, reply) {
  const chunk = (/** @type {object[]} */ choices, /** @type {object | null} */ usage) =>
    ({ id: ID, object: "chat.completion.chunk", created: 0, model: request.model, choices, usage });
  const delta = (/** @type {object} */ delta, /** @type {string | null} */ end = null) => chunk([{ index: 0, delta, finish_reason: end }], null);
  const called = reply.calls.flatMap(({ id, name, arguments: given }, index) => [
    delta({ tool_calls: [{ index, id, type: "function", function: { name, arguments: "" } }] }),
    delta({ tool_calls: [{ index, function: { arguments: JSON.stringify(given) } }] }),
  ]);
  const all = [
    delta({ role: "assistant", content: "" }), ...pieces(reply.text).map((content) => delta({ content })), ...called, delta({}, end(reply)),
    ...(request.tellsUsage ? [chunk([], usage(request, reply))] : []),
  ];
  return [...all.map((event) => JSON.stringify(event)), "[DONE]"].map((event) => `data: ${event}\n\n`);
}

/** An error in the format of model endpoints. @param {string} text */
export const failure = (text) => ({ error: { message: text, type: "invalid_request_error", param: null, code: null } });

/** @param {Reply} reply */
const end = ({ isCut, calls }) => (isCut ? "length" : calls.length > 0 ? "tool_calls" : "stop");

/** @param {ChatRequest} request @param {Reply} reply */
function usage(request, reply) {
  const output = tokens([reply.text, ...reply.calls.flatMap(({ name, arguments: given }) => [name, JSON.stringify(given)])].join(""));
  return { prompt_tokens: request.tokens, completion_tokens: output, total_tokens: request.tokens + output };
}

/** A text in pieces of one word; in a long text, of several words. @param {string} text */
function pieces(text) {
  const words = text.match(/[^ ]* |[^ ]+$/g) ?? [];
  const atOnce = Math.max(1, Math.ceil(words.length / MOST_PIECES));
  return Array.from({ length: Math.ceil(words.length / atOnce) }, (_, at) => words.slice(at * atOnce, (at + 1) * atOnce).join(""));
}
