// What agents of a soak ask: a model, a shop that its tool orders from, and an agent behind HTTP. The model and the agent say something
// else each time that they are asked, and misbehave; all of them are killed now and then.

import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { contentOf, type ChatRequest } from "../e2e/model-server.ts";
import { Random, sleep } from "./random.ts";

/** What was asked for one task. */
export interface Asked {
  /** The texts that were given as an answer, whole or not. */
  readonly texts: string[];
  /** What was ordered: by item, the keys, one for each request. */
  readonly orders: Map<string, string[]>;
  /** The keys under which the agent was asked for a turn. */
  readonly turns: Set<string>;
  /** The tasks that it was asked for. */
  readonly tasks: Set<string>;
}

type Fault = "none" | "refused" | "broken" | "cut";

/** How often in a row something goes wrong with the answers for one task. */
const MOST_FAULTS = 2;

export class Others {
  readonly #random: Random;
  readonly #sockets = new Set<Socket>();
  readonly #asked = new Map<string, Asked>();
  readonly #faults = new Map<string, number>();
  #server: Server = createServer();
  #port = 0;
  #nonce = 0;

  private constructor(seed: number) {
    this.#random = new Random(seed ^ 0x7f4a7c15);
  }

  /** Starts them at a free port. */
  static async open(seed: number): Promise<Others> {
    const others = new Others(seed);
    await others.#listen();
    return others;
  }

  /** Their origin. */
  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  /** Kills them, and starts them again. */
  async restart(): Promise<void> {
    await this.close();
    await sleep(this.#random.whole(0, 300));
    await this.#listen();
  }

  async close(): Promise<void> {
    const closed = once(this.#server, "close");
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }

  /** What was asked for the task of this name. */
  asked(name: string): Asked {
    const known = this.#asked.get(name) ?? { texts: [], orders: new Map(), turns: new Set(), tasks: new Set() };
    this.#asked.set(name, known);
    return known;
  }

  forget(name: string): void {
    this.#asked.delete(name);
    this.#faults.delete(name);
  }

  async #listen(): Promise<void> {
    const server = createServer((request, response) => void this.#take(request, response).catch(() => response.destroy()));
    server.on("connection", (socket) => {
      this.#sockets.add(socket);
      socket.on("close", () => this.#sockets.delete(socket));
    });
    server.listen(this.#port, "127.0.0.1");
    await once(server, "listening");
    this.#port = (server.address() as AddressInfo).port;
    this.#server = server;
  }

  async #take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks).toString();
    const path = request.url ?? "/";
    const key = String(request.headers["idempotency-key"] ?? "");
    if (this.#random.chance(0.5)) await sleep(this.#random.whole(0, 30));
    if (path.startsWith("/orders/")) return this.#order(path.slice("/orders/".length), key, response);
    if (path === "/turn") return this.#turn(JSON.parse(body) as Turn, key, response);
    return this.#think(JSON.parse(body) as ChatRequest, response);
  }

  #order(item: string, key: string, response: ServerResponse): void {
    const { orders } = this.asked(item.split("_")[0] ?? "");
    orders.set(item, [...(orders.get(item) ?? []), key]);
    response.end(`${item} is ordered`);
  }

  /** Orders one thing after the other, or two at once, and then tells a text. */
  async #think({ messages }: ChatRequest, response: ServerResponse): Promise<void> {
    const said = messages.filter(({ role }) => role === "user").map(contentOf).at(-1) ?? "";
    const [, name = "", orders = "0"] = said.split(" ");
    const done = messages.filter(({ role }) => role === "tool").length;
    const event = (delta: object, finish: string | null = null) => `data: ${JSON.stringify({ id: "c", model: "m", choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
    const usage = `data: ${JSON.stringify({ id: "c", model: "m", choices: [], usage: { prompt_tokens: this.#random.whole(1, 99), completion_tokens: 7 } })}\n\n`;
    const pieces: string[] = [];
    if (done < Number(orders)) {
      const count = Number(orders) - done > 1 && (done % 3 === 1) ? 2 : 1;
      for (let index = 0; index < count; index += 1) {
        const number = done + index + 1;
        const call = { name: "order", arguments: JSON.stringify({ item: `${name}_${number}` }) };
        pieces.push(event({ tool_calls: [{ index, id: `call_${number}`, type: "function", function: call }] }));
      }
      pieces.push(event({}, "tool_calls"));
    } else {
      pieces.push(...this.#text(name).map((content) => event({ content })), event({}, "stop"));
    }
    await this.#answer(name, response, "text/event-stream", [...pieces, usage, "data: [DONE]\n\n"]);
  }

  /** Tells a text, as an artifact that grows. */
  async #turn({ message, taskId }: Turn, key: string, response: ServerResponse): Promise<void> {
    const [, name = ""] = (message.parts[0]?.text ?? "").split(" ");
    const { turns, tasks } = this.asked(name);
    turns.add(key);
    tasks.add(taskId);
    const [first = "", ...rest] = this.#text(name);
    const verbs = [{ do: "artifact", id: "answer", more: true, text: first }, ...rest.map((text) => ({ do: "append", id: "answer", text })), { do: "complete" }];
    await this.#answer(name, response, "application/x-ndjson", verbs.map((verb) => `${JSON.stringify(verb)}\n`));
  }

  /** A text that nobody else is told, in pieces. */
  #text(name: string): string[] {
    this.#nonce += 1;
    const count = this.#random.whole(1, 12);
    const pieces = Array.from({ length: count }, (_, index) => `<${this.#nonce}: ${index + 1} of ${count}>`);
    this.asked(name).texts.push(pieces.join(""));
    return pieces;
  }

  /** What goes wrong with the next answer: it is refused, or its connection breaks, before it begins or in the middle. */
  #fault(name: string): Fault {
    const faults = this.#faults.get(name) ?? 0;
    const fails = faults < MOST_FAULTS && this.#random.chance(0.3);
    this.#faults.set(name, fails ? faults + 1 : 0);
    return fails ? this.#random.pick(["refused", "broken", "cut", "cut"] as const) : "none";
  }

  async #answer(name: string, response: ServerResponse, type: string, pieces: string[]): Promise<void> {
    const fault = this.#fault(name);
    if (fault === "refused") return void response.writeHead(503, { "content-type": "text/plain" }).end("busy");
    if (fault === "broken") return void response.destroy();
    response.writeHead(200, { "content-type": type });
    const breaksAt = fault === "cut" ? this.#random.whole(1, pieces.length - 1) : Infinity;
    const isSlow = this.#random.chance(0.6);
    for (const [index, piece] of pieces.entries()) {
      if (index >= breaksAt) return void response.destroy();
      if (response.destroyed) return;
      response.write(piece);
      if (isSlow) await sleep(this.#random.whole(0, 40));
    }
    response.end();
  }
}

/** What an agent behind HTTP is told, as far as it counts here. */
interface Turn {
  taskId: string;
  message: { parts: { text?: string }[] };
}
