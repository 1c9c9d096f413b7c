// Requests over either binding (ACTS §4.1, §4.2, §4.4, §12.4), without a client library: tests look at what such a library hides.
import { randomUUID } from "node:crypto";
import { isMap, type Members, type RawStep } from "./document.ts";
import { OPERATIONS, fillPath, requestOf, restError, rpcError, type WireError } from "./wire.ts";

/** What an agent has answered. */
export interface Answer {
  status: number;
  headers: Headers;
  /** The body as it came: JSON, or the text where it is none. */
  raw: unknown;
  /** The object of A2A, without what a binding puts around it (ACTS §4.2). */
  root: unknown;
  error: WireError | undefined;
  /** The events of a stream, as `raw` and `root` are; undefined where the answer is no stream. */
  events: Event[] | undefined;
}

export interface Event {
  raw: unknown;
  root: unknown;
}

/** How long a stream is read, and how much of it. */
export interface Reading {
  timeoutMs: number;
  maxCount: number;
  /** Called with each event as it comes; the stream is left if it answers "leave". */
  onEvent?: (event: Event) => unknown;
}

/** An agent under test over one binding. */
export class Transport {
  /** The URL that everything is below. */
  readonly base: string;
  readonly binding: "jsonrpc" | "rest";
  readonly #version: string;
  readonly #headers: Record<string, string>;

  /** `headers` go along with operations, not with raw requests. */
  constructor(base: string, binding: "jsonrpc" | "rest", version: string, headers: Record<string, string> = {}) {
    [this.base, this.binding, this.#version, this.#headers] = [base, binding, version, headers];
  }

  /** The same agent, asked with other headers. */
  with(headers: Record<string, string>): Transport {
    return new Transport(this.base, this.binding, this.#version, headers);
  }

  /** Calls an operation. */
  call(abstract: string, given: Members, reading?: Reading): Promise<Answer> {
    const { operation, params } = requestOf(abstract, given);
    const { method, verb, path, streams } = OPERATIONS[operation] ?? { verb: "GET" as const, path: "/" };
    const accept = streams === true ? "text/event-stream" : this.binding === "rest" ? "application/a2a+json" : "application/json";
    const headers = { accept, "a2a-version": this.#version, ...this.#headers };
    if (method !== undefined && this.binding === "jsonrpc") {
      const body = JSON.stringify({ jsonrpc: "2.0", id: randomUUID(), method, params });
      return this.#ask(this.base, { method: "POST", headers: { ...headers, "content-type": "application/json" }, body }, reading);
    }
    const { path: filled, rest } = fillPath(path, params);
    const query = new URLSearchParams(Object.entries(rest).map(([name, value]): [string, string] => [name, String(value)])).toString();
    const url = `${this.base}${filled}${verb === "POST" || query === "" ? "" : `?${query}`}`;
    const sent = verb === "POST" ? { headers: { ...headers, "content-type": "application/a2a+json" }, body: JSON.stringify(rest) } : { headers };
    return this.#ask(url, { method: verb, ...sent }, reading, method !== undefined);
  }

  /** Makes a request exactly as it is written. */
  raw({ method, path, headers, body, body_raw }: RawStep["raw"], reading?: Reading): Promise<Answer> {
    const text = body_raw ?? (body === undefined ? null : JSON.stringify(body));
    return this.#ask(`${this.base}${path}`, { method, headers: headers ?? {}, body: text }, reading);
  }

  async #ask(url: string, init: RequestInit, reading: Reading = { timeoutMs: 60_000, maxCount: Infinity }, isOfBinding = true): Promise<Answer> {
    const ends = new AbortController();
    const timer = setTimeout(() => ends.abort(), reading.timeoutMs);
    try {
      const response = await fetch(url, { ...init, signal: ends.signal, redirect: "manual" });
      const { status, headers } = response;
      if (/^text\/event-stream\b/.test(headers.get("content-type") ?? "")) {
        const events = await readEvents(response, reading, (raw) => this.#rootOf(raw));
        return { status, headers, raw: undefined, root: undefined, error: undefined, events };
      }
      const text = await response.text();
      const raw = jsonOf(text);
      return { status, headers, raw, root: this.#rootOf(raw), error: this.#errorOf(status, raw, isOfBinding), events: undefined };
    } finally {
      clearTimeout(timer);
      ends.abort();
    }
  }

  #rootOf(raw: unknown): unknown {
    return this.binding === "jsonrpc" && isMap(raw) && "jsonrpc" in raw ? raw["result"] : raw;
  }

  #errorOf(status: number, raw: unknown, isOfBinding: boolean): WireError | undefined {
    if (this.binding === "jsonrpc" && isOfBinding && isMap(raw) && isMap(raw["error"])) return rpcError(raw["error"]);
    return status >= 400 ? restError(status, raw) : undefined;
  }
}

async function readEvents(response: Response, { maxCount, onEvent }: Reading, rootOf: (raw: unknown) => unknown): Promise<Event[]> {
  const events: Event[] = [];
  let rest = "";
  try {
    for await (const piece of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      rest += piece;
      const blocks = rest.split(/\r?\n\r?\n/);
      rest = blocks.pop() ?? "";
      for (const block of blocks) {
        const data = block.split(/\r?\n/).flatMap((line) => (line.startsWith("data:") ? [line.slice(5).replace(/^ /, "")] : []));
        if (data.length === 0) continue;
        const raw = jsonOf(data.join("\n"));
        const event = { raw, root: rootOf(raw) };
        events.push(event);
        if (onEvent?.(event) === "leave" || events.length >= maxCount) return events;
      }
    }
  } catch (error) {
    // The time is over: what came until then counts.
    if (!(error instanceof DOMException && error.name === "AbortError")) throw error;
  }
  return events;
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
