// Stands between a Worker and a remote agent: it counts what is asked, and stops where a test wants it to.

import { createServer, request, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/**
 * Where an exchange stops: before the agent gets the request, before its caller gets anything of the answer, or behind so many
 * events of a stream. What comes then is lost.
 */
export type Stop = "request" | "answer" | number;

/** A relay that is listening. */
export class Relay {
  /** The operations that were asked for, in order; `card` for the card, and the path for what else is no JSON-RPC. */
  readonly asked: string[] = [];
  /** What was answered, whole, in the order of the ends. */
  readonly answered: { method: string; text: string }[] = [];
  readonly #server: Server;
  readonly #stops: { method: string; at: Stop; reached: () => void }[] = [];

  private constructor(server: Server) {
    this.#server = server;
  }

  /** A relay to the origin that `target` gives. */
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

  /** Stops the next exchange of this method there; done when it has come so far. */
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
    // Who has gone does not hear any more.
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
