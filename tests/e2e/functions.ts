// The Worker of tests/functions: tools and executors in TypeScript.
import { createServer, type IncomingMessage, type Server } from "node:http";
import { once } from "node:events";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Agent } from "./client.ts";
import { startWorker, type Worker, type WorkerOptions } from "./harness.ts";

const ENTRY = fileURLToPath(new URL("../functions/index.ts", import.meta.url));

/** Starts the Worker of tests/functions. In production errors of authors are not shown to callers. */
export function startFunctions({ vars, ...options }: WorkerOptions = {}): Promise<Worker> {
  return startWorker({ ...options, entry: ENTRY, vars: { AGENTS: "", ...vars } });
}

export const agentAt = (worker: Worker, slug: string): Agent => new Agent(`${worker.url}/${slug}`);

/** The folder of the project with the functions. */
export const FUNCTIONS = join(ENTRY, "..");

/** A request that a server has received. */
export interface Heard {
  path: string;
  key: string | undefined;
  body: string;
}

/** A server that answers every request with its number, and lists what it has received. */
export async function startShop(): Promise<{ url: string; heard: Heard[]; stop(): void }> {
  const heard: Heard[] = [];
  const server: Server = createServer((request: IncomingMessage, response) => {
    let body = "";
    request.on("data", (piece: Buffer) => { body += piece.toString(); });
    request.on("end", () => {
      const key = request.headers["idempotency-key"];
      heard.push({ path: request.url ?? "", key: typeof key === "string" ? key : undefined, body });
      response.end(String(heard.length));
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as { port: number };
  return { url: `http://127.0.0.1:${port}`, heard, stop: () => server.closeAllConnections() ?? server.close() };
}
