// Client tests (ACTS §10): a local server gives our client the response of a test, and the client's program (crates/a2a/tests/acts/) tells what
// it has read.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { isMap, type Test } from "./document.ts";

/** Whether a test is about clients alone. */
export const isOfClient = ({ steps }: Test): boolean => steps.every((step) => "client_response" in step);

/** Lets the client at this path call an operation that is answered with this payload, and gives what it reads. */
export async function parsedBy(program: string, operation: string, payload: unknown): Promise<unknown> {
  const server = createServer((request, response) => void answer(request, response, operation, payload));
  await once(server.listen(0, "127.0.0.1"), "listening");
  try {
    const child = spawn(program, [operation, originOf(server.address())], { stdio: ["ignore", "pipe", "pipe"] });
    const [output, errors, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "close")]);
    if (code !== 0) throw new Unread(errors.trim());
    return JSON.parse(output);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

/** The client could not read the response; the message is what it said. */
export class Unread extends Error {}

async function answer(request: IncomingMessage, response: ServerResponse, operation: string, payload: unknown): Promise<void> {
  const body = await text(request);
  const isCard = request.url?.startsWith("/.well-known/") === true;
  const given = !isCard ? payload : operation === "get_agent_card" ? payload : cardFor(request, payload);
  const asked = body === "" ? undefined : (JSON.parse(body) as unknown);
  // An envelope answers the request that was made.
  const own = isMap(given) && "jsonrpc" in given && isMap(asked) ? { ...given, id: asked["id"] } : given;
  response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(own));
}

/** The card of an agent whose binding is that of the payload: an envelope of JSON-RPC, or the object alone. */
function cardFor(request: IncomingMessage, payload: unknown): object {
  const protocolBinding = isMap(payload) && "jsonrpc" in payload ? "JSONRPC" : "HTTP+JSON";
  return {
    name: "Canonical", description: "Answers with the response of a test.", version: "1.0.0", skills: [],
    capabilities: { extendedAgentCard: true }, defaultInputModes: ["text/plain"], defaultOutputModes: ["text/plain"],
    supportedInterfaces: [{ url: `http://${request.headers.host}/`, protocolBinding, protocolVersion: "1.0" }],
  };
}

const originOf = (address: AddressInfo | string | null): string => `http://127.0.0.1:${(address as AddressInfo).port}`;
