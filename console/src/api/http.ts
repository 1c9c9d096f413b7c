// Requests to this Worker, with what the person has signed in with.
import { applyTo } from "../session/credentials.ts";
import { askToSignIn } from "../session/asking.ts";
import { Problem, problemOf } from "./problem.ts";

/** A request to an agent of this Worker. */
export interface Ask {
  /** The agent's slug: whose credentials go along, and who asks to sign in. */
  agent: string;
  /** Below the origin, with a leading slash. */
  path: string;
  method?: string;
  query?: Readonly<Record<string, string | number | undefined>>;
  headers?: Readonly<Record<string, string | undefined>>;
  /** Sent as JSON. */
  body?: unknown;
  signal?: AbortSignal | undefined;
  /** Whether a 401 is told instead of asked for: for what the person has not asked for itself. */
  isQuiet?: boolean;
}

/** How long an answer may take until its head is there: longer than a blocking send (`BLOCKING_LIMIT_MS`). */
const PATIENCE_MS = 90_000;

/**
 * Sends a request and gives the answer once its head is there; the person is asked to sign in as often as the agent wants it.
 *
 * @throws {Problem} if there is no answer, or a refusal.
 */
export async function send(ask: Ask): Promise<Response> {
  for (;;) {
    const response = await sendOnce(ask);
    if (response.ok) return response;
    const problem = problemOf(response.status, response.headers, await response.text().catch(() => ""), ask.agent);
    const isAsked = response.status === 401 && ask.isQuiet !== true && (await askToSignIn(ask.agent, problem));
    if (!isAsked) throw problem;
  }
}

/**
 * Sends a request and gives the JSON of its answer.
 *
 * @throws {Problem} as `send`, and if the answer is no JSON.
 */
export async function json<Answer>(ask: Ask): Promise<Answer> {
  const response = await send(ask);
  try {
    return (await response.json()) as Answer;
  } catch {
    throw new Problem(`${ask.path} did not answer with JSON.`, { status: response.status });
  }
}

/** The URL and the headers of a request, as they are sent. */
export function prepare({ agent, path, query = {}, headers = {}, body }: Ask): { url: URL; headers: Headers } {
  const url = new URL(path, location.origin);
  for (const [name, value] of Object.entries(query)) if (value !== undefined && value !== "") url.searchParams.set(name, String(value));
  const sent = new Headers({ "a2a-version": "1.0", accept: "application/json" });
  if (body !== undefined) sent.set("content-type", "application/json");
  for (const [name, value] of Object.entries(headers)) if (value !== undefined) sent.set(name, value);
  applyTo(agent, url, sent);
  return { url, headers: sent };
}

async function sendOnce(ask: Ask): Promise<Response> {
  const { url, headers } = prepare(ask);
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(), PATIENCE_MS);
  try {
    return await fetch(url, {
      method: ask.method ?? (ask.body === undefined ? "GET" : "POST"),
      headers,
      ...(ask.body === undefined ? {} : { body: JSON.stringify(ask.body) }),
      credentials: "same-origin",
      cache: "no-store",
      redirect: "error",
      signal: ask.signal === undefined ? late.signal : AbortSignal.any([ask.signal, late.signal]),
    });
  } catch (error) {
    if (ask.signal?.aborted === true) throw error;
    throw new Problem(late.signal.aborted ? "The server did not answer in time." : "The server cannot be reached.");
  } finally {
    clearTimeout(timer);
  }
}
