// Sends requests to agents elsewhere: from the browser, or through the forwarder of `npm start`.
import { Problem } from "../problem.ts";

/** A request to an agent elsewhere, with all its data. */
export interface Outgoing {
  method: string;
  url: string;
  headers: [name: string, value: string][];
  body: string | undefined;
  /** True if a header contains a secret of the person: such a request follows no redirect. */
  hasSecrets: boolean;
  signal: AbortSignal;
}

/** Sends a request and returns the answer, whatever its status. @throws {Problem} if there is none. */
export type Transport = (outgoing: Outgoing) => Promise<Response>;

/** The path of the forwarder (`dev/forward.js`). */
const FORWARDER = "/_dev/forward";

/** Sends requests directly from the browser: the agent must allow pages of other origins to read its answers (CORS). */
export const direct: Transport = async ({ method, url, headers, body, hasSecrets, signal }) => {
  try {
    return await fetch(url, {
      method,
      headers,
      body: body ?? null,
      mode: "cors",
      credentials: "omit",
      cache: "no-store",
      referrerPolicy: "no-referrer",
      redirect: hasSecrets || method !== "GET" ? "error" : "follow",
      signal,
    });
  } catch (error) {
    if (signal.aborted) throw error;
    throw new Problem(
      `${new URL(url).host} did not answer, or it does not let pages of other origins read its answers (CORS). The agent can allow that by Access-Control-Allow-Origin; the console of npm start opens agents without it.`,
    );
  }
};

/** Through the forwarder of `npm start`, to which CORS does not apply. */
export const forwarded: Transport = async ({ method, url, headers, body, signal }) => {
  let response: Response;
  try {
    response = await fetch(FORWARDER, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ method, url, headers, body }),
      credentials: "same-origin",
      cache: "no-store",
      redirect: "error",
      signal,
    });
  } catch (error) {
    if (signal.aborted) throw error;
    throw new Problem("npm start, which forwards requests to agents elsewhere, cannot be reached.");
  }
  const status = Number(response.headers.get("a2a-forwarded-status"));
  if (status > 0) return new Response([204, 205, 304].includes(status) ? null : response.body, { status, headers: response.headers });
  const { message } = (await response.json().catch(() => ({}))) as { message?: string };
  // 200: the agent did not answer. Other statuses: the forwarder refused the request.
  throw new Problem(message ?? `The forwarder of npm start answered ${response.status}.`, { status: response.ok ? 0 : response.status });
};
