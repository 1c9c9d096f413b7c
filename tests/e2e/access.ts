// Agents that require credentials, with new secrets in each run, and the answers to requests with them.

import { randomBytes, randomUUID } from "node:crypto";
import { once } from "node:events";
import { request, type IncomingMessage } from "node:http";
import { message, textOf, type Message, type Task } from "./client.ts";
import { testAgents } from "./harness.ts";
import { AgentServer, lines } from "./http-agents.ts";

export type Headers = Record<string, string>;

/** A secret like those of `openssl rand -hex 24`. */
export const fresh = (): string => randomBytes(24).toString("hex");

/** The secrets of a Worker by their names, all different. */
export function secretsOf<Name extends string>(...names: Name[]): Record<Name, string> {
  return Object.fromEntries(names.map((name) => [name, fresh()])) as Record<Name, string>;
}

/** A caller with secrets, in the form of agent files. */
export const caller = (id: string, secrets: string[], more: object = {}): object => ({ id, secrets, ...more });

/** A program behind agents of kind `http` that answers each turn with who asks: the id and the permissions, as `key:billing [read]`. */
export function openWitness(): Promise<AgentServer> {
  return AgentServer.open(({ turn: { caller } }, response) => lines(response, { do: "complete", text: `${caller.id} [${caller.permissions.join(", ")}]` }));
}

/**
 * The agents of tests/agents for the variable `AGENTS`, and for each name here a copy of the assistant with this table `[access]`, or an agent of
 * the program at this URL, which `whoAmI` asks.
 */
export function guarded(tables: Record<string, object>, witness?: string): string {
  const { agents, ...built } = JSON.parse(testAgents) as { agents: { slug: string }[] };
  const assistant = agents.find(({ slug }) => slug === "assistant");
  const asks = witness === undefined ? {} : { executor: { kind: "http", table: { url: witness }, run: {} } };
  const copies = Object.entries(tables).map(([slug, access]) => ({ ...assistant, slug, default: false, access, ...asks }));
  return JSON.stringify({ ...built, agents: [...agents, ...copies] });
}

export const basic = (name: string, password: string): Headers => ({ authorization: `Basic ${Buffer.from(`${name}:${password}`).toString("base64")}` });
export const bearer = (token: string): Headers => ({ authorization: `Bearer ${token}` });

/** The platform's report of a client certificate. Miniflare reads it from this header, the real platform from the handshake. */
export function certificate(reported: object): Headers {
  return { "mf-cf-blob": JSON.stringify({ tlsClientAuth: reported }) };
}

/** A certificate that the platform has verified. */
export const verified = {
  certPresented: "1", certVerified: "SUCCESS", certRevoked: "0", certSubjectDNRFC2253: "CN=robot,O=Example",
  certFingerprintSHA256: "8f0a1b2c3d4e5f60718293a4b5c6d7e8f90a1b2c3d4e5f60718293a4b5c6d7e8", certNotAfter: "Dec 22 19:39:00 2099 GMT",
};

/** A parsed answer. */
export interface Answer {
  status: number;
  type: string;
  challenge: string | undefined;
  text: string;
}

/** Sends a request with exactly these headers; `fetch` would add some and forbid others. */
export async function send(url: string, method: string, headers: Record<string, string | string[]>, body?: string): Promise<Answer> {
  const sent = request(url, { method, headers: { "a2a-version": "1.0", ...headers }, agent: false });
  sent.end(body);
  const [response] = (await once(sent, "response")) as [IncomingMessage];
  return read(response);
}

/** Reads an answer. */
export async function read(response: IncomingMessage): Promise<Answer> {
  let text = "";
  for await (const chunk of response.setEncoding("utf8")) text += chunk;
  const { "content-type": type = "", "www-authenticate": challenge } = response.headers;
  return { status: response.statusCode ?? 0, type, challenge, text };
}

const JSON_TYPE = { "content-type": "application/json" };

/** Calls a method over JSON-RPC. */
export function rpc(agentUrl: string, method: string, params: unknown, headers: Record<string, string | string[]> = {}, id: unknown = randomUUID()): Promise<Answer> {
  return send(agentUrl, "POST", { ...JSON_TYPE, ...headers }, JSON.stringify({ jsonrpc: "2.0", id, method, params }));
}

/**
 * Calls the agent and returns the caller that it sees: the id and the permissions, for example `key:billing [read]`; or the status of
 * the refusal.
 */
export async function whoAmI(agentUrl: string, headers: Record<string, string | string[]>): Promise<string> {
  return told(await rpc(agentUrl, "SendMessage", { message: message("Who am I?") }, headers), (answer) => (answer as { result: { task: Task } }).result.task);
}

/** The same over HTTP+JSON. */
export async function whoAmIByRest(agentUrl: string, headers: Record<string, string | string[]>): Promise<string> {
  const [path = "", query = ""] = agentUrl.split("?");
  const url = `${path}/message:send${query === "" ? "" : `?${query}`}`;
  const answer = await send(url, "POST", { ...JSON_TYPE, ...headers }, JSON.stringify({ message: message("Who am I?") }));
  return told(answer, (answer) => (answer as { task: Task }).task);
}

function told({ status, text }: Answer, taskOf: (answer: unknown) => Task): string {
  if (status !== 200) return String(status);
  return textOf(taskOf(JSON.parse(text)).status.message);
}

/** The message of an error of either binding, and the id of the request. */
export function errorOf({ text }: Answer): { code: number; message: string; id: unknown } {
  const { error, id } = JSON.parse(text) as { error: { code: number; message: string }; id?: unknown };
  return { ...error, id };
}

/** A message that fills a body of more than this many bytes. */
export const large = (bytes: number): Message => message("x".repeat(bytes));
