// A client of A2A 0.1 like programs of that time: it chooses the ids of its tasks, has no ids of messages and no versions,
// and parses answers strictly.

import { randomUUID } from "node:crypto";
import {
  asArtifactEvent, asStatusEvent, asTask, asWebhook,
  type ArtifactEvent, type EarlyPart, type EarlyTask, type EarlyWebhook, type StatusEvent,
} from "./early-shapes.ts";
import { testAgents } from "./harness.ts";

/** The variables of a Worker whose agents all speak 0.3 and 0.1, with this table `[dialects.legacy]` in their files. */
export function speakingEarly(legacy: object = {}): Record<string, string> {
  const embedded = JSON.parse(testAgents) as { agents: object[] };
  const dialects = { v0_3: { enabled: true }, legacy: { enabled: true, ...legacy } };
  return { AGENTS: JSON.stringify({ ...embedded, agents: embedded.agents.map((agent) => ({ ...agent, dialects })) }) };
}

/** The parameters of a send in addition to its message. */
export interface Sent {
  id?: string;
  sessionId?: string;
  historyLength?: number;
  pushNotification?: EarlyWebhook;
  metadata?: Record<string, unknown>;
}

/** An answer that is an error. */
export class EarlyError extends Error {
  readonly code: number;
  readonly status: number;
  /** The details of the error; its message only repeats the meaning of the code. */
  readonly text: string;

  constructor(code: number, message: string, status: number, text: string) {
    super(message);
    this.code = code;
    this.status = status;
    this.text = text;
  }
}

/** One frame of a stream. */
export type EarlyEvent = { kind: "status"; event: StatusEvent } | { kind: "artifact"; event: ArtifactEvent };

/** A new id for a task. */
export const freshId = (): string => `task-${randomUUID()}`;

export class EarlyClient {
  readonly url: string;
  readonly #headers: Record<string, string>;
  #requests = 0;

  constructor(url: string, headers: Record<string, string> = {}) {
    this.url = url;
    this.#headers = { "content-type": "application/json", ...headers };
  }

  /** Sends a text or parts, waits for the end of the turn, and returns the task. */
  async send(said: string | EarlyPart[], sent: Sent = {}): Promise<EarlyTask> {
    return asTask(await this.call("tasks/send", sending(said, sent)));
  }

  async get(id: string, historyLength?: number): Promise<EarlyTask> {
    return asTask(await this.call("tasks/get", { id, historyLength }));
  }

  async cancel(id: string): Promise<EarlyTask> {
    return asTask(await this.call("tasks/cancel", { id }));
  }

  async setPushNotification(id: string, pushNotificationConfig: EarlyWebhook): Promise<EarlyWebhook> {
    return this.#webhook(id, await this.call("tasks/pushNotification/set", { id, pushNotificationConfig }));
  }

  async getPushNotification(id: string): Promise<EarlyWebhook> {
    return this.#webhook(id, await this.call("tasks/pushNotification/get", { id }));
  }

  /** Sends a text and yields the events up to the final one. */
  sendSubscribe(said: string | EarlyPart[], sent: Sent = {}): AsyncGenerator<EarlyEvent, void> {
    return this.#stream("tasks/sendSubscribe", sending(said, sent), this.url);
  }

  /** The same at the path that is only for streams. */
  subscribe(said: string, sent: Sent = {}): AsyncGenerator<EarlyEvent, void> {
    return this.#stream("tasks/sendSubscribe", sending(said, sent), `${this.url.replace(/\/$/, "")}/subscribe`);
  }

  resubscribe(id: string): AsyncGenerator<EarlyEvent, void> {
    return this.#stream("tasks/resubscribe", { id }, this.url);
  }

  /** The result of any method, unchecked. */
  async call(method: string, params: unknown): Promise<unknown> {
    const { response, id } = await this.#post(method, params, this.url, "application/json");
    return resultOf(await response.json(), response.status, id);
  }

  async *#stream(method: string, params: unknown, url: string): AsyncGenerator<EarlyEvent, void> {
    const { response, id } = await this.#post(method, params, url, "text/event-stream");
    if (!/^text\/event-stream\b/.test(response.headers.get("content-type") ?? "")) resultOf(await response.json(), response.status, id);
    let isFirst = true;
    let isOver = false;
    for await (const { name, data } of framesOf(response)) {
      if (isOver) throw new Error(`a frame follows the one that was final: ${data}`);
      const result = resultOf(JSON.parse(data), response.status, id);
      const event = asEvent(name, result);
      if (isFirst && event.kind !== "status") throw new Error("the first frame is no status");
      isFirst = false;
      isOver = event.kind === "status" && event.event.final;
      yield event;
    }
    if (!isOver) throw new Error("the stream ended before its last frame");
  }

  #webhook(id: string, result: unknown): EarlyWebhook {
    const read = asWebhook(result);
    if (read.id !== id) throw new Error(`a webhook of ${read.id}`);
    return read.pushNotificationConfig;
  }

  async #post(method: string, params: unknown, url: string, accept: string): Promise<{ response: Response; id: number }> {
    this.#requests += 1;
    const id = this.#requests;
    const body = JSON.stringify({ jsonrpc: "2.0", id, method, params });
    return { response: await fetch(url, { method: "POST", headers: { ...this.#headers, accept }, body }), id };
  }
}

function sending(said: string | EarlyPart[], { id = freshId(), ...rest }: Sent): object {
  const parts = typeof said === "string" ? [{ type: "text", text: said }] : said;
  return { id, message: { role: "user", parts }, ...rest };
}

/** The result of an answer; throws if it is an error. */
function resultOf(answer: unknown, status: number, id: number): unknown {
  const { jsonrpc, id: told, result, error } = answer as {
    jsonrpc: unknown; id: unknown; result?: unknown; error?: { code: number; message: string; data?: { text?: string } };
  };
  if (jsonrpc !== "2.0") throw new Error(`no JSON-RPC: ${JSON.stringify(answer)}`);
  if (error !== undefined) throw new EarlyError(error.code, error.message, status, error.data?.text ?? error.message);
  if (told !== id) throw new Error(`an answer to ${String(told)} instead of ${id}`);
  return result;
}

/** An event, checked against the name of its frame. */
function asEvent(name: string | undefined, result: unknown): EarlyEvent {
  if (name === "status") return { kind: "status", event: asStatusEvent(result) };
  if (name === "artifact") return { kind: "artifact", event: asArtifactEvent(result) };
  throw new Error(`a frame of the name ${String(name)}`);
}

async function* framesOf(response: Response): AsyncGenerator<{ name: string | undefined; data: string }> {
  let text = "";
  const decoder = new TextDecoder();
  for await (const piece of response.body ?? []) {
    text += decoder.decode(piece, { stream: true });
    const blocks = text.split("\n\n");
    text = blocks.pop() ?? "";
    for (const block of blocks) {
      const field = (name: string) => block.split("\n").find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2);
      const data = field("data");
      if (data !== undefined) yield { name: field("event"), data };
    }
  }
  if (text !== "") throw new Error(`the stream ends inside of a frame: ${text}`);
}
