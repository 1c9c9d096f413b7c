// Requests of MCP, raw and with the official TypeScript SDK, in both eras.

import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { testAgents } from "./harness.ts";
import type { Headers } from "./access.ts";

export const MODERN = "2026-07-28";
export const VERSION_KEY = "io.modelcontextprotocol/protocolVersion";
export const CAPABILITIES_KEY = "io.modelcontextprotocol/clientCapabilities";
export const TASKS = { extensions: { "io.modelcontextprotocol/tasks": {} } };

/** The result of an agent's tool. */
export interface Result {
  content: { type: string; text?: string; [member: string]: unknown }[];
  structuredContent?: { state: string; text: string; task_id?: string; context_id?: string; question?: string; data?: unknown };
  isError?: boolean;
  resultType?: string;
  requestState?: string;
  inputRequests?: Record<string, { method: string; params: Record<string, unknown> }>;
  _meta?: Record<string, unknown>;
  [member: string]: unknown;
}

/** An answer, with its messages if it is a stream. */
export interface Answer {
  status: number;
  headers: globalThis.Headers;
  text: string;
  /** The last message: the answer. */
  body: { id?: unknown; result?: Result; error?: { code: number; message: string; data?: unknown } };
  /** All messages of a stream. */
  messages: Record<string, unknown>[];
}

/** Sends a body unchanged. */
export async function post(url: string, body: unknown, headers: Headers = {}): Promise<Answer> {
  const sent = { "content-type": "application/json", accept: "application/json, text/event-stream", ...headers };
  const response = await fetch(url, { method: "POST", headers: sent, body: typeof body === "string" ? body : JSON.stringify(body) });
  const text = await response.text();
  const isStream = response.headers.get("content-type") === "text/event-stream";
  const data = isStream ? text.split("\n").filter((line) => line.startsWith("data: ")).map((line) => line.slice(6)) : [text];
  const messages = data.filter((line) => line !== "").map((line) => JSON.parse(line) as Record<string, unknown>);
  return { status: response.status, headers: response.headers, text, body: messages.at(-1) ?? {}, messages };
}

/** A request of a revision before 2026-07-28. */
export const legacy = (url: string, method: string, params: object = {}, headers: Headers = {}): Promise<Answer> =>
  post(url, { jsonrpc: "2.0", id: 1, method, params }, headers);

/** A request of 2026-07-28 by a client with these capabilities. */
export function modern(url: string, method: string, params: Record<string, unknown> = {}, headers: Headers = {}, capabilities: object = {}): Promise<Answer> {
  const { _meta, ...rest } = params as { _meta?: object; name?: string; uri?: string; taskId?: string };
  const named = rest.name ?? rest.uri ?? rest.taskId;
  const meta = { [VERSION_KEY]: MODERN, [CAPABILITIES_KEY]: capabilities, ..._meta };
  const all = { "mcp-protocol-version": MODERN, "mcp-method": method, ...(named === undefined ? {} : { "mcp-name": named }), ...headers };
  return post(url, { jsonrpc: "2.0", id: 1, method, params: { ...rest, _meta: meta } }, all);
}

/** A connected client of the SDK. */
export async function connect(url: string, mode: "legacy" | "auto", headers: Headers = {}, capabilities: object = {}): Promise<Client> {
  const client = new Client({ name: "spec", version: "1.0.0" }, { capabilities, versionNegotiation: { mode } });
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }));
  return client;
}

/** Agents for the variable `AGENTS`: only copies of some agents of tests/agents, by their slugs, with these changes. */
export function only(copies: Record<string, { of: string } & Record<string, unknown>>): string {
  const { agents, ...built } = JSON.parse(testAgents) as { agents: { slug: string; card: string }[] };
  const made = Object.entries(copies).map(([slug, { of, ...changes }]) => {
    const original = agents.find((agent) => agent.slug === of);
    if (original === undefined) throw new Error(`there is no agent ${of}`);
    return { ...original, default: false, card: original.card.replaceAll(`/${of}`, `/${slug}`), ...changes, slug };
  });
  return JSON.stringify({ ...built, agents: made });
}
