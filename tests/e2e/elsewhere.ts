// Agent cards on a server of the test, without agents behind them, and fronts that learn their skills: for skills-remote*.spec.ts. Each card
// has its own path, `/<name>`, which is also the name of the remote and of its front.

import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { testAgents } from "./harness.ts";

export const CARD = "/.well-known/agent-card.json";

export interface Skill {
  id: string;
  name: string;
  description: string;
  tags: string[];
  examples?: string[];
  [other: string]: unknown;
}

export interface Card {
  name: string;
  skills: Skill[];
  securitySchemes?: unknown;
  securityRequirements?: unknown;
  signatures?: { protected: string; signature: string }[];
}

/** A skill of which only the id matters. */
export const skill = (id: string, more: object = {}): Skill => ({ id, name: `The ${id}`, description: `Does ${id}.`, tags: ["far"], ...more });

export const idsOf = (card: Card): string[] => card.skills.map(({ id }) => id);

/** Members of a card that differ from the plainest card. */
type Said = Record<string, unknown>;

/** The server of the cards. */
export class Elsewhere {
  readonly #server: Server;
  readonly #cards = new Map<string, Said>();
  readonly #asked = new Map<string, IncomingMessage["headers"][]>();
  readonly #held = new Map<string, ServerResponse[]>();
  readonly #origins = new Map<string, string>();
  /** The names of the agents whose server is down. */
  readonly down = new Set<string>();
  /** The names of the agents whose server holds its answers. */
  readonly holding = new Set<string>();

  private constructor(server: Server) {
    this.#server = server;
  }

  static async open(): Promise<Elsewhere> {
    const server = createServer();
    const elsewhere = new Elsewhere(server);
    server.on("request", (request: IncomingMessage, response: ServerResponse) => elsewhere.#answer(request, response));
    await once(server.listen(0, "127.0.0.1"), "listening");
    return elsewhere;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Sets the skills of an agent's card, and further members. */
  has(name: string, skills: Skill[], said: Said = {}): void {
    this.#cards.set(name, { skills, ...said });
  }

  /** Makes the card of an agent a copy of the card with this name at another origin. */
  leads(name: string, origin: string): void {
    this.#origins.set(name, origin);
  }

  /** The headers of each request for the card of an agent. */
  asked(name: string): readonly IncomingMessage["headers"][] {
    return this.#asked.get(name) ?? [];
  }

  /** Sends the held answers, and holds no more. */
  release(name: string): void {
    this.holding.delete(name);
    for (const response of this.#held.get(name) ?? []) this.#give(name, response);
    this.#held.delete(name);
  }

  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    const name = (request.url ?? "").split("/")[1] ?? "";
    const origin = this.#origins.get(name);
    if (origin !== undefined) return void relay(`${origin}/${name}${CARD}`, response);
    if (request.url !== `/${name}${CARD}` || !this.#cards.has(name)) return void response.writeHead(404).end();
    this.#asked.set(name, [...this.asked(name), request.headers]);
    if (this.holding.has(name)) this.#held.set(name, [...(this.#held.get(name) ?? []), response]);
    else this.#give(name, response);
  }

  #give(name: string, response: ServerResponse): void {
    if (this.down.has(name)) return void response.writeHead(503).end();
    response.writeHead(200, { "content-type": "application/json" });
    response.end(JSON.stringify({ ...plain(name, `${this.url}/${name}/rpc`), ...this.#cards.get(name) }));
  }
}

/** Answers with the answer of another server. */
function relay(url: string, response: ServerResponse): void {
  fetch(url)
    .then(async (answer) => response.writeHead(answer.status, { "content-type": "application/json" }).end(await answer.text()))
    .catch(() => response.destroy());
}

/** The settings of an embedded front that differ from a front which learns the skills of the remote with its name. */
export interface LearnerSaid {
  /** The name of the remote, or the slug of an agent of the same Worker. */
  remote?: string;
  /** The skills in the agent file, each with its id, and optionally with permissions. */
  own?: { permissions?: string[]; [member: string]: unknown }[];
  skills?: Skill[];
  access?: object;
  /** The table `[mcp]` of the agent. */
  mcp?: object;
  card?: object;
}

/** The agents of tests/agents, and a front for each of these names. */
export function withLearners(elsewhere: Elsewhere, said: Record<string, LearnerSaid>): string {
  const embedded = JSON.parse(testAgents) as { agents: object[]; remotes?: object[] };
  for (const [slug, { remote = slug, own = [], skills = [], access, mcp, card }] of Object.entries(said)) {
    embedded.agents.push({
      slug, default: false, development: false, access: access ?? { open: true },
      capabilities: { streaming: true, push_notifications: false, extended_agent_card: true },
      executor: { kind: "remote", table: { remote }, run: {} },
      ...(mcp !== undefined && { mcp }),
      learned: { parts: [{ source: { remote }, position: skills.length }], own: own.map(({ permissions = [], ...skill }) => ({ skill, permissions })) },
      card: JSON.stringify({ ...plain(slug, `{origin}/${slug}`), capabilities: { streaming: true, extendedAgentCard: true }, skills, ...card }),
    });
    if (remote === slug) (embedded.remotes ??= []).push({ name: slug, table: { url: `${elsewhere.url}/${slug}` } });
  }
  return JSON.stringify(embedded);
}

function plain(name: string, url: string): object {
  return {
    name, description: "Is nowhere but here.", version: "1.0.0", capabilities: { streaming: true },
    supportedInterfaces: [{ url, protocolBinding: "JSONRPC", protocolVersion: "1.0" }],
    defaultInputModes: ["text/plain"], defaultOutputModes: ["text/plain"], skills: [],
  };
}

/** The answer to a request for the card of an agent of a Worker. */
export async function ask(worker: { url: string }, slug: string, headers: Record<string, string> = {}, path = CARD, method = "GET"): Promise<Response> {
  return fetch(`${worker.url}/${slug}${path}`, { method, headers });
}

/** The card of an agent of a Worker. */
export async function cardOf(worker: { url: string }, slug: string, headers: Record<string, string> = { "a2a-version": "1.0" }, path = CARD): Promise<Card> {
  const response = await ask(worker, slug, headers, path);
  assert.equal(response.status, 200);
  return (await response.json()) as Card;
}
