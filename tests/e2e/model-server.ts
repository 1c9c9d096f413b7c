// A model with the format of chat completions, in this process: it records its requests, and answers as a test defines.
//
//   const model = await ModelServer.start();               // `base_url` is model.url
//   model.answers(call("clock", { zone: "UTC" }), say(["It is ", "noon."]));
//   model.answerWith((asked) => held(say(["one", "two"]), 3));   // waits behind three events for model.release()
//   model.asked.at(-1)?.fate                               // "under way", "whole", or "left": who asked has gone
import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** A message of a conversation, in the form of a request. */
export interface ChatMessage {
  role: string;
  content?: string | { type: string; text?: string; image_url?: { url: string }; file?: { filename?: string; file_data?: string } }[] | null;
  tool_calls?: { id: string; function: { name: string; arguments: string } }[];
  tool_call_id?: string;
}

/** The body of a request. */
export interface ChatRequest {
  model: string;
  messages: ChatMessage[];
  tools?: { function: { name: string; description: string; parameters: object } }[];
  stream?: boolean;
  [more: string]: unknown;
}

/** A request to the model. */
export interface Asked {
  /** The number of the request, from 1. */
  number: number;
  path: string;
  headers: IncomingHttpHeaders;
  body: ChatRequest;
  fate: "under way" | "whole" | "left";
}

/** A piece of a body: text or bytes, a pause in milliseconds, or an event that ends the body early. */
type Piece = string | Buffer | number | "hold" | { cut: true } | { hang: true };

/** The answer as sent. */
interface Reply {
  status: number;
  headers: Record<string, string>;
  /** Events of a stream, or one whole body. */
  pieces: Piece[];
}

/** Makes the model's answer to a request. */
export type Answer = (asked: Asked) => Reply;

/** The options of a text answer. */
export interface Said {
  finish?: string | null;
  usage?: [input: number, output: number] | null;
  /** Pauses between the events of a stream, in milliseconds. */
  pace?: number;
}

interface Call {
  id: string;
  name: string;
  arguments: string;
}

/** A text, in pieces; each is an event of a stream. */
export const say = (text: string | string[], said: Said = {}): Answer => speak({ texts: [text].flat(), finish: "stop", ...said });

/** A call of a tool; arguments that are a text are sent unchanged. */
export const call = (name: string, given: object | string = {}, id = `call_${name}`): Answer => calls([[name, given, id]]);

/** Several calls at once. */
export function calls(all: [name: string, given: object | string, id: string][], said: Said & { texts?: string[] } = {}): Answer {
  const made = all.map(([name, given, id]) => ({ id, name, arguments: typeof given === "string" ? given : JSON.stringify(given) }));
  return speak({ calls: made, finish: "tool_calls", ...said });
}

/** A refusal. */
export const refuse = (text: string): Answer => speak({ refusal: text, finish: "stop" });

/** The error of a provider. */
export function failing(status: number, text: string, headers: Record<string, string> = {}): Answer {
  const body = JSON.stringify({ error: { message: text, type: "error", param: null, code: null } });
  return () => ({ status, headers: { "content-type": "application/json", ...headers }, pieces: [body] });
}

/** Any body. */
export const raw = (status: number, type: string, body: string | Buffer, headers: Record<string, string> = {}): Answer => () => ({
  status, headers: { "content-type": type, ...headers }, pieces: [body],
});

/** A stream with these data, unchanged. */
export const events = (...data: (object | string)[]): Answer => () => ({
  status: 200, headers: SSE, pieces: data.map((one) => `data: ${typeof one === "string" ? one : JSON.stringify(one)}\n\n`),
});

/** Holds an answer after this number of events until the model is released. */
export const held = (answer: Answer, count: number): Answer => put(answer, count, "hold");
/** Breaks the connection after this number of events. */
export const cut = (answer: Answer, count: number): Answer => put(answer, count, { cut: true });
/** Sends nothing after this number of events, and leaves the connection open. */
export const hanging = (answer: Answer, count: number): Answer => put(answer, count, { hang: true });
/** Sends the same bytes in pieces of this size. */
export const inPieces = (answer: Answer, size: number): Answer => (asked) => {
  const reply = answer(asked);
  const bytes = (piece: Piece): Piece[] => {
    if (!(typeof piece === "string" && piece !== "hold") && !Buffer.isBuffer(piece)) return [piece];
    const all = Buffer.from(piece);
    return Array.from({ length: Math.ceil(all.length / size) }, (_, nth) => all.subarray(nth * size, (nth + 1) * size));
  };
  return { ...reply, pieces: reply.pieces.flatMap(bytes) };
};

const SSE = { "content-type": "text/event-stream" };

function put(answer: Answer, count: number, piece: Piece): Answer {
  return (asked) => {
    const reply = answer(asked);
    return { ...reply, pieces: [...reply.pieces.slice(0, count), piece, ...reply.pieces.slice(count)] };
  };
}

/** One event of a stream with this part of the answer. */
export const delta = (delta: object, finish: string | null = null): object => chunk([{ index: 0, delta, finish_reason: finish }]);

const chunk = (choices: object[], more: object = {}): object => ({
  id: "chatcmpl-1", object: "chat.completion.chunk", created: 1, model: "said-model", choices, ...more,
});

interface Spoken extends Said {
  texts?: string[];
  calls?: Call[];
  refusal?: string;
}

