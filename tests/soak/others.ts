// What agents of a soak ask: a model, a shop that tools order from, and an agent behind HTTP. The model and the agent say something
// else each time that they are asked, and misbehave; all of them are killed now and then.

import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { contentOf, type ChatRequest } from "../e2e/model-server.ts";
import { deedsOf, resultsOf } from "./plan.ts";
import { Random, sleep } from "./random.ts";

/** What was asked for one task. */
export interface Asked {
  /** The texts that were given as an answer, whole or not. */
  readonly texts: string[];
  /** What was ordered: by item, the keys, one for each request. */
  readonly orders: Map<string, string[]>;
  /** The keys under which the agent was asked for a turn, by the number of the turn. */
  readonly turns: Map<number, Set<string>>;
  /** The tasks that it was asked for. */
  readonly tasks: Set<string>;
  /** How often the model was asked. */
  requests: number;
  /** What the answers of the model cost, by their numbers. */
  readonly costs: Map<number, { inputTokens: number; outputTokens: number }>;
  /** Whether an answer that was whole broke off before it told its cost, which is estimated then. */
  isEstimated: boolean;
  /** The numbers of those that a later request went on from. */
  readonly taken: Set<number>;
  /** What the model was told last of each of its calls, by their places in the plan. */
  readonly told: Map<string, string>;
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
    const nothing = (): Asked => ({
      texts: [], orders: new Map(), turns: new Map(), tasks: new Set(), requests: 0, costs: new Map(), isEstimated: false, taken: new Set(), told: new Map(),
    });
    const known = this.#asked.get(name) ?? nothing();
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

  /** Does what is next of the plan that the task was told: makes a call or two, or tells a text. */
  async #think({ messages, tools = [] }: ChatRequest, response: ServerResponse): Promise<void> {
    const said = messages.filter(({ role }) => role === "user").map(contentOf).at(-1) ?? "";
    const [name = "", ...plan] = said.split(" ");
    this.#nonce += 1;
    const nonce = this.#nonce;
    const asked = this.asked(name);
    asked.requests += 1;
    const results = resultsOf(messages);
    for (const { nonce, place, text } of results) {
      asked.taken.add(nonce);
      asked.told.set(place, text);
    }
    const event = (delta: object, finish: string | null = null) => `data: ${JSON.stringify({ id: "c", model: "m", choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
    const cost = { inputTokens: this.#random.whole(1, 99), outputTokens: this.#random.whole(1, 20) };
    asked.costs.set(nonce, cost);
    const usage = `data: ${JSON.stringify({ id: "c", model: "m", choices: [], usage: { prompt_tokens: cost.inputTokens, completion_tokens: cost.outputTokens } })}\n\n`;
    const deeds = deedsOf(name, plan, results, tools.map((tool) => tool.function.name)).slice(0, this.#random.whole(1, 2));
    const calls = deeds.map(({ place, tool, given }, index) =>
      event({ tool_calls: [{ index, id: `${nonce}.${place}`, type: "function", function: { name: tool, arguments: JSON.stringify(given) } }] }),
    );
    const pieces = calls.length > 0 ? [...calls, event({}, "tool_calls")] : [...this.#text(name, nonce).map((content) => event({ content })), event({}, "stop")];
    const count = await this.#answer(name, response, "text/event-stream", [...pieces, usage, "data: [DONE]\n\n"]);
    if (count !== pieces.length) return;
    asked.isEstimated = true;
    asked.costs.delete(nonce);
  }

  /** Tells a text, as an artifact that grows; asks something before that, if it is told to. */
  async #turn({ message, taskId, turn }: Turn, key: string, response: ServerResponse): Promise<void> {
    const [name = "", asks] = (message.parts[0]?.text ?? "").split(" ");
    const { turns, tasks } = this.asked(name);
    turns.set(turn, (turns.get(turn) ?? new Set()).add(key));
    tasks.add(taskId);
    this.#nonce += 1;
    const [first = "", ...rest] = this.#text(name, this.#nonce);
    const id = asks === "asks" ? "draft" : "answer";
    const end = asks === "asks" ? { do: "input_required", text: "Is it right?" } : { do: "complete" };
    const verbs = [{ do: "artifact", id, more: true, text: first }, ...rest.map((text) => ({ do: "append", id, text })), end];
    await this.#answer(name, response, "application/x-ndjson", verbs.map((verb) => `${JSON.stringify(verb)}\n`));
  }

  /** A text that nobody else is told, in pieces. */
  #text(name: string, nonce: number): string[] {
    const count = this.#random.whole(1, 12);
    const pieces = Array.from({ length: count }, (_, index) => `<${nonce}: ${index + 1} of ${count}>`);
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

  /** Gives these pieces, or breaks off. Gives how many were given. */
  async #answer(name: string, response: ServerResponse, type: string, pieces: string[]): Promise<number> {
    const fault = this.#fault(name);
    if (fault === "refused") response.writeHead(503, { "content-type": "text/plain" }).end("busy");
    if (fault === "broken") response.destroy();
    if (fault === "refused" || fault === "broken") return 0;
    response.writeHead(200, { "content-type": type });
    const breaksAt = fault === "cut" ? this.#random.whole(1, pieces.length - 1) : Infinity;
    const isSlow = this.#random.chance(0.6);
    for (const [index, piece] of pieces.entries()) {
      if (index >= breaksAt) response.destroy();
      if (response.destroyed) return index;
      response.write(piece);
      if (isSlow) await sleep(this.#random.whole(0, 40));
    }
    response.end();
    return pieces.length;
  }
}

/** What an agent behind HTTP is told, as far as it counts here. */
interface Turn {
  taskId: string;
  turn: number;
  message: { parts: { text?: string }[] };
}
