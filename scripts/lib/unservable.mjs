// The agents whose executor the served Worker cannot create: a kind that is not registered, or a table that does not fit. The
// build cannot detect this, since it does not run the Worker.
import { Stop } from "./ui.mjs";

/** The route with the agents that cannot be served, for the token of the start. */
const AGENTS = "/_dev/agents";

const TIMEOUT_MS = 10_000;

/** The agents that cannot be served, each with the reason. Empty if the Worker does not answer. */
async function unservable(url, token, signal) {
  const asking = new AbortController();
  const stop = () => asking.abort();
  const timer = setTimeout(stop, TIMEOUT_MS);
  signal?.addEventListener("abort", stop);
  try {
    const answer = await fetch(new URL(AGENTS, url), { headers: { authorization: `Bearer ${token}` }, signal: asking.signal });
    const { unusable } = await answer.json();
    return unusable;
  } catch {
    return [];
  } finally {
    clearTimeout(timer);
  }
}

/** The message about such agents; undefined if there are none. */
export async function toldUnservable(url, token, signal) {
  const found = await unservable(url, token, signal);
  if (found.length === 0) return undefined;
  const lines = found.map(({ slug, reason }) => `    ${slug}: ${reason}`).join("\n");
  return `\nThe Worker cannot make the executors of these agents, which refuse every message:\n\n${lines}\n`;
}

/** Ends the command if there are such agents. */
export async function stopIfUnservable(url, token) {
  const told = await toldUnservable(url, token);
  if (told !== undefined) throw new Stop(told.trim());
}

/** True if a line of wrangler's log is about the request for this check. */
export const tellsOfAsking = (line) => line.includes(`GET ${LIST} `);
