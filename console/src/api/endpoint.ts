// An agent as the console calls it: by the methods of A2A 1.0, wherever it is.
import { eventsOf } from "./events.ts";
import { prepare, send, type Ask } from "./http.ts";
import { Problem, problemOf } from "./problem.ts";
import type { AgentCard, StreamResponse } from "./types.ts";

/** What a call may be told besides its parameters. */
export interface CallOptions {
  signal?: AbortSignal | undefined;
  /** For a stream: only what is behind this event. */
  lastEventId?: string | undefined;
  /** Further headers, as `act-as`. */
  headers?: Readonly<Record<string, string | undefined>>;
  /** Whether a 401 is told instead of asked for. */
  isQuiet?: boolean;
  /** Is told of the request and of all that answers it, as it goes over the wire. */
  watch?: ((seen: Seen) => void) | undefined;
}

/** What went over the wire. Secrets that the person signed in with are left out of the headers. */
export type Seen =
  | { kind: "request"; n?: number; at: number; method: string; url: string; headers: [string, string][]; body: string }
  | { kind: "answer"; n?: number; at: number; status: number; body: string; isCut?: boolean }
  | { kind: "event"; at: number; id: string; data: string }
  | { kind: "end"; at: number; error: string | undefined };

/** An event of a task, or the direct answer of an agent, with the id from which a stream goes on. */
export interface TaskEvent {
  id: string;
  response: StreamResponse;
}

/** An agent that can be called. */
export interface Endpoint {
  /** Tells agents apart: the slug of one of this Worker, or a URL. */
  readonly key: string;
  /** The first parts of the addresses of its pages, as `["chat", "demo"]` without the name of the page. */
  readonly path: readonly string[];
  /** Its card in 1.0. */
  card(options?: CallOptions): Promise<AgentCard>;
  /** Calls a method of A2A 1.0 (or of our extension) and gives its result. @throws {Problem} */
  call<Result>(method: string, params: object, options?: CallOptions): Promise<Result>;
  /** Calls a method that streams, and gives what comes until the stream ends or breaks. @throws {Problem} */
  stream(method: string, params: object, options?: CallOptions): AsyncGenerator<TaskEvent, void>;
}

/** Whether the key of an endpoint is that of an agent elsewhere: its URL, as which no slug looks. */
export function isElsewhere(key: string): boolean {
  return key.includes("://");
}

/** The agent of this slug in this Worker, over JSON-RPC. */
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

/** The events of an answer that streams. An answer in JSON is a refusal, or one event. @throws {Problem} */
export async function* responsesOf(response: Response, options: CallOptions): AsyncGenerator<TaskEvent, void> {
  if (response.status === 204) {
    // The task has ended, and the caller has all of it.
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

/** The events of a stream until it ends, each read by `read`; the watcher is told of each and of the end. @throws {Problem} */
export async function* followed(
  body: ReadableStream<Uint8Array<ArrayBuffer>>,
  options: CallOptions,
  read: (data: string) => StreamResponse,
): AsyncGenerator<TaskEvent, void> {
  let error: string | undefined;
  try {
    for await (const { id, data } of eventsOf(body)) {
      options.watch?.({ kind: "event", at: Date.now(), id, data });
      yield { id, response: read(data) };
    }
  } catch (thrown) {
    error = thrown instanceof Error ? thrown.message : String(thrown);
    if (thrown instanceof Problem || options.signal?.aborted === true) throw thrown;
    throw new Problem("The stream broke.");
  } finally {
    options.watch?.({ kind: "end", at: Date.now(), error });
  }
}

/** Sends, and tells of the request. */
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

/** What is shown of a header with a secret: of `Authorization` its scheme. */
export function hidden(name: string, value: string): string {
  const [, scheme] = (name.toLowerCase() === "authorization" && /^([A-Za-z-]+) ./.exec(value)) || [];
  return scheme === undefined ? "…" : `${scheme} …`;
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
