// Requests over keep-alive connections, with as many simultaneous requests as connections.

import { randomUUID } from "node:crypto";
import { Agent, request } from "node:http";
import { message, type Said } from "../tests/e2e/client.ts";
import { percentile, sum } from "./figures.ts";

/** A request that is sent repeatedly. */
export interface Exchange {
  url: string;
  /** Makes the next body; without it, the request is a GET. */
  body?: () => string;
  /** Headers of each request, for example credentials. */
  headers?: Record<string, string>;
  /** A text that each answer must contain, so that only expected answers are measured. */
  answer: string;
}

/** The figures of one slice of a measurement. */
export interface Slice {
  count: number;
  perSecond: number;
  p50: number;
  p99: number;
}

/** The baseline of every ratio: the front Worker alone answers it, from memory. */
export function card(workerUrl: string): Exchange {
  return { url: `${workerUrl}/.well-known/agent-card.json`, answer: "supportedInterfaces" };
}

/** A JSON-RPC call. */
export function call(endpoint: string, method: string, params: () => unknown, answer: string): Exchange {
  return { url: endpoint, body: () => JSON.stringify({ jsonrpc: "2.0", id: randomUUID(), method, params: params() }), answer };
}

/** A blocking send. */
export function send(endpoint: string, said: () => Said, answer = "TASK_STATE_COMPLETED"): Exchange {
  return call(endpoint, "SendMessage", () => ({ message: message(said()) }), answer);
}

/**
 * A number of keep-alive connections.
 *
 * workerd closes a connection that was idle for 15 seconds. A request that is sent at that instant is not read by anybody, and fails with "socket hang up"; it is
 * sent again over a new connection.
 */
export class Connections implements Disposable {
  readonly #count: number;
  readonly #agent: Agent;

  constructor(count: number) {
    this.#count = count;
    this.#agent = new Agent({ keepAlive: true, maxSockets: count });
  }

  /** Repeats an exchange on every connection until the time is over. */
  repeat(exchange: Exchange, forMs: number): Promise<Slice> {
    const end = performance.now() + forMs;
    return this.#while(exchange, (_, now) => now < end);
  }

  /** Runs an exchange `count` times, spread over all connections. */
  times(exchange: Exchange, count: number): Promise<Slice> {
    return this.#while(exchange, (begun) => begun < count);
  }

  /** Runs an exchange on all connections, as long as `goesOn` says so of the number of exchanges that were begun, and of the time. */
  async #while(exchange: Exchange, goesOn: (begun: number, now: number) => boolean): Promise<Slice> {
    const latencies: number[] = [];
    const begun = performance.now();
    let count = 0;
    const loop = async (): Promise<void> => {
      for (let sent = performance.now(); goesOn(count, sent); ) {
        count += 1;
        await this.once(exchange);
        const now = performance.now();
        latencies.push(now - sent);
        sent = now;
      }
    };
    await Promise.all(Array.from({ length: this.#count }, loop));
    const seconds = (performance.now() - begun) / 1000;
    return { count: latencies.length, perSecond: latencies.length / seconds, p50: percentile(latencies, 50), p99: percentile(latencies, 99) };
  }

  /** Runs one exchange; returns the answer, or throws an unexpected one. */
  async once({ url, body, headers, answer }: Exchange): Promise<string> {
    const { status, text } = await this.#exchange(url, body?.(), headers);
    if (status !== 200 || !text.includes(answer)) throw new Error(`${url} was answered with ${status} ${text}`);
    return text;
  }

  [Symbol.dispose](): void {
    this.#agent.destroy();
  }

  async #exchange(url: string, body: string | undefined, headers: Record<string, string> | undefined): Promise<Answer> {
    for (;;) {
      const answer = await exchangeOnce(url, body, this.#agent, headers);
      if (answer !== "was closed") return answer;
    }
  }
}

interface Answer {
  status: number;
  text: string;
}

/** Runs several exchanges in turn, each after a slice of the baseline; the figures of a round belong together. */
export async function interleaved(connections: Connections, baseline: Exchange, exchanges: Exchange[], sliceMs: number): Promise<Slice[]> {
  const baselines: Slice[] = [];
  const slices: Slice[] = [];
  for (const exchange of exchanges) {
    baselines.push(await connections.repeat(baseline, sliceMs));
    slices.push(await connections.repeat(exchange, sliceMs));
  }
  const mean = (figure: keyof Slice) => sum(baselines.map((slice) => slice[figure])) / baselines.length;
  return [{ count: mean("count"), perSecond: mean("perSecond"), p50: mean("p50"), p99: mean("p99") }, ...slices];
}

/** Sends a request; "was closed" if the connection was one that the server has closed, with no byte of an answer. */
function exchangeOnce(url: string, body: string | undefined, agent: Agent, headers: Record<string, string> = {}): Promise<Answer | "was closed"> {
  return new Promise((resolve, reject) => {
    const json = { ...headers, "content-type": "application/json", "a2a-version": "1.0", "content-length": Buffer.byteLength(body ?? "") };
    const sent = request(url, body === undefined ? { headers, agent } : { method: "POST", headers: json, agent }, (response) => {
      let text = "";
      response.setEncoding("utf8");
      response.on("data", (chunk: string) => (text += chunk));
      response.on("end", () => resolve({ status: response.statusCode ?? 0, text }));
      response.on("error", reject);
    });
    const failed = (error: NodeJS.ErrnoException): void => {
      if (sent.reusedSocket && (error.code === "ECONNRESET" || error.code === "EPIPE")) resolve("was closed");
      else reject(error);
    };
    sent.on("error", failed).end(body);
  });
}
