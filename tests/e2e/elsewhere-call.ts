// Calls of agents elsewhere by way of the console's route, for console-remote*.spec.ts.

import { once } from "node:events";
import { request, type IncomingMessage } from "node:http";
import { read, type Answer, type Headers } from "./access.ts";

/** What went over the wire, as the route tells it. */
export interface Wired {
  kind: string;
  n: number;
  method?: string;
  url?: string;
  headers?: [string, string][];
  status?: number;
  body?: string;
  id?: string;
  data?: string;
  error?: string | null;
}

/** A call, without what is to be called with. */
export interface Asking {
  url: string;
  method: string;
  params?: object;
  headers?: Headers;
  interface?: object;
  wire?: boolean;
}

/** An answer of JSON-RPC. */
export interface Told {
  id: unknown;
  result?: any;
  error?: { code: number; message: string; httpStatus?: number | null; data?: { reason?: string }[] };
  wire?: Wired[];
}

/** A frame of a stream. */
export interface Frame {
  event: string;
  id: string;
  data: any;
}

/** The raw answer, with its headers. `fetch` would add some to the request and forbid others. */
export async function post(worker: { url: string }, asking: unknown, headers: Headers = {}): Promise<Answer & { headers: IncomingMessage["headers"] }> {
  const sent = request(`${worker.url}/console/api/remote`, { method: "POST", headers: { "content-type": "application/json", ...headers }, agent: false });
  sent.end(typeof asking === "string" ? asking : JSON.stringify(asking));
  const [response] = (await once(sent, "response")) as [IncomingMessage];
  return { ...(await read(response)), headers: response.headers };
}

/** The answer of a call that is answered once. */
export async function told(worker: { url: string }, asking: Asking, headers: Headers = {}): Promise<Told> {
  const { status, text } = await post(worker, asking, headers);
  if (status !== 200) throw new Error(`${status}: ${text}`);
  return JSON.parse(text) as Told;
}

/** The frames of a call that streams; `enough` says after which to leave. */
export async function framesOf(worker: { url: string }, asking: Asking, headers: Headers = {}, enough: (frame: Frame) => boolean = () => false): Promise<Frame[]> {
  const leaving = new AbortController();
  const response = await fetch(`${worker.url}/console/api/remote`, {
    method: "POST", headers: { "content-type": "application/json", ...headers }, body: JSON.stringify(asking), signal: leaving.signal,
  });
  if (!response.headers.get("content-type")?.startsWith("text/event-stream") || response.body === null) throw new Error(`${response.status}: ${await response.text()}`);
  const frames: Frame[] = [];
  let rest = "";
  for await (const piece of response.body.pipeThrough(new TextDecoderStream())) {
    const whole = (rest + piece).split("\n\n");
    rest = whole.pop() ?? "";
    for (const text of whole) {
      const line = (name: string): string => text.split("\n").find((one) => one.startsWith(`${name}: `))?.slice(name.length + 2) ?? "";
      if (line("data") === "") continue;
      const frame = { event: line("event"), id: line("id"), data: JSON.parse(line("data")) };
      frames.push(frame);
      if (!enough(frame)) continue;
      leaving.abort();
      return frames;
    }
  }
  return frames;
}

/** A message of 1.0 with this text. */
export const say = (text: string, more: object = {}): object => ({ message: { messageId: crypto.randomUUID(), role: "ROLE_USER", parts: [{ text }], ...more } });

/** The reason of an error that is none of A2A. */
export const reasonOf = ({ error }: Told): string | undefined => error?.data?.[0]?.reason;
