// Routes of development that act for a page: only a page of this server on this machine may use them, or a program of this machine.

/**
 * The refusal of a request that is no POST of JSON by such a page; undefined if it is one. `what` is the refused thing, for the message.
 *
 * @param {Request} request @param {string} what
 * @returns {{ status: number, message: string, headers?: Record<string, string> } | undefined}
 */
export function refusalOf(request, what) {
  const { hostname, origin } = new URL(request.url);
  if (request.method !== "POST") return { status: 405, message: "send POST", headers: { allow: "POST" } };
  const page = request.headers.get("origin");
  const site = request.headers.get("sec-fetch-site");
  const isOwn = (page === null || page === origin) && (site === null || site === "same-origin");
  // A page of another site can point its own host name at this machine, but cannot use a host name of this machine.
  const isLocal = /^(localhost|.*\.localhost|127(\.\d+){3}|\[::1\])$/.test(hostname);
  if (!isOwn || !isLocal) return { status: 403, message: `${what} for pages of this server on this machine only: open the console at http://localhost` };
  const isJson = /^application\/json\s*(;|$)/i.test(request.headers.get("content-type") ?? "");
  return isJson ? undefined : { status: 415, message: "send Content-Type: application/json" };
}
