// The received requests for agents, newest last: `GET` and `DELETE /_dev/received`. Kept in memory; a restart deletes them.

/** The largest number of requests that are kept. */
const CAPACITY = 1_000;

/** The headers without credentials whose values are shown. */
const PLAIN = new Set([
  "a2a-extensions", "a2a-version", "accept", "access-control-request-headers", "after-generation", "content-type", "idempotency-key",
  "if-generation-match", "if-modified-since", "if-none-match", "last-event-id", "prefer", "run-timeout-ms", "traceparent", "tracestate",
  "user-agent", "x-a2a-extensions",
]);

/** The text in place of a credential. */
const HIDDEN = "(hidden)";

/** The media type of parts with credentials (docs/credentials.md). */
const CREDENTIALS = "application/vnd.a2a-edge.credentials+json";

/** Headers that platforms and proxies set; they contain no information about the client. */
const OF_PLATFORM = /^(?:cf-|x-forwarded-|x-real-ip$|true-client-ip$|cdn-loop$|mf-|host$|connection$|content-length$|accept-encoding$|transfer-encoding$)/;

/** @type {object[]} */
let requests = [];

/**
 * Records a request.
 *
 * @param {Request} request @param {import("./operation.js").Asked} asked @param {object | undefined} fault
 */
export function note(request, { agent, operation, taskId, message }, fault) {
  const { pathname } = new URL(request.url);
  requests.push({
    agent, method: request.method, path: pathname, operation, messageId: message?.messageId ?? null, taskId, text: textOf(message),
    message: message === null ? null : withoutCredentials(message), headers: shown(request.headers), fault: fault ?? null,
  });
  if (requests.length > CAPACITY) requests.shift();
}

/** @param {Request} request */
export function answer(request) {
  switch (request.method) {
    case "GET":
      return Response.json({ requests });
    case "DELETE":
      requests = [];
      return Response.json({});
    default:
      return new Response(null, { status: request.method === "OPTIONS" ? 204 : 405, headers: { allow: "GET, DELETE, OPTIONS" } });
  }
}

/** The text of a message; null if there is none. @param {Record<string, any> | null} message */
function textOf(message) {
  if (message === null || !Array.isArray(message.parts)) return null;
  return message.parts.map((part) => (typeof part?.text === "string" ? part.text : "")).join("");
}

/** A message in which parts with credentials are empty. @param {Record<string, any>} message */
function withoutCredentials(message) {
  if (!Array.isArray(message.parts)) return message;
  const parts = message.parts.map((part) => (JSON.stringify(part ?? null).includes(CREDENTIALS) ? { data: {}, mediaType: CREDENTIALS } : part));
  return { ...message, parts };
}

/** The headers of a request; the values of headers that may be credentials are hidden. @param {Headers} headers */
function shown(headers) {
  const told = [...headers].filter(([name]) => !OF_PLATFORM.test(name));
  return Object.fromEntries(told.map(([name, value]) => [name, PLAIN.has(name) ? value : hidden(name, value)]));
}

/** @param {string} name @param {string} value */
function hidden(name, value) {
  const scheme = name === "authorization" && value.includes(" ") ? `${value.split(" ")[0]} ` : "";
  return scheme + HIDDEN;
}
