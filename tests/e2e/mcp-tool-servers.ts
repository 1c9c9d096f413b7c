// An MCP server with the newest official SDK, for agents that offer its tools.
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import { createMcpHandler, inputRequired, Server, type CallToolResult, type ServerContext } from "@modelcontextprotocol/server";

const text = (said: unknown): CallToolResult => ({ content: [{ type: "text", text: typeof said === "string" ? said : JSON.stringify(said) }] });
const object = (properties: object = {}, required: string[] = []): object => ({ type: "object", properties, required });
const string = { type: "string" };

const TOOLS = [
  {
    name: "add", title: "Adds numbers", annotations: { readOnlyHint: true },
    inputSchema: { ...object({ a: { type: "number" }, b: { type: "number" } }, ["a", "b"]), "x-unknown": { future: true } },
    outputSchema: object({ sum: { type: "number" } }),
  },
  { name: "ask_seat", description: "Asks for a seat.", inputSchema: object({ flight: string }) },
  { name: "author", description: "Asks its user to log in.", inputSchema: object() },
  { name: "echo", description: "Repeats, in a modern way.", inputSchema: object({ message: string }, ["message"]) },
  { name: "fail", inputSchema: object() },
  { name: "sleep", description: "Works until it is stopped.", inputSchema: object({ note: string }) },
  { name: "careful", description: "Works until it is stopped, and may be repeated.", annotations: { idempotentHint: true }, inputSchema: object() },
];

/** A server of 2026-07-28 in this process, which records its requests. */
export class Modern {
  /** The calls of tools: their names and arguments. */
  readonly calls: { name: string; arguments: Record<string, unknown> }[] = [];
  /** The header `Authorization` of each request. */
  readonly credentials: (string | undefined)[] = [];
  /** The notifications of canceled calls. */
  readonly canceled: unknown[] = [];
  /** The tools that it lists. */
  tools = TOOLS;
  /** The functions that let sleeping calls continue. */
  readonly #sleeping: (() => void)[] = [];
  readonly #http = createServer();

  static async start(): Promise<Modern> {
    const modern = new Modern();
    const handler = createMcpHandler(() => modern.#server(), { legacy: "reject" });
    modern.#http.on("request", (request, response) => void modern.#pass(handler.fetch, request, response));
    modern.#http.listen(0, "127.0.0.1");
    await once(modern.#http, "listening");
    return modern;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#http.address() as AddressInfo).port}`;
  }

  /** The number of calls of a tool. */
  count(name: string): number {
    return this.calls.filter((call) => call.name === name).length;
  }

  /** Lets the sleeping calls continue. */
  wake(): void {
    for (const go of this.#sleeping.splice(0)) go();
  }

  stop(): void {
    this.#http.closeAllConnections();
    this.#http.close();
  }

  #server(): Server {
    const server = new Server({ name: "modern", version: "1" }, { capabilities: { tools: {} } });
    server.setRequestHandler("tools/list", () => ({ tools: this.tools as never, ttlMs: 0, cacheScope: "public" }));
    server.setRequestHandler("tools/call", ({ params }, context) => this.#call(params.name, params.arguments ?? {}, context));
    return server;
  }

  async #call(name: string, given: Record<string, unknown>, { mcpReq }: ServerContext): Promise<CallToolResult> {
    this.calls.push({ name, arguments: given });
    const answers = mcpReq.inputResponses as Record<string, { action: string; content?: object }> | undefined;
    switch (name) {
      case "add": {
        const sum = Number(given.a) + Number(given.b);
        return { ...text({ sum }), structuredContent: { sum } };
      }
      case "ask_seat": {
        if (answers === undefined) {
          const seat = inputRequired.elicit({ message: "Which seat?", requestedSchema: object({ seat: string }, ["seat"]) as never });
          return inputRequired({ inputRequests: { q1: seat }, requestState: `state of ${given.flight}` }) as never;
        }
        return text({ state: mcpReq.requestState(), answer: answers.q1, given });
      }
      case "author": {
        if (answers !== undefined) return text(answers.login?.action);
        const login = inputRequired.elicitUrl({ message: "Log in.", url: "https://login.example/?for=1" });
        return inputRequired({ inputRequests: { login } }) as never;
      }
      case "echo":
        return text(`modern: ${given.message}`);
      case "fail":
        return { ...text("it does not want to"), isError: true };
      case "sleep":
      case "careful": {
        const progressToken = mcpReq._meta?.progressToken;
        if (progressToken !== undefined) {
          await mcpReq.notify({ method: "notifications/progress", params: { progressToken, progress: 1, total: 2, message: "asleep" } });
        }
        mcpReq.signal.addEventListener("abort", () => this.canceled.push(given.note));
        await new Promise<void>((go) => {
          this.#sleeping.push(go);
          mcpReq.signal.addEventListener("abort", () => go());
        });
        return text("slept");
      }
      default:
        return { ...text(`there is no ${name}`), isError: true };
    }
  }

  async #pass(handle: (request: Request) => Promise<Response>, incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    this.credentials.push(incoming.headers.authorization);
    const left = new AbortController();
    outgoing.on("close", () => left.abort());
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk as Buffer);
    const headers = new Headers(incoming.headers as Record<string, string>);
    const init: RequestInit = { method: incoming.method ?? "GET", headers, signal: left.signal };
    if (chunks.length > 0) init.body = Buffer.concat(chunks);
    const response = await handle(new Request(this.url + (incoming.url ?? "/"), init));
    outgoing.writeHead(response.status, Object.fromEntries(response.headers));
    if (response.body === null) return void outgoing.end();
    Readable.fromWeb(response.body as never).on("error", () => outgoing.destroy()).pipe(outgoing);
  }
}