function speak(said: Spoken): Answer {
  return ({ body }) => (body.stream === true ? streamed(said) : whole(said));
}

function whole({ texts = [], calls = [], refusal, finish = "stop", usage = [10, 5] }: Spoken): Reply {
  const tools = calls.map(({ id, ...rest }) => ({ id, type: "function", function: rest }));
  const message = { role: "assistant", content: texts.join("") || null, refusal: refusal ?? null, ...(tools.length > 0 && { tool_calls: tools }) };
  const body = { id: "chatcmpl-1", object: "chat.completion", created: 1, model: "said-model", choices: [{ index: 0, message, finish_reason: finish }] };
  return { status: 200, headers: { "content-type": "application/json" }, pieces: [JSON.stringify({ ...body, ...(usage && { usage: usageOf(usage) }) })] };
}

/** The role, each piece of text, the refusal, two events for each call, the end, the usage, `[DONE]`. */
function streamed({ texts = [], calls = [], refusal, finish = "stop", usage = [10, 5], pace = 0 }: Spoken): Reply {
  const all = [delta({ role: "assistant", content: "" }), ...texts.map((content) => delta({ content }))];
  if (refusal !== undefined) all.push(delta({ refusal }));
  for (const [index, { id, name, arguments: text }] of calls.entries()) {
    const half = Math.floor(text.length / 2);
    all.push(delta({ tool_calls: [{ index, id, type: "function", function: { name, arguments: text.slice(0, half) } }] }));
    all.push(delta({ tool_calls: [{ index, function: { arguments: text.slice(half) } }] }));
  }
  if (finish !== null) all.push(delta({}, finish));
  if (usage !== null) all.push(chunk([], { usage: usageOf(usage) }));
  const lines = [...all.map((one) => JSON.stringify(one)), "[DONE]"].map((data) => `data: ${data}\n\n`);
  return { status: 200, headers: SSE, pieces: lines.flatMap((line, nth) => (pace > 0 && nth > 0 ? [pace, line] : [line])) };
}

const usageOf = ([input, output]: [number, number]): object => ({ prompt_tokens: input, completion_tokens: output, total_tokens: input + output });

/** A running model. */
export class ModelServer {
  /** The requests, in order. */
  readonly asked: Asked[] = [];
  /** The number of held answers. */
  get waiting(): number {
    return this.#waiting.length;
  }
  #plan: (asked: Asked) => Answer = () => failing(500, "nothing is left to say");
  readonly #waiting: (() => void)[] = [];
  readonly #http = createServer((incoming, response) => void this.#answer(incoming, response).catch(() => response.destroy()));

  /** A model at this port, or at a free one. */
  static async start(port = 0): Promise<ModelServer> {
    const model = new ModelServer();
    model.#http.listen(port, "127.0.0.1");
    await once(model.#http, "listening");
    return model;
  }

  /** The value for `base_url`. */
  get url(): string {
    return `http://127.0.0.1:${(this.#http.address() as AddressInfo).port}/v1`;
  }

  /** The newest request. */
  get last(): Asked {
    const last = this.asked.at(-1);
    if (last === undefined) throw new Error("the model was asked nothing");
    return last;
  }

  /** Sets the function for all further answers. */
  answerWith(plan: (asked: Asked) => Answer): void {
    this.#plan = plan;
  }

  /** Sets the further answers, in order; after the last one, the model answers 500. */
  answers(...answers: Answer[]): void {
    this.#plan = () => answers.shift() ?? failing(500, "nothing is left to say");
  }

  /** Lets the held answers continue. */
  release(): void {
    for (const go of this.#waiting.splice(0)) go();
  }

  stop(): void {
    this.#http.closeAllConnections();
    this.#http.close();
  }

  async #answer(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const one of incoming) chunks.push(one as Buffer);
    const body = JSON.parse(Buffer.concat(chunks).toString() || "{}") as ChatRequest;
    const asked: Asked = { number: this.asked.length + 1, path: incoming.url ?? "/", headers: incoming.headers, body, fate: "under way" };
    response.on("close", () => (asked.fate = response.writableFinished ? "whole" : "left"));
    this.asked.push(asked);
    const { status, headers, pieces } = this.#plan(asked)(asked);
    response.writeHead(status, headers);
    response.flushHeaders();
    for (const piece of pieces) {
      if (response.destroyed) return;
      if (piece === "hold") await new Promise<void>((go) => this.#waiting.push(go));
      else if (typeof piece === "number") await new Promise((go) => setTimeout(go, piece));
      else if (typeof piece === "string" || Buffer.isBuffer(piece)) await new Promise<void>((go) => void response.write(piece, () => go()));
      else if ("cut" in piece) return void response.destroy();
      else return;
    }
    response.end();
  }
}

/** The text of a message: of its text parts, if it has parts. */
export function contentOf(message: ChatMessage | undefined): string {
  const content = message?.content ?? "";
  return typeof content === "string" ? content : content.map((part) => part.text ?? `[${part.type}]`).join("");
}

/** The results of calls in a request, by the ids of the calls. */
export function resultsIn(asked: Asked): Record<string, string> {
  const results = asked.body.messages.filter(({ role }) => role === "tool");
  return Object.fromEntries(results.map((result) => [result.tool_call_id ?? "", contentOf(result)]));
}
