// The Worker in development, by its route `/_dev/agents`: what its module registers, which agents it cannot serve, and agents that it is given.
import { randomBytes } from "node:crypto";
import { Stop } from "./ui.mjs";

const PATH = "/_dev/agents";
const RESUME = "/_dev/resume";

const TIMEOUT_MS = 10_000;

/** A token for one start of the Worker: nobody else on this machine may give it agents. */
export const devToken = () => randomBytes(24).toString("hex");

/**
 * What the Worker at `url` tells: `{ unusable: [{ slug, reason }], tools: [{ name, needs }], kinds }`; undefined if it does not answer with that, as
 * a Worker whose code fails at its start.
 */
export async function askWorker(url, token, signal) {
  try {
    const answer = await call(url, token, { signal });
    const told = await answer.json();
    return answer.ok && Array.isArray(told.unusable) ? told : undefined;
  } catch {
    return undefined;
  }
}

/** Gives the Worker checked agents. Returns undefined if it serves them from the next request on, or the reason why not. */
export async function giveAgents(url, token, agents, signal) {
  try {
    const answer = await call(url, token, { method: "PUT", body: JSON.stringify(agents), signal });
    const text = await answer.text();
    return answer.ok ? undefined : `it answered ${answer.status}: ${text.trim()}`;
  } catch (error) {
    return `it does not answer: ${error.cause?.code ?? error.cause?.message ?? error.message}`;
  }
}

/**
 * Has the tasks under way go on whose runs have ended with the Worker before: each is opened. Otherwise they would resume at the next request for them,
 * or up to half a minute later. A Worker that does not answer resumes them by itself.
 */
export async function resumeTasks(url, token, signal) {
  try {
    await call(url, token, { method: "POST", path: RESUME, signal });
  } catch {
    // The Worker has ended meanwhile, or its code fails.
  }
}

function call(url, token, { path = PATH, signal, ...init } = {}) {
  const signals = [AbortSignal.timeout(TIMEOUT_MS), ...(signal === undefined ? [] : [signal])];
  return fetch(new URL(path, url), { ...init, headers: { authorization: `Bearer ${token}` }, signal: AbortSignal.any(signals) });
}

/** The message about agents that cannot be served; undefined if there are none. */
export function toldUnusable({ unusable }) {
  if (unusable.length === 0) return undefined;
  const lines = unusable.map(({ slug, reason }) => `    ${slug}: ${reason}`).join("\n");
  return `These agents refuse every message, since the Worker cannot serve them:\n\n${lines}`;
}

/** Ends the command if there are such agents, or if the Worker does not tell; returns what it has told. */
export async function stopIfUnusable(url, token) {
  const told = await askWorker(url, token);
  if (told === undefined) throw new Stop("The Worker does not say which agents it can serve: its code fails. `start` shows what it logs.");
  const text = toldUnusable(told);
  if (text !== undefined) throw new Stop(text);
  return told;
}

/** True if a line of wrangler's log is about a request of this module. */
export const tellsOfAsking = (line) => / (?:(?:GET|PUT) \/_dev\/agents|POST \/_dev\/resume) /.test(` ${line} `);
