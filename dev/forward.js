// The forwarder of the console: a page of `npm start` sends requests to agents elsewhere through this server, because the rules of browsers (CORS)
// would block them. `POST /_dev/forward` accepts `{ "method", "url", "headers": [[name, value], …], "body" }` and answers 200 with the other
// server's body and some of its headers; `a2a-forwarded-status` is the other server's status, `a2a-forwarded` the URL that answered. Without these
// two headers the answer is the forwarder's own: `{ "message" }`, with 200 if the other server did not answer, with 400, 403, 405 or 415 if the
// request was refused.
import { refusalOf } from "./own-page.js";

/** The headers of an answer that are passed on. */
const PASSED = ["content-type", "retry-after", "www-authenticate", "x-request-id"];

/** The largest number of redirects that a GET follows, only within its origin. */
const MAX_REDIRECTS = 3;

/** @typedef {{ method: string, url: URL, headers: Headers, body: string | null }} Forwarded */

/** @param {Request} request @returns {Promise<Response>} */
export async function forward(request) {
  const refused = refusalOf(request, "requests are forwarded");
  if (refused !== undefined) return own(refused.status, refused.message, refused.headers);
  const forwarded = await read(request);
  if (typeof forwarded === "string") return own(400, forwarded);
  let { url } = forwarded;
  for (let redirects = 0; ; redirects += 1) {
    const { method, headers, body } = forwarded;
    /** @type {Response} */
    let response;
    try {
      response = await fetch(url.href, { method, headers, body, redirect: "manual" });
    } catch {
      return own(200, `${url.host} did not answer: check the URL, and whether the agent runs`);
    }
    const location = response.headers.get("location");
    if (response.status < 300 || response.status >= 400 || location === null) return passed(response, url);
    await response.body?.cancel();
    const next = URL.canParse(location, url.href) ? new URL(location, url) : undefined;
    if (next?.origin !== url.origin) return own(200, `${url.host} redirects to another host, ${next?.origin ?? location}, which is not called: open that URL instead`);
    if (method !== "GET" || redirects === MAX_REDIRECTS) return own(200, `${url.host} redirects ${method === "GET" ? `more than ${MAX_REDIRECTS} times` : `a ${method} to ${next.pathname}`}, which is not followed`);
    url = next;
  }
}

/** The request to forward; a string with the reason if it cannot be read. @param {Request} request @returns {Promise<Forwarded | string>} */
async function read(request) {
  /** @type {any} */
  let wanted;
  try {
    wanted = await request.json();
  } catch {
    return "the body must be JSON";
  }
  const { method, url, headers = [], body = null } = Object(wanted);
  if (!["GET", "POST", "DELETE"].includes(method)) return "`method` must be GET, POST or DELETE";
  if (typeof url !== "string" || !URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) return "`url` must be an absolute URL of http or https";
  if (body !== null && typeof body !== "string") return "`body` must be a text";
  try {
    return { method, url: new URL(url), headers: new Headers(headers), body };
  } catch (error) {
    return `\`headers\` must be a list of pairs of a name and a value: ${error instanceof Error ? error.message : error}`;
  }
}

/** The answer of another server, with headers so that no browser treats it as a page of this server. @param {Response} response @param {URL} url */
function passed(response, url) {
  // The status is 200, since browsers log other statuses as errors of the page.
  const headers = ownHeaders({ "a2a-forwarded": url.href, "a2a-forwarded-status": String(response.status) });
  for (const name of PASSED) {
    const value = response.headers.get(name);
    if (value !== null) headers.set(name, value);
  }
  return new Response(response.body, { headers });
}

/** An answer of the forwarder itself. @param {number} status @param {string} message @param {Record<string, string>} [headers] */
function own(status, message, headers = {}) {
  return Response.json({ message }, { status, headers: ownHeaders(headers) });
}

/** @param {Record<string, string>} more */
function ownHeaders(more) {
  return new Headers({
    "cache-control": "no-store",
    "content-security-policy": "sandbox; default-src 'none'",
    "cross-origin-resource-policy": "same-origin",
    "x-content-type-options": "nosniff",
    ...more,
  });
}
