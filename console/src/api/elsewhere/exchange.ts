// One exchange with an agent elsewhere: a request and its answer of limited size, both reported to the watcher.
import { isObject } from "../card.ts";
import type { CallOptions } from "../endpoint.ts";
import { jsonIn } from "../json-in.ts";
import { Problem, problemOf, UNEXPECTED } from "../problem.ts";
import { hidden } from "../watched.ts";
import type { Transport } from "./transport.ts";

/** The largest size of an answer without a stream, in bytes. */
export const MAX_BYTES = 10 * 1024 * 1024;

/** The longest wait for the head of an answer: longer than servers block a send. */
const PATIENCE_MS = 90_000;

/** A request of one exchange. */
export interface Asked {
  method: string;
  url: string;
  headers: readonly [name: string, value: string | undefined][];
  body?: string | undefined;
}

/** The data that every exchange with one agent needs. */
export interface Line {
  /** The URL with which the person has opened the agent. */
  agent: string;
  transport: Transport;
  /** The headers that the person has set for the origin of the agent. */
  given: readonly [name: string, value: string][];
}

/** The text of an answer, with its status and headers. */
export interface Answered {
  status: number;
  headers: Headers;
  text: string;
  /** The URL that answered, after redirects. */
  url: string;
}

/** Sends a request and returns the answer as soon as its head has arrived. @throws {Problem} */
export async function open({ transport, given }: Line, { method, url, headers, body }: Asked, options: CallOptions): Promise<Response> {
  const own = headers.filter((header): header is [string, string] => header[1] !== undefined);
  const shown = [...own, ...given.map(([name, value]): [string, string] => [name.toLowerCase(), hidden(name, value)])];
  const [place] = url.split("?");
  options.watch?.({ kind: "request", at: Date.now(), method, url: place ?? url, headers: shown, body: body ?? "" });
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(), PATIENCE_MS);
  const signal = options.signal === undefined ? late.signal : AbortSignal.any([options.signal, late.signal]);
  try {
    return await transport({ method, url, headers: [...own, ...given], body, hasSecrets: given.length > 0, signal });
  } catch (error) {
    if (options.signal?.aborted === true) throw error;
    const problem = error instanceof Problem ? error : new Problem(late.signal.aborted ? `${new URL(url).host} did not answer in time.` : String(error));
    options.watch?.({ kind: "end", at: Date.now(), error: problem.message });
    throw problem;
  } finally {
    clearTimeout(timer);
  }
}

/** Reads a whole answer. @throws {Problem} if it has more than `maxBytes`. */
export async function whole(response: Response, url: string, options: CallOptions, maxBytes = MAX_BYTES): Promise<Answered> {
  const { status, headers } = response;
  let text: string;
  try {
    text = response.body === null ? "" : await new Response(response.body.pipeThrough(atMost(maxBytes))).text();
  } catch (error) {
    if (options.signal?.aborted === true) throw error;
    const message = `${new URL(url).host} ${error instanceof RangeError ? `sent more than ${maxBytes} bytes` : "broke off its answer"}.`;
    options.watch?.({ kind: "end", at: Date.now(), error: message });
    throw new Problem(message, { status, reason: UNEXPECTED });
  }
  options.watch?.({ kind: "answer", at: Date.now(), status, body: text });
  // The forwarder sends the URL in a header; for a direct answer, the browser reports it.
  return { status, headers, text, url: headers.get("a2a-forwarded") ?? (response.url === "" ? url : response.url) };
}

/** The problem for an error of A2A; for any other answer, a problem with the reason that it does not follow A2A. */
export function problemIn({ agent }: Line, { status, headers, text, url }: Answered): Problem {
  const told = problemOf(status, headers, withError(text), agent);
  const code = told.code !== undefined && told.code < 0 ? told.code : CODES[told.reason ?? ""];
  if (code !== undefined || told.reason !== undefined) return new Problem(told.message, { ...told, code });
  const begins = text.replace(/\s+/g, " ").trim().slice(0, 80);
  const host = new URL(url).host;
  if (status >= 400) return new Problem(`${host} answered ${status}.`, { ...told, code });
  return new Problem(`${host} did not answer as an agent of A2A: its answer begins with ${JSON.stringify(begins)}.`, { ...told, code, reason: UNEXPECTED });
}

/** The codes of JSON-RPC for the reasons of HTTP+JSON (spec §5.4), as far as the console distinguishes them. */
const CODES: Record<string, number> = {
  TASK_NOT_FOUND: -32001,
  TASK_NOT_CANCELABLE: -32002,
  PUSH_NOTIFICATION_NOT_SUPPORTED: -32003,
  UNSUPPORTED_OPERATION: -32004,
  CONTENT_TYPE_NOT_SUPPORTED: -32005,
  EXTENDED_AGENT_CARD_NOT_CONFIGURED: -32007,
  INVALID_PARAMS: -32602,
};

/** An error of HTTP+JSON of A2A 0.3, which has no member `error`, in the form of 1.0. */
function withError(text: string): string {
  const body = jsonIn(text);
  const isBare = isObject(body) && !("error" in body) && "message" in body && ("code" in body || "type" in body);
  return isBare ? JSON.stringify({ error: body }) : text;
}

function atMost(maxBytes: number): TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>> {
  let bytes = 0;
  return new TransformStream({
    transform(piece, controller) {
      bytes += piece.byteLength;
      if (bytes > maxBytes) controller.error(new RangeError("too many bytes"));
      else controller.enqueue(piece);
    },
  });
}
