// Streams in the comparison: the time to the first event, and the time to the last events for many streams of one task.

import { Agent as Keeping, request, type IncomingMessage } from "node:http";
import { Agent, message } from "../../tests/e2e/client.ts";
import { percentile } from "../figures.ts";
import { startFloors } from "../baselines/start.ts";
import type { Worker } from "../workers.ts";
import { computing, type Entrant, type Measured } from "./contest.ts";
import { curveKey, PERCENTILES } from "./curve.ts";
import type { StreamSpeaker } from "./entrants.ts";

/** How long a task is held until all streams follow it. */
const HOLD_MS = 1_500;

/** Rounds that are not counted: until WebAssembly and JavaScript are fully compiled, as in the other disciplines. */
const WARM_UP_ROUNDS = 10;

/** The time until all sockets are closed. */
const CLOSED_MS = 600;

/** A stream of a new task without a protocol: a row and an alarm, then an event, a change of the row, the last event, and a row in D1. */
export const firstEventFloor: StreamSpeaker = { role: "floor", name: "new object with a row and an alarm, its socket written by the front", start: startFloors, endpoint: ({ url }) => `${url}/sockets-new` };

/** One stream after the other, each read to its end: the median time from the send to the first event, and processor time of a stream. */
export function firstEvents({ role, name, start, endpoint }: StreamSpeaker, sliceMs: number, warmUpMs: number): Entrant {
  return {
    role,
    name,
    start,
    async prepare(worker) {
      await firstEventTimes(endpoint(worker), warmUpMs);
      return async (): Promise<Measured> => {
        const [taken, cpuMs] = await computing(worker, () => firstEventTimes(endpoint(worker), sliceMs));
        return { firstMs: percentile(taken, 50), cpuMs: cpuMs / taken.length };
      };
    },
  };
}

/** The times to the first event of streams of a quick task, one after the other on one connection, for this duration. */
export async function firstEventTimes(endpoint: string, forMs: number): Promise<number[]> {
  const agent = new Keeping({ keepAlive: true, maxSockets: 1 });
  const taken: number[] = [];
  for (const begun = performance.now(); performance.now() < begun + forMs; ) {
    const sent = performance.now();
    const stream = await openStream(endpoint, "SendStreamingMessage", { message: message("hello") }, agent);
    const text = await stream.ended;
    if (!text.includes(COMPLETED)) throw new Error(`a stream of ${endpoint} ended with ${text}`);
    taken.push(stream.firstAt - sent);
  }
  agent.destroy();
  return taken;
}

/**
 * Many streams of one task: the median time from the end of the task to the delivery of the end event, and the processor time of a stream from its
 * opening to its end.
 */
export function fanOut({ role, name, start, endpoint }: StreamSpeaker, streams: number): Entrant {
  const work = async (worker: Worker): Promise<Measured> => {
    const agent = new Agent(endpoint(worker));
    const { id } = await agent.sendForTask(`hold ${HOLD_MS}`, { returnImmediately: true });
    return followed(worker, streams, () => openStream(endpoint(worker), "SubscribeToTask", { id }), async () => {});
  };
  return { role, name, start, prepare: (worker) => prepared(worker, work) };
}

/** The same without a protocol, for a path of floors.js. */
export function fanOutFloor(name: string, path: "/sockets" | "/streams", streams: number): Entrant {
  let round = 0;
  const work = async (worker: Worker): Promise<Measured> => {
    round += 1;
    const publish = () => fetch(`${worker.url}${path}/end?${round}`, { method: "POST", body: "x".repeat(400) }).then((answer) => answer.text());
    return followed(worker, streams, () => openStream(`${worker.url}${path}?${round}`, "SubscribeToTask", { id: "x".repeat(64) }), publish);
  };
  return { role: "floor", name, start: startFloors, prepare: (worker) => prepared(worker, work) };
}

async function prepared(worker: Worker, work: (worker: Worker) => Promise<Measured>): Promise<() => Promise<Measured>> {
  for (let round = 0; round < WARM_UP_ROUNDS; round++) await work(worker);
  return () => work(worker);
}

async function followed(worker: Worker, count: number, openOne: () => Promise<Stream>, publish: () => Promise<unknown>): Promise<Measured> {
  const [delays, cpuMs] = await computing(worker, async () => {
    const streams = await Promise.all(Array.from({ length: count }, openOne));
    await publish();
    const delays: number[] = [];
    for (const stream of streams) {
      const text = await stream.ended;
      const [, at = ""] = ENDED.exec(text) ?? [];
      const ended = Date.parse(at);
      if (stream.firstAt + performance.timeOrigin > ended) throw new Error("the task ended before all followed it");
      if (Number.isNaN(ended)) throw new Error(`a stream ended with ${text.slice(-300)}`);
      delays.push(stream.completedAt + performance.timeOrigin - ended);
    }
    await new Promise((resolve) => setTimeout(resolve, CLOSED_MS));
    return delays;
  });
  const curve = PERCENTILES.map((percent) => [curveKey(percent), percentile(delays, percent)] as const);
  return { lastMs: percentile(delays, 50), cpuMs: cpuMs / count, ...Object.fromEntries(curve) };
}

/** The time of completion, in the last event; members are in any order. */
const COMPLETED = "TASK_STATE_COMPLETED";
const ENDED = /TASK_STATE_COMPLETED"[^{}]*"timestamp":"([^"]+)"|"timestamp":"[^"]+"[^{}]*TASK_STATE_COMPLETED/;

/** A stream after its first event. */
export interface Stream {
  firstAt: number;
  /** The instant at which the event with the completed state arrived. */
  completedAt: number;
  ended: Promise<string>;
  /** Closes the connection without a message. */
  leave: () => void;
}

/** Opens a stream, by a call or, without a method, by a GET. The text is collected and hardly parsed while it arrives. */
export function openStream(url: string, method?: string, params?: unknown, agent: Keeping | false = false): Promise<Stream> {
  return new Promise((resolve, reject) => {
    const headers = { "content-type": "application/json", "a2a-version": "1.0" };
    const onAnswer = (response: IncomingMessage): void => {
      let text = "";
      const ended = Promise.withResolvers<string>();
      // Whoever opened the stream may not wait for its end.
      ended.promise.catch(() => {});
      const stream: Stream = { firstAt: 0, completedAt: 0, ended: ended.promise, leave: () => response.destroy() };
      const fail = (error: Error): void => {
        reject(error);
        ended.reject(error);
      };
      response.setEncoding("utf8").on("error", fail);
      response.on("data", (chunk: string) => {
        text += chunk;
        const now = performance.now();
        if (stream.completedAt === 0 && chunk.includes(COMPLETED)) stream.completedAt = now;
        if (stream.firstAt > 0 || !text.includes("\n\n")) return;
        stream.firstAt = now;
        resolve(stream);
      });
      response.on("end", () => (stream.firstAt > 0 ? ended.resolve(text) : fail(new Error(`no stream but ${response.statusCode} ${text}`))));
    };
    const sent = request(url, { method: method === undefined ? "GET" : "POST", headers, agent }, onAnswer).on("error", reject);
    sent.end(method === undefined ? "" : JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }));
  });
}
