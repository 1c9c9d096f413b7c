// Reads event streams of either binding like a plain HTTP client.

import { randomUUID } from "node:crypto";
import { request, type ClientRequest, type IncomingMessage } from "node:http";
import { message, type Artifact, type Said, type Task } from "./client.ts";

/** The contents of one event (§3.2.3). */
export interface StreamResponse {
  task?: Task;
  message?: { parts: { text?: string }[] };
  statusUpdate?: { taskId: string; status: Task["status"] };
  artifactUpdate?: { taskId: string; artifact: Artifact; append?: boolean; lastChunk?: boolean };
}

/** One server-sent event. */
export interface StreamEvent {
  /** The generation of the event; undefined if the event has none. */
  id: number | undefined;
  /** The `event` field; `message` if it is missing. */
  type: string;
  data: { result?: StreamResponse; error?: { code: number }; id?: unknown };
}

/** Converts an event into another form. */
export type Hear = (event: StreamEvent) => StreamEvent;

/** An open stream. */
export class EventStream implements AsyncIterable<StreamEvent> {
  /** The comments so far. */
  readonly comments: string[] = [];
  readonly response: IncomingMessage;
  readonly #events: AsyncGenerator<StreamEvent>;

  private constructor(response: IncomingMessage, hear: Hear = (event) => event) {
    this.response = response;
    this.#events = this.#read(hear);
  }

  /**
   * Opens a stream, or throws the answer if there is no stream. A 204, for a task without further events, is a stream
   * without events. `hear` converts events of another version to 1.0.
   */
  static async open(endpoint: string, method: string, params: unknown, headers: Record<string, string> = {}, hear?: Hear): Promise<EventStream> {
    const body = JSON.stringify({ jsonrpc: "2.0", id: randomUUID(), method, params });
    const all = { "content-type": "application/json", "a2a-version": "1.0", ...headers };
    const sent = request(endpoint, { method: "POST", headers: all, agent: false });
    const response = await answerTo(sent, body);
    if (response.statusCode === 204) return new EventStream(response);
    if (!/^text\/event-stream\b/.test(response.headers["content-type"] ?? "")) {
      throw new NoStream(response.statusCode ?? 0, JSON.parse(await textOf(response)) as NoStream["body"]);
    }
    return new EventStream(response, hear);
  }

  [Symbol.asyncIterator](): AsyncIterator<StreamEvent> {
    return { next: () => this.#events.next() };
  }

  /** The next event. */
  async next(): Promise<StreamEvent> {
    const { value, done } = await this.#events.next();
    if (done === true) throw new Error("the stream has ended");
    return value as StreamEvent;
  }

  /** All remaining events, to the end. */
  async rest(): Promise<StreamEvent[]> {
    const events = [];
    for await (const event of this) events.push(event);
    return events;
  }

  /** Disconnects without a message. */
  leave(): void {
    this.response.destroy();
  }

  async *#read(hear: Hear): AsyncGenerator<StreamEvent> {
    let text = "";
    this.response.setEncoding("utf8");
    for await (const chunk of this.response) {
      text += chunk as string;
      const blocks = text.split("\n\n");
      text = blocks.pop() ?? "";
      for (const block of blocks) {
        if (block.startsWith(":")) this.comments.push(block.slice(1).trim());
        else yield hear(parse(block));
      }
    }
  }
}

/** The answer in place of a stream. */
export class NoStream extends Error {
  readonly status: number;
  readonly body: { error?: { code: number; message: string } };
  readonly code: number | undefined;

  constructor(status: number, body: NoStream["body"]) {
    super(`no stream but ${status} ${JSON.stringify(body)}`);
    this.status = status;
    this.body = body;
    this.code = body.error?.code;
  }
}

/** Sends a message and follows its task. */
export function sendStreaming(endpoint: string, said: Said, configuration?: object): Promise<EventStream> {
  return EventStream.open(endpoint, "SendStreamingMessage", { message: message(said), configuration });
}

/** Follows a task; with `after`, from the event after that generation. */
export function subscribe(endpoint: string, id: string, after?: number): Promise<EventStream> {
  const headers = after === undefined ? {} : { "last-event-id": String(after) };
  return EventStream.open(endpoint, "SubscribeToTask", { id }, headers as Record<string, string>);
}

/** The events without the ids of their JSON-RPC requests, which differ between streams. */
export function contents(events: StreamEvent[]): [number | undefined, StreamResponse | undefined][] {
  return events.map(({ id, data }) => [id, data.result]);
}

/** The kind of an event: `task:SUBMITTED`, `status:WORKING`, `artifact`, `message`. */
export function kindOf({ data }: StreamEvent): string {
  const { task, statusUpdate, artifactUpdate } = data.result ?? {};
  const state = (task ?? statusUpdate)?.status.state.replace("TASK_STATE_", "");
  if (task !== undefined) return `task:${state}`;
  if (statusUpdate !== undefined) return `status:${state}`;
  return artifactUpdate === undefined ? "message" : "artifact";
}

function parse(block: string): StreamEvent {
  const fields = block.split("\n").map((line) => [line.slice(0, line.indexOf(": ")), line.slice(line.indexOf(": ") + 2)]);
  const field = (name: string) => fields.find(([known]) => known === name)?.[1];
  const id = field("id");
  const data = JSON.parse(field("data") ?? "null") as StreamEvent["data"];
  return { id: id === undefined ? undefined : Number(id), type: field("event") ?? "message", data };
}

function answerTo(sent: ClientRequest, body: string): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    sent.on("response", resolve).on("error", reject).end(body);
  });
}

async function textOf(response: IncomingMessage): Promise<string> {
  let text = "";
  for await (const chunk of response) text += String(chunk);
  return text;
}
