// Servers elsewhere whose JSON answers are small as text and large as a tree; a caller repeatedly calls agents that call
// these servers.

import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { fresh, type Headers } from "../../tests/e2e/access.ts";
import { message, toolCall, type Said } from "../../tests/e2e/client.ts";
import { cardOf, withFronts } from "../../tests/e2e/fronts.ts";
import type { Worker } from "../workers.ts";
import type { Attack, Ground, Running } from "./attack.ts";

const MEBIBYTE = 1024 * 1024;

/** The number of simultaneous requests of the caller. */
const AT_ONCE = 4;

/** The time limit until that many large answers were requested. */
const UNDER_WAY_MS = 60_000;

/** The key for the servers elsewhere. */
const KEY = fresh();

/** The values in the lists. */
const [OBJECT, NUMBER] = ['{"a":{}}', "1"];

/** The limits are 4 MiB for answers and 1 MiB for cards. */
const [ANSWER_BYTES, CARD_BYTES] = [4 * MEBIBYTE - 2_000, MEBIBYTE - 2_000];

/** The text before and after the list in a large answer; `id` is the id of the request, as JSON. */
type Around = (id: string, origin: string) => [before: string, behind: string];

interface Hostile {
  /** The name of the attack. */
  name: string;
  around: Around;
  /** The value that the list repeats, and the size of the list in bytes. */
  value: string;
  bytes: number;
  /** The path and the body of the caller's request to the Worker. */
  path: string;
  body(origin: string): object;
}

const ended: Around = (id) => [
  `{"jsonrpc":"2.0","id":${id},"result":{"task":{"id":"t","contextId":"c","status":{"state":"TASK_STATE_COMPLETED"},"artifacts":[{"artifactId":"a","parts":[{"data":`,
  "}]}]}}}",
];
const card: Around = (_, origin) => [`${JSON.stringify(cardOf(origin)).slice(0, -1)},"more":`, "}"];
const result: Around = (id) => [`{"jsonrpc":"2.0","id":${id},"result":{"content":[],"structuredContent":{"all":`, "}}}"];
const completion: Around = () => [
  '{"id":"c","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":"x"}}],"more":',
  "}",
];

const send = (said: Said): object => ({ jsonrpc: "2.0", id: 1, method: "SendMessage", params: { message: message(said) } });

const OBJECTS = { value: OBJECT, bytes: ANSWER_BYTES };

const ALL: Hostile[] = [
  { name: "4 MB of objects from an agent elsewhere, behind `remote`", around: ended, ...OBJECTS, path: "/elsewhere", body: () => send("hello") },
  { name: "4 MB of numbers from the same", around: ended, ...OBJECTS, value: NUMBER, path: "/elsewhere", body: () => send("hello") },
  { name: "1 MB of objects in the card of an agent elsewhere", around: card, value: OBJECT, bytes: CARD_BYTES, path: "/large", body: () => send("hello") },
  { name: "4 MB of objects from an MCP server, behind `tools`", around: result, ...OBJECTS, path: "/workshop", body: () => send(toolCall("say", {})) },
  { name: "4 MB of objects from a model", around: completion, ...OBJECTS, path: "/thinker", body: () => send("hello") },
];

export const jsonValues: Attack[] = ALL.map(attackOf);

function attackOf(hostile: Hostile): Attack {
  let elsewhere: Elsewhere | undefined;
  return {
    name: hostile.name,
    async prepare(): Promise<Ground> {
      const begun = await Elsewhere.start(hostile);
      elsewhere = begun;
      const { origin } = begun;
      return {
        vars: {
          AGENTS: withFronts({ elsewhere: { remote: { url: `${origin}/agent`, max_retries: 0 } }, large: { remote: { url: `${origin}/large`, max_retries: 0 } } }),
          WEBHOOK_ALLOW_PRIVATE: "true",
          MODERN_URL: origin, MODERN_TOKEN: KEY, EVERYTHING_URL: origin, MODEL_URL: `${origin}/v1`, MODEL_KEY: KEY, SINK: origin,
        },
        close: () => begun.close(),
      };
    },
    begin(worker) {
      if (elsewhere === undefined) throw new Error("the servers elsewhere were not started");
      return begin(worker, hostile, elsewhere);
    },
  };
}

async function begin(worker: Worker, { name, path, body }: Hostile, elsewhere: Elsewhere): Promise<Running> {
  const over = new AbortController();
  let last = "nothing";
  const attack = async (): Promise<void> => {
    while (!over.signal.aborted) {
      const headers: Headers = { "content-type": "application/json", "a2a-version": "1.0" };
      const sent = { method: "POST", headers, body: JSON.stringify(body(elsewhere.origin)), signal: over.signal };
      await fetch(worker.url + path, sent)
        .then((answer) => answer.text())
        .then((text) => (last = text.slice(0, 500)), (error: unknown) => (last = String(error)));
    }
  };
  const before = elsewhere.given;
  const all = Array.from({ length: AT_ONCE }, attack);
  const from = performance.now();
  while (elsewhere.given < before + AT_ONCE) {
    if (performance.now() > from + UNDER_WAY_MS) {
      over.abort();
      throw new Error(`"${name}" does not come to its large answers; the Worker says: ${last}`);
    }
    await new Promise((go) => setTimeout(go, 20));
  }
  return {
    async stop() {
      over.abort();
      await Promise.all(all);
    },
  };
}

/** An agent, an MCP server and a model in one, with large answers where possible. */
class Elsewhere {
  /** The number of large answers so far. */
  given = 0;
  readonly #http = createServer((request, response) => void this.#answer(request, response).catch(() => response.destroy()));
  readonly #around: Around;
  readonly #list: Buffer;

  private constructor({ around, value, bytes }: Hostile) {
    this.#around = around;
    this.#list = Buffer.from(`[${Array.from({ length: Math.floor(bytes / (value.length + 1)) }, () => value).join(",")}]`);
  }

  static async start(hostile: Hostile): Promise<Elsewhere> {
    const elsewhere = new Elsewhere(hostile);
    elsewhere.#http.listen(0, "127.0.0.1");
    await once(elsewhere.#http, "listening");
    return elsewhere;
  }

  get origin(): string {
    return `http://127.0.0.1:${(this.#http.address() as AddressInfo).port}`;
  }

  close(): Promise<void> {
    this.#http.closeAllConnections();
    return new Promise((resolve) => this.#http.close(() => resolve()));
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let text = "";
    for await (const piece of request.setEncoding("utf8")) text += piece;
    const { id, method } = (text === "" ? {} : JSON.parse(text)) as { id?: unknown; method?: string };
    const small = this.#small(request.url ?? "", method);
    response.writeHead(200, { "content-type": "application/json" });
    if (small !== undefined) return void response.end(JSON.stringify(method === undefined ? small : { jsonrpc: "2.0", id, result: small }));
    this.given += 1;
    const [before, behind] = this.#around(JSON.stringify(id ?? null), this.origin);
    response.write(before);
    response.write(this.#list);
    response.end(behind);
  }

  /** The answers to the requests before the large answer. */
  #small(path: string, method: string | undefined): object | undefined {
    if (path.startsWith("/agent/.well-known/")) return { ...cardOf(`${this.origin}/agent`), capabilities: { streaming: false } };
    if (method === "server/discover") {
      return { resultType: "complete", supportedVersions: ["2026-07-28"], capabilities: { tools: {} }, ttlMs: 3_600_000, cacheScope: "public" };
    }
    if (method === "tools/list") return { tools: [{ name: "say", inputSchema: { type: "object" } }], ttlMs: 3_600_000, cacheScope: "public" };
    return undefined;
  }
}
