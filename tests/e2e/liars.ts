// Misbehaving servers, and agents of kind "remote" that call them: for the specs misbehaving-*. Each lie has its own path, `/<name>`,
// with a card and an endpoint for JSON-RPC, and an agent of the same name in the Worker.

import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { Agent, untilEnded, type Message, type Task } from "./client.ts";
import { cardOf, withFronts } from "./fronts.ts";
import { secret, startWorker, type Worker } from "./harness.ts";

/** The token that the remote agents receive. */
export const TOKEN = secret("LIAR_TOKEN", "a-bearer-token-that-no-other-host-may-see");

/** A call of a lying server. */
export interface Asked {
  method: string;
  params: { id?: string; message?: Message; [name: string]: unknown };
  headers: IncomingMessage["headers"];
  /** The number of earlier calls of this method at this path. */
  before: number;
}

/** The answer to a call: a result, an error, a stream, or any other HTTP answer. */
export class Reply {
  readonly #response: ServerResponse;
  readonly #id: unknown;
  readonly #asked: Asked;

  constructor(response: ServerResponse, id: unknown, asked: Asked) {
    this.#response = response;
    this.#id = id;
    this.#asked = asked;
  }

  result(result: unknown): void {
    this.raw(200, "application/json", JSON.stringify({ jsonrpc: "2.0", id: this.#id, result }));
  }

  error(code: number, text: string, status = 200): void {
    this.raw(status, "application/json", JSON.stringify({ jsonrpc: "2.0", id: this.#id, error: { code, message: text } }));
  }

  raw(status: number, type: string, body: string, headers: Record<string, string> = {}): void {
    this.#response.writeHead(status, { "content-type": type, ...headers }).end(body);
  }

  /** A stream of these events, each the content of its `result` or a text that is sent unchanged; with `isOpen`, it is left open. */
  stream(events: (object | string)[], isOpen = false): void {
    this.#response.writeHead(200, { "content-type": "text/event-stream" });
    for (const event of events) this.#response.write(typeof event === "string" ? event : this.event(event));
    if (!isOpen) this.#response.end();
  }

  /** The text of an event. */
  event(result: object): string {
    return `data: ${JSON.stringify({ jsonrpc: "2.0", id: this.#id, result })}\n\n`;
  }

  /** Answers like a well-behaved server whose work is already done. */
  well(text = "done"): void {
    const id = this.#asked.params.id ?? "r-1";
    switch (this.#asked.method) {
      case "SendMessage":
        return this.result({ task: done(id, text) });
      case "SendStreamingMessage":
      case "SubscribeToTask":
        return this.stream([{ task: task(id, "WORKING") }, artifact(id, text), status(id, "COMPLETED")]);
      case "GetTask":
        return this.result(done(id, text));
      case "CancelTask":
        return this.result(task(id, "CANCELED"));
      case "ListTasks":
        return this.result({ tasks: [], nextPageToken: "", pageSize: 50, totalSize: 0 });
      default:
        return this.error(-32601, "method not found");
    }
  }
}

/** The behaviour of a lying server. */
export interface Lie {
  /** The changed members of the server's card. */
  card?: (origin: string) => object;
  /** An answer in place of the card. */
  cardAnswer?: (response: ServerResponse, request: IncomingMessage) => void;
  /** Answers a call. If missing, or if it returns false, the server behaves well. */
  answer?: (asked: Asked, reply: Reply) => false | void;
  /** Keys of its table in remotes.toml. */
  settings?: object | ((origin: string) => object);
  /** The access rules of its agent; by default, everybody may call it. */
  access?: object;
  /** Settings of the runs of its agent. */
  run?: object;
}

const CONTEXT = "c-1";

/** A task in a state. */
export function task(id: string, state: string, more: object = {}): object {
  return { id, contextId: CONTEXT, status: { state: `TASK_STATE_${state}`, timestamp: "2026-01-01T00:00:00.000Z" }, ...more };
}

/** A task that is done, with one artifact. */
export function done(id: string, text: string): object {
  return task(id, "COMPLETED", { artifacts: [{ artifactId: "a", parts: [{ text }] }] });
}

/** An event with a state, and optionally with a text of the agent. */
export function status(id: string, state: string, said?: string): object {
  const message = said === undefined ? {} : { message: { messageId: randomUUID(), role: "ROLE_AGENT", parts: [{ text: said }] } };
  return { statusUpdate: { taskId: id, contextId: CONTEXT, status: { state: `TASK_STATE_${state}`, ...message } } };
}

/** An event with an artifact, or a piece of one. */
export function artifact(id: string, text: string, more: { append?: boolean; lastChunk?: boolean } = {}): object {
  return { artifactUpdate: { taskId: id, contextId: CONTEXT, artifact: { artifactId: "a", parts: [{ text }] }, ...more } };
}

/** The lying servers of a spec, another host, and a Worker whose agents call them. */
export class Liars {
  worker!: Worker;
  #server!: Server;
  #other!: Server;
  readonly #lies: Record<string, Lie>;
  readonly #vars: Record<string, string>;
  readonly #asked = new Map<string, Asked[]>();
  /** The requests to the other host. */
  readonly strays: { url: string; headers: IncomingMessage["headers"] }[] = [];

  /** `vars` are variables of the Worker. */
  constructor(lies: Record<string, Lie>, vars: Record<string, string> = {}) {
    this.#lies = lies;
    this.#vars = vars;
  }

  /** Starts all of it, with this storage if given. */
  async start(persist?: string): Promise<void> {
    this.#server = await listen((request, response) => this.#answer(request, response));
    this.#other = await listen((request, response) => {
      this.strays.push({ url: request.url ?? "", headers: request.headers });
      response.writeHead(200, { "content-type": "application/json" }).end("{}");
    });
    this.worker = await startWorker({ vars: { AGENTS: this.#agents(), LIAR_TOKEN: TOKEN, ...this.#vars }, ...(persist !== undefined && { persist }) });
  }

  async stop(): Promise<void> {
    await this.worker.stop();
    for (const server of [this.#server, this.#other]) {
      server.closeAllConnections();
      server.close();
    }
    assert.ok(!JSON.stringify(this.strays).includes(TOKEN), "the other host has seen the token");
  }

  get origin(): string {
    return originOf(this.#server);
  }

  /** The origin of the other host. */
  get elsewhere(): string {
    return originOf(this.#other);
  }

  /** The agent that calls a lying server. */
  agent(name: string, headers: Record<string, string> = {}): Agent {
    return new Agent(`${this.worker.url}/${name}`, headers);
  }

  /** Sends a text through the agent that calls a lying server, and returns the task after its end. */
  async ended(name: string, text = "hello"): Promise<Task> {
    const agent = this.agent(name);
    return untilEnded(agent, (await agent.sendForTask(text, { returnImmediately: true })).id);
  }

  /** The calls to a lying server, in order. */
  asked(name: string): readonly Asked[] {
    return this.#asked.get(name) ?? [];
  }

  /** The number of calls of each method. */
  counts(name: string): Record<string, number> {
    const counts: Record<string, number> = {};
    for (const { method } of this.asked(name)) counts[method] = (counts[method] ?? 0) + 1;
    return counts;
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    const path = new URL(request.url ?? "", this.origin).pathname;
    const name = path.split("/")[1] ?? "";
    const lie = this.#lies[name];
    if (request.method === "GET" && lie !== undefined && path.endsWith("/.well-known/agent-card.json")) {
      if (lie.cardAnswer !== undefined) return lie.cardAnswer(response, request);
      const card = { ...cardOf(`${this.origin}/${name}/rpc`), ...lie.card?.(this.elsewhere) };
      return void response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(card));
    }
    if (request.method === "GET" || lie === undefined) return void response.writeHead(404).end();
    let body = "";
    request.on("data", (piece: Buffer) => void (body += piece.toString()));
    request.on("end", () => {
      const { id, method = "", params = {} } = (body === "" ? {} : JSON.parse(body)) as { id?: unknown; method?: string; params?: Asked["params"] };
      const all = this.#asked.get(name) ?? [];
      const asked = { method, params, headers: request.headers, before: all.filter((asked) => asked.method === method).length };
      this.#asked.set(name, [...all, asked]);
      const reply = new Reply(response, id, asked);
      if (lie.answer === undefined || lie.answer(asked, reply) === false) reply.well();
    });
  }

  /** The agents of tests/agents, and one of kind "remote" for each lie. */
  #agents(): string {
    const fronts = Object.entries(this.#lies).map(([name, { settings, access, run }]) => {
      const own = typeof settings === "function" ? settings(this.origin) : settings;
      const remote = { url: `${this.origin}/${name}`, bearer_token: "${LIAR_TOKEN}", ...QUICK, ...own };
      return [name, { remote, ...(access && { access }), ...(run && { run }) }] as const;
    });
    return withFronts(Object.fromEntries(fronts));
  }
}

/** Settings with which a remote agent is given up soon. */
const QUICK = { timeout_ms: 20_000, request_timeout_ms: 10_000, poll_interval_ms: 100, max_retries: 2, retry_delay_ms: 10 };

async function listen(answer: (request: IncomingMessage, response: ServerResponse) => void): Promise<Server> {
  const server = createServer(answer);
  await once(server.listen(0, "127.0.0.1"), "listening");
  return server;
}

function originOf(server: Server): string {
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
