// The MCP server of a soak, made with the official SDK. It answers each call with a text that it gives to nobody else, and keeps all calls.

import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import { createMcpHandler, Server } from "@modelcontextprotocol/server";
import { Random, sleep } from "./random.ts";

/** Its tools, and what it says of them. */
export const LENT = {
  look: { annotations: { readOnlyHint: true }, mayBeRepeated: true },
  put: { annotations: { idempotentHint: true }, mayBeRepeated: true },
  fire: { annotations: {}, mayBeRepeated: false },
} as const;
export type LentTool = keyof typeof LENT;

interface Call {
  number: number;
  answer: string;
}

const inputSchema = { type: "object", properties: { task: { type: "string" }, number: { type: "integer" } }, required: ["task", "number"] };

export class Lender {
  readonly #http = createServer();
  readonly #random: Random;
  readonly #calls = new Map<string, Call[]>();
  #nonce = 0;

  private constructor(seed: number) {
    this.#random = new Random(seed ^ 0x2545f491);
  }

  static async open(seed: number): Promise<Lender> {
    const lender = new Lender(seed);
    const handler = createMcpHandler(() => lender.#server(), { legacy: "reject" });
    lender.#http.on("request", (request, response) => void lender.#pass(handler.fetch, request, response).catch(() => response.destroy()));
    await once(lender.#http.listen(0, "127.0.0.1"), "listening");
    return lender;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#http.address() as AddressInfo).port}`;
  }

  /** The calls for a task, in the order in which they came. */
  calls(task: string): Call[] {
    return this.#calls.get(task) ?? [];
  }

  forget(task: string): void {
    this.#calls.delete(task);
  }

  close(): void {
    this.#http.closeAllConnections();
    this.#http.close();
  }

  #server(): Server {
    const server = new Server({ name: "lender", version: "1" }, { capabilities: { tools: {} } });
    const tools = Object.entries(LENT).map(([name, { annotations }]) => ({ name, annotations, inputSchema }));
    server.setRequestHandler("tools/list", () => ({ tools: tools as never, ttlMs: 60_000, cacheScope: "public" }));
    server.setRequestHandler("tools/call", async ({ params }) => {
      const { task, number } = params.arguments as { task: string; number: number };
      this.#nonce += 1;
      const answer = `${params.name} ${number} <${this.#nonce}>`;
      this.#calls.set(task, [...this.calls(task), { number, answer }]);
      if (this.#random.chance(0.7)) await sleep(this.#random.whole(0, 400));
      return { content: [{ type: "text", text: answer }] };
    });
    return server;
  }

  async #pass(handle: (request: Request) => Promise<Response>, incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk as Buffer);
    const init: RequestInit = { method: incoming.method ?? "GET", headers: new Headers(incoming.headers as Record<string, string>) };
    if (chunks.length > 0) init.body = Buffer.concat(chunks);
    const response = await handle(new Request(this.url + (incoming.url ?? "/"), init));
    outgoing.writeHead(response.status, Object.fromEntries(response.headers));
    if (response.body === null) return void outgoing.end();
    Readable.fromWeb(response.body as never).on("error", () => outgoing.destroy()).pipe(outgoing);
  }
}
