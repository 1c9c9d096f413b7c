// Requests to this Worker, with the credentials of the sign-in.
import { noteAnswer } from "../session/admitted.ts";
import { applyTo } from "../session/credentials.ts";
import { askToSignIn } from "../session/asking.ts";
import { Problem, problemOf } from "./problem.ts";

/** A request to an agent of this Worker. */
export interface Ask {
  /** The agent's slug: selects the credentials, and the agent of the sign-in. */
  agent: string;
  /** The path below the origin, with a leading slash. */
  path: string;
  method?: string;
  query?: Readonly<Record<string, string | number | undefined>>;
  headers?: Readonly<Record<string, string | undefined>>;
  /** The body, sent as JSON. */
  body?: unknown;
  signal?: AbortSignal | undefined;
  /** True if a 401 is thrown as a problem; otherwise it opens the sign-in. For requests that the person has not started. */
  isQuiet?: boolean;
}

/** The longest wait for the head of an answer: longer than a blocking send (`BLOCKING_LIMIT_MS`). */
const PATIENCE_MS = 90_000;

/**
 * Sends a request and returns the answer as soon as its head has arrived. The sign-in is opened each time the agent requires
 * it.
 *
 * @throws {Problem} if there is no answer, or a refusal.
 */
export async function send(ask: Ask): Promise<Response> {
  for (;;) {
    const response = await sendOnce(ask);
    noteAnswer(ask.agent, ask.path, response.status);
    if (response.ok) return response;
    const problem = problemOf(response.status, response.headers, await response.text().catch(() => ""), ask.agent);
    const isAsked = response.status === 401 && ask.isQuiet !== true && (await askToSignIn(ask.agent, problem));
    if (!isAsked) throw problem;
  }
}

/**
 * Sends a request and returns the JSON of its answer.
 *
 * @throws {Problem} like `send`, and if the answer is not JSON.
 */
export async function json<Answer>(ask: Ask): Promise<Answer> {
  const response = await send(ask);
  try {
    return (await response.json()) as Answer;
  } catch {
    throw new Problem(`${ask.path} did not answer with JSON.`, { status: response.status });
  }
}

/** The URL and the headers of a request with credentials. */
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
