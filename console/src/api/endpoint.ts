// An agent as an endpoint for the console: called by the methods of A2A 1.0, in this Worker or elsewhere.
import { prepare, send, type Ask } from "./http.ts";
import { Problem, problemOf } from "./problem.ts";
import type { AgentCard, StreamResponse } from "./types.ts";
import { followed, hidden } from "./watched.ts";

/** The options of a call in addition to its parameters. */
export interface CallOptions {
  signal?: AbortSignal | undefined;
  /** For a stream: only events after this one. */
  lastEventId?: string | undefined;
  /** Further headers, for example `act-as`. */
  headers?: Readonly<Record<string, string | undefined>>;
  /** True if a 401 is thrown as a problem; otherwise it opens the sign-in. */
  isQuiet?: boolean;
  /** Called with the request and with every answer and event, as they are sent and received. */
  watch?: ((seen: Seen) => void) | undefined;
}

/** One item of the traffic. Secrets of the sign-in are removed from the headers. */
export type Seen =
  | { kind: "request"; n?: number; at: number; method: string; url: string; headers: [string, string][]; body: string }
  | { kind: "answer"; n?: number; at: number; status: number; body: string; isCut?: boolean }
  | { kind: "event"; at: number; id: string; data: string }
  | { kind: "end"; at: number; error: string | undefined };

/** An event of a task, or the direct answer of an agent, with the event id for resuming a stream. */
export interface TaskEvent {
  id: string;
  response: StreamResponse;
}

/** An agent that can be called. */
export interface Endpoint {
  /** Identifies the agent: the slug of an agent of this Worker, or a URL. */
  readonly key: string;
  /** The first parts of the addresses of its pages, after the name of the page. */
  readonly path: readonly string[];
  /** The card in the form of 1.0. */
  card(options?: CallOptions): Promise<AgentCard>;
  /** Calls a method of A2A 1.0 (or of our extension) and returns its result. @throws {Problem} */
  call<Result>(method: string, params: object, options?: CallOptions): Promise<Result>;
  /** Calls a method with a stream, and yields its events until the stream ends or breaks. @throws {Problem} */
  stream(method: string, params: object, options?: CallOptions): AsyncGenerator<TaskEvent, void>;
}

/** True if the key of an endpoint belongs to an agent elsewhere: it is then a URL, which a slug never resembles. */
export function isElsewhere(key: string): boolean {
  return key.includes("://");
}

/** The agent of this Worker with this slug, called over JSON-RPC. */
export function localEndpoint(slug: string): Endpoint {
  const path = `/${slug}`;
  const ask = (method: string, params: object, options: CallOptions, accept: string): Ask => ({
    agent: slug,
    path,
    headers: { accept, "last-event-id": options.lastEventId, ...options.headers },
    body: { jsonrpc: "2.0", id: 1, method, params },
    signal: options.signal,
    isQuiet: options.isQuiet ?? false,
  });
  return {
    key: slug,
    path: [slug],
    card: (options = {}) => cardOf(slug, options),
    async call<Result>(method: string, params: object, options: CallOptions = {}) {
      const asked = ask(method, params, options, "application/json");
      const response = await watched(asked, options);
      const text = await response.text();
      options.watch?.({ kind: "answer", at: Date.now(), status: response.status, body: text });
      return resultOf(response, text) as Result;
    },
    async *stream(method, params, options = {}) {
      const asked = ask(method, params, options, "text/event-stream");
      const response = await watched(asked, options);
      yield* responsesOf(response, options);
    },
  };
}

/** The events of an answer to a call with a stream. An answer in JSON is a refusal, or one event. @throws {Problem} */
export async function* responsesOf(response: Response, options: CallOptions): AsyncGenerator<TaskEvent, void> {
  if (response.status === 204) {
    // The task has ended, and the caller has received all events.
    options.watch?.({ kind: "answer", at: Date.now(), status: response.status, body: "" });
    return;
  }
  if (!(response.headers.get("content-type") ?? "").startsWith("text/event-stream") || response.body === null) {
    const text = await response.text();
    options.watch?.({ kind: "answer", at: Date.now(), status: response.status, body: text });
    yield { id: "", response: resultOf(response, text) as StreamResponse };
    return;
  }
  options.watch?.({ kind: "answer", at: Date.now(), status: response.status, body: "" });
  yield* followed(response.body, options, (data) => resultOf(response, data) as StreamResponse);
}

/** Sends a request, and reports it to the watcher. */
async function watched(asked: Ask, options: CallOptions): Promise<Response> {
  if (options.watch !== undefined) {
    const { url, headers } = prepare(asked);
    const bare = prepare({ ...asked, agent: "" });
    const shown = [...headers].map(([name, value]): [string, string] => [name, bare.headers.get(name) === value ? value : hidden(name, value)]);
    for (const name of url.searchParams.keys()) if (!bare.url.searchParams.has(name)) url.searchParams.set(name, "…");
    options.watch({ kind: "request", at: Date.now(), method: "POST", url: url.href, headers: shown, body: JSON.stringify(asked.body) });
  }
  try {
    return await send(asked);
  } catch (error) {
    if (error instanceof Problem) options.watch?.({ kind: "end", at: Date.now(), error: error.message });
    throw error;
  }
}

/** The result of an answer of JSON-RPC. @throws {Problem} */
function resultOf(response: Response, text: string): unknown {
  let answer: { result?: unknown; error?: unknown };
  try {
    answer = JSON.parse(text);
  } catch {
    throw new Problem("The agent did not answer with JSON.", { status: response.status });
  }
  if (answer.error !== undefined) throw problemOf(response.status, response.headers, text);
  return answer.result;
}

/** The public card. */
async function cardOf(slug: string, options: CallOptions): Promise<AgentCard> {
  const asked = { agent: slug, path: `/${slug}/.well-known/agent-card.json`, signal: options.signal, isQuiet: true };
  const response = await send(asked);
  return (await response.json()) as AgentCard;
}
