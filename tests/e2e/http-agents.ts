// Agents of kind "http" for a Worker under test, made at run time, and a server with their programs, whose answers the test
// defines.
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { readFileSync } from "node:fs";
import { Ajv2020 } from "ajv/dist/2020.js";
import type { Message, Task } from "./client.ts";
import { testAgents } from "./harness.ts";
import { cardOf } from "./fronts.ts";

/** The turn that an agent receives: `docs/http-agent-turn.schema.json`. */
export interface Turn {
  version: string;
  agent: string;
  taskId: string;
  contextId: string;
  turn: number;
  attempt: number;
  resumes: boolean;
  timeLeftMs: number;
  message: Message;
  history: Message[];
  caller: { id: string; permissions: string[] };
  metadata?: object;
  credentials?: Record<string, unknown>;
  usage?: object;
  task?: Task;
  canceled?: boolean;
}

/** A request to an agent. */
export interface Asked {
  turn: Turn;
  /** The text of the message of the turn. */
  text: string;
  headers: IncomingHttpHeaders;
  body: string;
  path: string;
  /** Resolves when the connection is closed, before or after the end of the answer. */
  closed: Promise<void>;
}

/**
 * The agents of tests/agents and these, by their names with the tables `[executor.http]`, as a value for the variable `AGENTS`.
 */
export function withHttpAgents(tables: Record<string, object>, run: object = {}, access: object = { open: true, open_listing: true }): string {
  const embedded = JSON.parse(testAgents) as { agents: object[] };
  for (const [slug, table] of Object.entries(tables)) {
    embedded.agents.push({
      slug, default: false, development: false, access,
      capabilities: { streaming: true, push_notifications: false, extended_agent_card: false },
      executor: { kind: "http", table, run: { timeout_ms: 60_000, ...run } },
      card: JSON.stringify(cardOf("https://a2a-edge.invalid")),
    });
  }
  return JSON.stringify(embedded);
}

const schema = (name: string): object => JSON.parse(readFileSync(new URL(`../../docs/${name}`, import.meta.url), "utf8")) as object;
const ajv = new Ajv2020({ strict: false });
const isTurn = ajv.compile(schema("http-agent-turn.schema.json"));

/** The problem of a turn according to its schema; undefined if it is valid. */
export const turnProblem = (turn: unknown): string | undefined => (isTurn(turn) ? undefined : ajv.errorsText(isTurn.errors));

/** A server of programs: each has a path; one function answers for all. */
export class AgentServer {
  readonly url: string;
  readonly asked: Asked[] = [];
  readonly close: () => void;

  private constructor(url: string, close: () => void) {
    this.url = url;
    this.close = close;
  }

  /** Opens a server at this port, or at a free one. */
  static async open(answer: (asked: Asked, response: ServerResponse) => unknown, port = 0): Promise<AgentServer> {
    const server = createServer((request, response) => void take(request, response));
    await once(server.listen(port, "127.0.0.1"), "listening");
    const opened = new AgentServer(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, () => {
      server.closeAllConnections();
      server.close();
    });
    const take = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
      let body = "";
      for await (const chunk of request.setEncoding("utf8")) body += chunk as string;
      // The console asks whether the program runs.
      if (body === "") return void response.writeHead(405).end();
      const turn = JSON.parse(body) as Turn;
      const text = turn.message?.parts.map((part) => part.text ?? "").join(" ") ?? "";
      const closed = once(response, "close").then(() => undefined);
      const asked = { turn, text, headers: request.headers, body, path: request.url ?? "/", closed };
      opened.asked.push(asked);
      await answer(asked, response);
    };
    return opened;
  }

  /** The requests for turns of this task, oldest first. */
  of(taskId: string): Asked[] {
    return this.asked.filter(({ turn }) => turn.taskId === taskId);
  }
}

/** Answers with verbs as lines, all at once. */
export function lines(response: ServerResponse, ...verbs: object[]): void {
  response.setHeader("content-type", "application/x-ndjson");
  response.end(verbs.map((verb) => `${JSON.stringify(verb)}\n`).join(""));
}

/** Sends verbs as events, and leaves the answer open. */
export function events(response: ServerResponse, ...verbs: object[]): void {
  if (!response.headersSent) response.setHeader("content-type", "text/event-stream");
  for (const verb of verbs) response.write(`data: ${JSON.stringify(verb)}\n\n`);
}
