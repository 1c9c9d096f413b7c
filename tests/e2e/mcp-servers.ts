// Independent MCP servers: the reference server "everything" (older revisions, sessions), and one of the official SDK (2026-07-28,
// and older ones without sessions).
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { type IncomingMessage, type Server, type ServerResponse, createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { McpServer, acceptedContent, createMcpHandler, fromJsonSchema, inputRequired } from "@modelcontextprotocol/server";
import { freePort } from "../../scripts/lib/port.mjs";

/** An MCP server. */
export interface McpPeer {
  /** The endpoint of the server. */
  url: string;
  /** The called methods, in order; the HTTP method if the body contains no method. */
  methods: string[];
  stop(): Promise<void>;
}

/** Starts the reference server, behind a proxy that records its requests. */
export async function startEverything(): Promise<McpPeer> {
  const port = await freePort();
  const program = fileURLToPath(new URL("../../node_modules/@modelcontextprotocol/server-everything/dist/index.js", import.meta.url));
  const env = { PATH: process.env["PATH"] ?? "", PORT: String(port) };
  const child = spawn(process.execPath, [program, "streamableHttp"], { env, stdio: ["ignore", "ignore", "pipe"] });
  await listening(child);
  const peer = await serve(async (request) => fetch(`http://127.0.0.1:${port}/mcp`, {
    method: request.method, headers: request.headers, signal: request.signal, ...(request.body === null ? {} : { body: await request.text() }),
  }));
  const stop = async () => {
    await peer.stop();
    child.kill();
    await once(child, "exit");
  };
  return { ...peer, stop };
}

async function listening(child: ChildProcess): Promise<void> {
  let notes = "";
  child.stderr?.setEncoding("utf8");
  for await (const text of child.stderr ?? []) {
    notes += text as string;
    if (notes.includes("listening on port")) break;
  }
  if (!notes.includes("listening on port")) throw new Error(`the reference server does not start: ${notes}`);
  child.stderr?.resume();
}

/** The records of the modern server's tools. */
export interface Seen {
  /** The number of calls of the tool `wait` that their clients have given up. */
  canceled: number;
}

/** Starts a server of the official SDK. */
export async function startModern(): Promise<McpPeer & { seen: Seen }> {
  const seen = { canceled: 0 };
  const handler = createMcpHandler(() => modern(seen));
  return { ...(await serve((request) => handler.fetch(request))), seen };
}

function modern(seen: Seen): McpServer {
  const server = new McpServer({ name: "modern", version: "1" });
  const object = (properties: Record<string, object>, required: string[] = []) => fromJsonSchema<Record<string, string>>({ type: "object", properties, required } as never);
  const text = (text: string) => ({ content: [{ type: "text" as const, text }] });
  server.registerTool("echo", { description: "Gives back a text", inputSchema: object({ text: { type: "string" } }, ["text"]) }, ({ text: said }) => text(String(said)));
  server.registerTool("weather", { inputSchema: object({ city: { type: "string", "x-mcp-header": "City" } }, ["city"]), outputSchema: object({ city: { type: "string" } }) }, ({ city }) => {
    return { ...text("sunny"), structuredContent: { city: String(city) } };
  });
  server.registerTool("count", { inputSchema: object({}) }, async (_, context) => {
    const progressToken = context.mcpReq._meta?.["progressToken"] as number;
    for (const progress of [1, 2, 3]) {
      await context.mcpReq.notify({ method: "notifications/progress", params: { progressToken, progress, total: 3, message: `step ${progress}` } });
    }
    return text("counted");
  });
  server.registerTool("fail", { inputSchema: object({}) }, () => ({ ...text("it does not work"), isError: true }));
  server.registerTool("book", { inputSchema: object({}) }, (_, context) => {
    const seat = acceptedContent<{ seat: string }>(context.mcpReq.inputResponses, "seat")?.seat;
    if (seat !== undefined) return text(`${seat} ${context.mcpReq.requestState()}`);
    const requestedSchema = { type: "object" as const, properties: { seat: { type: "string" as const } }, required: ["seat"] };
    const requestState = "sealed \u00e9 =";
    return inputRequired({ inputRequests: { seat: inputRequired.elicit({ message: "Which seat?", requestedSchema }) }, requestState });
  });
  server.registerTool("wait", { inputSchema: object({}) }, async (_, context) => {
    const progressToken = context.mcpReq._meta?.["progressToken"] as number;
    await context.mcpReq.notify({ method: "notifications/progress", params: { progressToken, progress: 1 } });
    await once(context.mcpReq.signal, "abort");
    seen.canceled += 1;
    return text("too late");
  });
  return server;
}

/** Serves requests of the web platform at a port of this machine. */
async function serve(answer: (request: Request) => Promise<Response>): Promise<McpPeer> {
  const methods: string[] = [];
  const server: Server = createServer((request, response) => {
    void pass(request, response, methods, answer).catch(() => response.destroy());
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
  const stop = async () => {
    server.closeAllConnections();
    server.close();
    await once(server, "close");
  };
  return { url, methods, stop };
}

async function pass(incoming: IncomingMessage, outgoing: ServerResponse, methods: string[], answer: (request: Request) => Promise<Response>): Promise<void> {
  const body = await buffer(incoming);
  const { method = "GET", url = "/" } = incoming;
  methods.push(body.length === 0 ? method : String((JSON.parse(body.toString()) as { method?: string }).method ?? "answer"));
  const gone = new AbortController();
  outgoing.on("close", () => gone.abort());
  const headers = new Headers();
  for (const [name, value] of Object.entries(incoming.headers)) {
    if (typeof value === "string" && !HOP_BY_HOP.includes(name)) headers.set(name, value);
  }
  const request = new Request(`http://127.0.0.1${url}`, { method, headers, signal: gone.signal, ...(body.length === 0 ? {} : { body }) });
  const answered = await answer(request);
  outgoing.writeHead(answered.status, Object.fromEntries(answered.headers));
  outgoing.flushHeaders();
  for await (const piece of answered.body ?? []) outgoing.write(piece);
  outgoing.end();
}

/** Headers of a connection, which are not passed on. */
const HOP_BY_HOP = ["connection", "content-length", "host", "transfer-encoding"];
