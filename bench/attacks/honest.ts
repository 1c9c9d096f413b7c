// Honest callers: their requests, the time until the answer, and how many are answered.

import { request } from "node:http";
import { Agent, message } from "../../tests/e2e/client.ts";
import type { Worker } from "../workers.ts";

/** A request that is sent repeatedly, each time over a new connection. */
export interface Honest {
  name: string;
  url: string;
  body: () => string;
  /** True if the body is sent in pieces, without its length. */
  isChunked: boolean;
  /** A text that its answer contains. */
  answer: string;
}

/** The results of the requests of one slice. */
export interface Told {
  /** The latencies of the expected answers, in milliseconds. */
  latencies: number[];
  /** The number of requests. */
  sent: number;
}

/** The time limit of an honest caller for an answer. */
const PATIENCE_MS = 5_000;

/** The smallest number of requests in a slice. */
const LEAST_REQUESTS = 3;

/** The requests that are measured during every attack. */
export async function honestOf(worker: Worker): Promise<Honest[]> {
  const url = `${worker.url}/demo`;
  const { id } = await new Agent(url).sendForTask("hello");
  const rpc = (method: string, params: unknown): string => JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
  const send = (text: string) => () => rpc("SendMessage", { message: message(text) });
  const ended = "TASK_STATE_COMPLETED";
  return [
    { name: "GetTask", url, body: () => rpc("GetTask", { id }), isChunked: false, answer: id },
    { name: "a send in pieces, without its length", url, body: send("hello"), isChunked: true, answer: ended },
    { name: "a send of 300 KB", url, body: send("x".repeat(300_000)), isChunked: false, answer: ended },
  ];
}

/** Repeats a request until the time is over. */
export async function repeat(honest: Honest, forMs: number): Promise<Told> {
  const told: Told = { latencies: [], sent: 0 };
  const begun = performance.now();
  while (performance.now() < begun + forMs || told.sent < LEAST_REQUESTS) {
    const sent = performance.now();
    told.sent += 1;
    if (await isAnswered(honest)) told.latencies.push(performance.now() - sent);
  }
  return told;
}

function isAnswered({ url, body, isChunked, answer }: Honest): Promise<boolean> {
  const text = body();
  const framing: Record<string, string | number> = isChunked ? { "transfer-encoding": "chunked" } : { "content-length": Buffer.byteLength(text) };
  const headers = { "content-type": "application/json", "a2a-version": "1.0", ...framing };
  return new Promise((resolve) => {
    const sent = request(url, { method: "POST", headers, agent: false, timeout: PATIENCE_MS }, (response) => {
      let told = "";
      response.setEncoding("utf8").on("data", (chunk: string) => (told += chunk));
      response.on("end", () => resolve(response.statusCode === 200 && told.includes(answer))).on("error", () => resolve(false));
    });
    sent.on("timeout", () => sent.destroy()).on("error", () => resolve(false)).end(text);
  });
}
