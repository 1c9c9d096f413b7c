// A relay between a Worker and a remote agent: it records requests, and stops exchanges where a test wants.

import { createServer, request, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/**
 * The point at which an exchange stops: before the agent receives the request, before its caller receives anything of the
 * answer, or after this number of events of a stream. The rest is lost.
 */
export type Stop = "request" | "answer" | number;

/** A running relay. */
export class Relay {
  /** The called operations, in order; `card` for the card, and the path for other requests that are not JSON-RPC. */
  readonly asked: string[] = [];
  /** The complete answers, in the order of their ends. */
  readonly answered: { method: string; text: string }[] = [];
  readonly #server: Server;
  readonly #stops: { method: string; at: Stop; reached: () => void }[] = [];

  private constructor(server: Server) {
    this.#server = server;
  }

  /** A relay to the origin that `target` returns. */
  static async open(target: () => string): Promise<Relay> {
    const server = createServer();
    const relay = new Relay(server);
    server.on("request", (incoming: IncomingMessage, response: ServerResponse) => {
      relay.#pass(target(), incoming, response).catch(() => response.destroy());
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    return relay;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  count(method: string): number {
    return this.asked.filter((known) => known === method).length;
  }

  /** Stops the next exchange of this method at this point; resolves when it has reached the point. */
  stop(method: string, at: Stop): Promise<void> {
    return new Promise((reached) => this.#stops.push({ method, at, reached }));
  }

  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  async #pass(target: string, incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await textOf(incoming);
    const path = incoming.url ?? "/";
    const method = path.includes("/.well-known/") ? "card" : ((body === "" ? {} : JSON.parse(body)) as { method?: string }).method ?? path;
    this.asked.push(method);
    const planned = this.#stops.findIndex((stop) => stop.method === method);
    const [stop] = planned < 0 ? [] : this.#stops.splice(planned, 1);
    if (stop?.at === "request") return stop.reached();
    const { host: _, ...headers } = incoming.headers;
    const sent = request(target + path, { method: incoming.method, headers, agent: false }, (answer) => {
      const hold = typeof stop?.at === "number" ? stop.at : Infinity;
      let events = 0;
      let text = "";
      if (stop?.at !== "answer") response.writeHead(answer.statusCode ?? 500, answer.headers);
      answer.on("data", (chunk: Buffer) => {
        text += chunk.toString();
        if (stop?.at === "answer") return stop.reached();
        for (const event of chunk.toString().split(/(?<=\n\n)/)) {
          if (events < hold) response.write(event);
          if (event.includes("data:")) events += 1;
          if (events === hold) stop?.reached();
        }
      });
      answer.on("end", () => {
        this.answered.push({ method, text });
        if (stop === undefined) response.end();
      });
      answer.on("error", () => response.destroy());
    });
    // If the caller has disconnected, the request to the agent is aborted.
    response.on("close", () => sent.destroy());
    sent.on("error", () => response.destroy());
    sent.end(body);
  }
}

async function textOf(incoming: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}
