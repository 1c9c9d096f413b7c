// A local HTTP server for the calls of agents and webhooks. It keeps every request, by path, and the test defines when and
// how each one is answered: see `Deed`.

import { createServer, type IncomingHttpHeaders, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** An answer; by default status 200 with the body `ok`. */
export interface Answer {
  status?: number;
  headers?: Record<string, string>;
  body?: string;
}

/** The reaction to a request: an answer at once, no answer until the test sends one, or a broken connection. */
export type Deed = Answer | "hold" | "drop";

/** A received request. */
export class Arrival {
  readonly path: string;
  readonly method: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  readonly #response: ServerResponse;

  constructor(request: IncomingMessage, body: string, response: ServerResponse) {
    this.path = request.url ?? "/";
    this.method = request.method ?? "";
    this.headers = request.headers;
    this.body = body;
    this.#response = response;
  }

  /** The body as JSON. */
  json<Value>(): Value {
    return JSON.parse(this.body) as Value;
  }

  /**
   * Answers a held request; resolves when the answer has left this process. Does nothing if the caller has disconnected.
   */
  answer({ status = 200, headers = {}, body = "ok" }: Answer = {}): Promise<void> {
    if (this.#response.destroyed || this.#response.headersSent) return Promise.resolve();
    return new Promise((resolve) => {
      this.#response.once("close", resolve).writeHead(status, { "content-type": "text/plain", ...headers }).end(body, () => resolve());
    });
  }

  /**
   * Sends a piece of the body of an answer with status 200, and leaves the answer open; resolves when the piece has left.
   */
  piece(text: string, headers: Record<string, string> = {}): Promise<void> {
    if (!this.#response.headersSent) this.#response.writeHead(200, { "content-type": "text/plain", ...headers });
    return new Promise((resolve) => {
      this.#response.once("close", resolve).write(text, () => resolve());
    });
  }

  /** Breaks the connection without an answer. */
  drop(): void {
    this.#response.destroy();
  }
}

/** A running server. */
export class Sink {
  /** The origin of the server, without a trailing slash. */
  readonly url: string;
  /** The reaction to requests without a plan. */
  otherwise: (arrival: Arrival) => Deed | Promise<Deed> = () => ({});
  readonly #server: Server;
  /** By the first segment of their paths, since a long test has very many requests. */
  readonly #arrivals = new Map<string, Arrival[]>();
  readonly #plans = new Map<string, Deed[]>();
  readonly #waiting = new Set<() => void>();

  private constructor(server: Server) {
    this.#server = server;
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    server.on("request", (request, response) => void this.#take(request, response));
  }

  /** Starts a server on a free port. */
  static open(): Promise<Sink> {
    const server = createServer();
    return new Promise((resolve) => {
      server.listen(0, "127.0.0.1", () => resolve(new Sink(server)));
    });
  }

  /** Plans the reactions to the next requests to exactly this path, in order; `otherwise` handles all others. */
  plan(path: string, ...deeds: Deed[]): void {
    this.#plans.set(path, deeds);
  }

  /** Deletes every plan. Held requests stay held. */
  forgetPlans(): void {
    this.#plans.clear();
  }

  /** The requests to this path and those below it, oldest first. */
  arrivals(path: string): Arrival[] {
    return this.#near(path).filter((arrival) => arrival.path === path || arrival.path.startsWith(`${path}/`));
  }

  /** The number of requests to exactly this path. */
  count(path: string): number {
    return this.#near(path).filter((arrival) => arrival.path === path).length;
  }

  /** Deletes the requests to all paths with the first segment of this one. */
  forget(path: string): void {
    this.#arrivals.delete(segmentOf(path));
  }

  /** Waits for the request number `nth`, counted from 1, to exactly this path. */
  async arrival(path: string, nth = 1): Promise<Arrival> {
    const deadline = Date.now() + 40_000;
    for (;;) {
      const found = this.#near(path).filter((arrival) => arrival.path === path)[nth - 1];
      if (found !== undefined) return found;
      if (Date.now() > deadline) throw new Error(`request ${nth} to ${path} did not come`);
      await this.#change(deadline);
    }
  }

  /** Waits for the next request to any path, at most this long. */
  next(milliseconds: number): Promise<void> {
    return this.#change(Date.now() + milliseconds);
  }

  /** Breaks every connection and stops listening. */
  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  async #take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let body = "";
    try {
      for await (const chunk of request.setEncoding("utf8")) body += chunk as string;
    } catch {
      // The caller disconnected before the request was complete; it does not count.
      return;
    }
    const arrival = new Arrival(request, body, response);
    this.#near(arrival.path).push(arrival);
    for (const tell of [...this.#waiting]) tell();
    const deed = this.#plans.get(arrival.path)?.shift() ?? (await this.otherwise(arrival));
    if (deed === "drop") arrival.drop();
    else if (deed !== "hold") await arrival.answer(deed);
  }

  #near(path: string): Arrival[] {
    const segment = segmentOf(path);
    const known = this.#arrivals.get(segment) ?? [];
    this.#arrivals.set(segment, known);
    return known;
  }

  #change(deadline: number): Promise<void> {
    return new Promise((resolve) => {
      const tell = () => {
        clearTimeout(timer);
        this.#waiting.delete(tell);
        resolve();
      };
      const timer = setTimeout(tell, Math.max(0, deadline - Date.now()) + 1);
      this.#waiting.add(tell);
    });
  }
}

const segmentOf = (path: string): string => path.split("/", 2)[1] ?? "";
