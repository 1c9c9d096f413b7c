// `POST /_dev/kill` with `{}`: ends this server as a crash would, for the page of the console that shows what becomes of a task then. A Worker cannot
// end its runtime, so the command that serves does (scripts/lib/kill-switch.mjs), and starts it again. The answer comes first: 202, or the reason why not.
import { refusalOf } from "./own-page.js";

/** @param {Request} request @param {{ DEV_KILL_URL?: string }} env @returns {Promise<Response>} */
export async function kill(request, { DEV_KILL_URL: url }) {
  const refused = refusalOf(request, "the server is killed");
  if (refused !== undefined) return told(refused.status, refused.message, refused.headers);
  if (url === undefined) return told(501, "this server was not started by `npm start` or `npm run dev`, which would start it again");
  try {
    const { ok, status } = await fetch(url, { method: "POST" });
    return ok ? told(202, "the server is killed now, and started again") : told(502, `the command that serves answered ${status}`);
  } catch {
    return told(502, "the command that serves does not answer");
  }
}

/** @param {number} status @param {string} message @param {Record<string, string>} [headers] */
function told(status, message, headers = {}) {
  return Response.json(status < 300 ? { message } : { error: { code: status, message } }, { status, headers: { "cache-control": "no-store", "cross-origin-resource-policy": "same-origin", ...headers } });
}
