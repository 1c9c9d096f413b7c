// Requests of runs: as the platform's `fetch`, with the signal and the trace of the run.
import { millis } from "./durations.js";

/** @typedef {import("./link.js").Link} Link */

/**
 * Sends a request.
 *
 * @param {Link} link @param {string | URL | Request} input @param {import("../index.d.ts").FetchOptions} [init]
 * @returns {Promise<Response>}
 */
export async function request(link, input, init = {}) {
  const { guarded = false, timeout, signal: given, ...rest } = init;
  const url = input instanceof Request ? input.url : String(input);
  const added = JSON.parse(link.call("fetchHeaders", url, guarded));
  const headers = new Headers(rest.headers ?? (input instanceof Request ? input.headers : undefined));
  for (const [name, value] of Object.entries(added)) if (!headers.has(name)) headers.set(name, value);

  const limit = timeout === undefined ? undefined : limitOf(millis(timeout), url);
  const signals = [link.signal, given, limit?.signal, input instanceof Request ? input.signal : undefined];
  const signal = AbortSignal.any(signals.filter((one) => one instanceof AbortSignal));
  try {
    // A redirect might lead to where a guarded request must not go.
    return await fetch(input, { ...rest, ...(guarded ? { redirect: "manual" } : {}), headers, signal });
  } finally {
    limit?.clear();
  }
}

/** A signal that is aborted when no answer has begun after a time. @param {number} ms @param {string} url */
function limitOf(ms, url) {
  const controller = new AbortController();
  const host = URL.canParse(url) ? new URL(url).host : url;
  const timer = setTimeout(() => controller.abort(new Error(`${host} has not answered within ${ms} ms`)), ms);
  return { signal: controller.signal, clear: () => clearTimeout(timer) };
}
