// What the Worker that is served says of agents whose executor it cannot make: a kind that nobody registers, a table that does not
// fit. The build cannot know it, since it does not run the Worker.
import { Stop } from "./ui.mjs";

/** Where the Worker lists its agents; in development with the reasons. */
const LIST = "/console/api/agents";

const TIMEOUT_MS = 10_000;

/** The agents that cannot be served, each with the reason. None where the Worker does not tell. */
async function unservable(url, signal) {
  const asking = new AbortController();
  const stop = () => asking.abort();
  const timer = setTimeout(stop, TIMEOUT_MS);
  signal?.addEventListener("abort", stop);
  try {
    const answer = await fetch(new URL(LIST, url), { signal: asking.signal });
    const { agents } = await answer.json();
    return agents.filter(({ health }) => health?.part === "executor").map(({ slug, health }) => ({ slug, reason: health.reason }));
  } catch {
    return [];
  } finally {
    clearTimeout(timer);
  }
}

/** What is to be said about them; undefined if there are none. */
export async function toldUnservable(url, signal) {
  const found = await unservable(url, signal);
  if (found.length === 0) return undefined;
  const lines = found.map(({ slug, reason }) => `    ${slug}: ${reason}`).join("\n");
  return `\nThe Worker cannot make the executors of these agents, which refuse every message:\n\n${lines}\n`;
}

/** Ends the command if there are some. */
export async function stopIfUnservable(url) {
  const told = await toldUnservable(url);
  if (told !== undefined) throw new Stop(told.trim());
}

/** Whether a line of wrangler tells of the request by which this is asked. */
export const tellsOfAsking = (line) => line.includes(`GET ${LIST} `);
