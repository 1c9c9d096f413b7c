// Agents elsewhere, by their URL: called by the Worker, which speaks their version of A2A, and answers in 1.0 (docs/console.md).
import { signal } from "@preact/signals";
import type { CallOptions, Endpoint, Seen, TaskEvent } from "./endpoint.ts";
import { eventsOf } from "./events.ts";
import { send } from "./http.ts";
import { Problem, problemOf, UnfitCard } from "./problem.ts";
import type { AgentCard, StreamResponse } from "./types.ts";

/** The interface of an agent that is called. */
export interface CalledInterface {
  url: string;
  protocolBinding: string;
  protocolVersion: string;
  tenant: string | null;
  streams: boolean;
}

/** A card elsewhere. */
export interface FoundElsewhere {
  /** In 1.0, whatever was served. */
  card: AgentCard;
  /** As it was served. */
  text: string;
  foundAt: string;
  interface: CalledInterface | null;
  /** The version of A2A in which the agent is called. */
  dialect: string | null;
  /** Why the agent cannot be called, though there is a card. */
  problem?: string;
}

/** The headers that the person gives for agents at an origin. */
export interface GivenHeaders {
  headers: [name: string, value: string][];
  /** Whether they are kept for the session of the browser tab; else they are gone with the page. */
  isKept: boolean;
}

const PATH = "/console/api/remote";
const KEY = "a2a-edge.remote-headers";
const given = signal<Readonly<Record<string, GivenHeaders>>>(read());

/** The interfaces that are known from cards, by the URLs of their agents: so no card is fetched for each call. */
const interfaces = new Map<string, CalledInterface | null>();

/** The headers for the agent at this URL. */
export function headersFor(url: string): GivenHeaders {
  return given.value[originOf(url)] ?? { headers: [], isKept: false };
}

/** Gives headers for all agents at the origin of this URL. */
export function giveHeaders(url: string, headers: GivenHeaders): void {
  const { [originOf(url)]: _, ...others } = given.value;
  given.value = headers.headers.length === 0 ? others : { ...others, [originOf(url)]: headers };
  interfaces.delete(url);
  try {
    const kept = Object.fromEntries(Object.entries(given.value).filter(([, { isKept }]) => isKept));
    if (Object.keys(kept).length === 0) sessionStorage.removeItem(KEY);
    else sessionStorage.setItem(KEY, JSON.stringify(kept));
  } catch {
    // Without storage they are kept as long as the page is.
  }
}

/** Gives one more header for all agents at the origin of this URL, kept as long as the others. */
export function giveHeader(url: string, name: string, value: string): void {
  const { headers, isKept } = headersFor(url);
  giveHeaders(url, { headers: [...headers.filter(([other]) => other.toLowerCase() !== name.toLowerCase()), [name, value]], isKept });
}

/** The card of the agent at this URL, and how it is called. @throws {UnfitCard} for one that cannot be used. @throws {Problem} */
export async function findElsewhere(url: string, options: CallOptions = {}): Promise<FoundElsewhere> {
  const wire: Seen[] = [];
  const watch = (seen: Seen) => (wire.push(seen), options.watch?.(seen));
  try {
    const found = (await callOnce(url, "GetAgentCard", {}, { ...options, watch })) as FoundElsewhere;
    interfaces.set(url, found.interface);
    return found;
  } catch (error) {
    if (error instanceof Problem && UNFIT.includes(error.reason ?? "")) throw servedIn(wire, error) ?? error;
    throw error;
  }
}

/** Why there is no card where something was served. */
const UNFIT = ["REMOTE_CARD_UNUSABLE", "REMOTE_MISFIT"];

/** The problem with what came in the place of a card, if something came. */
function servedIn(wire: readonly Seen[], problem: Problem): UnfitCard | undefined {
  const answers = wire.filter((seen) => seen.kind === "answer").filter(({ status, body }) => status === 200 && body !== "");
  // Where there is no JSON, further places are tried, and the first one is told.
  const answer = problem.reason === "REMOTE_MISFIT" ? answers[0] : answers.at(-1);
  if (answer === undefined) return undefined;
  const request = wire.filter((seen) => seen.kind === "request").find(({ n }) => n === answer.n);
  return new UnfitCard(problem, { text: answer.body, isCut: answer.isCut === true, foundAt: request?.url ?? "" });
}

/** The agent at this URL. */
export function remoteEndpoint(url: string): Endpoint {
  return {
    key: url,
    path: [url],
    card: async (options = {}) => (await findElsewhere(url, options)).card,
    call: async <Result>(method: string, params: object, options: CallOptions = {}) => (await callOnce(url, method, params, options)) as Result,
    async *stream(method, params, options = {}) {
      const response = await ask(url, method, params, options, "text/event-stream");
      if (!(response.headers.get("content-type") ?? "").startsWith("text/event-stream") || response.body === null) {
        yield { id: "", response: resultOf(url, await response.text(), options) as StreamResponse };
        return;
      }
      yield* responsesIn(url, response.body, options);
    },
  };
}

async function* responsesIn(url: string, body: ReadableStream<Uint8Array<ArrayBuffer>>, options: CallOptions): AsyncGenerator<TaskEvent, void> {
  try {
    for await (const { id, event, data } of eventsOf(body)) {
      if (event === "wire") tell([JSON.parse(data) as Seen], options);
      else yield { id, response: resultOf(url, data, options) as StreamResponse };
    }
  } catch (error) {
    if (error instanceof Problem || options.signal?.aborted === true) throw error;
    throw new Problem("The stream broke.");
  }
}

async function callOnce(url: string, method: string, params: object, options: CallOptions): Promise<unknown> {
  const response = await ask(url, method, params, options, "application/json");
  return resultOf(url, await response.text(), options);
}

/** Sends a request to the Worker. What the person has signed in with here goes along as headers; what the agent elsewhere is shown, in the body. */
function ask(url: string, method: string, params: object, options: CallOptions, accept: string): Promise<Response> {
  const more = Object.entries(options.headers ?? {}).filter((entry): entry is [string, string] => entry[1] !== undefined && entry[0] !== "act-as");
  const known = method === "GetAgentCard" ? undefined : (interfaces.get(url) ?? undefined);
  return send({
    agent: "",
    path: PATH,
    headers: { accept, "last-event-id": options.lastEventId },
    body: { url, method, params, headers: Object.fromEntries([...more, ...headersFor(url).headers]), interface: known, wire: options.watch !== undefined },
    signal: options.signal,
    isQuiet: options.isQuiet ?? false,
  });
}

/** The result of an answer. @throws {Problem} */
function resultOf(url: string, text: string, options: CallOptions): unknown {
  let answer: { result?: unknown; error?: { httpStatus?: number | null }; wire?: Seen[] };
  try {
    answer = JSON.parse(text);
  } catch {
    throw new Problem("The server did not answer with JSON.");
  }
  tell(answer.wire ?? [], options);
  if (answer.error === undefined) return answer.result;
  const told = problemOf(answer.error.httpStatus ?? 0, new Headers(), text, url);
  // Without a status of the agent: what may be otherwise at the next attempt looks as if nothing had answered.
  const passes = ["REMOTE_UNREACHABLE", "REMOTE_TIMEOUT", "REMOTE_BUSY", "REMOTE_STREAM_ENDED"].includes(told.reason ?? "");
  throw told.status > 0 || passes ? told : new Problem(told.message, { ...told, status: 400 });
}

function tell(wire: Seen[], { watch }: CallOptions): void {
  for (const seen of wire) watch?.(seen);
}

/** The origin of a URL; the text itself if it is none. */
function originOf(url: string): string {
  try {
    return new URL(url).origin;
  } catch {
    return url;
  }
}

function read(): Record<string, GivenHeaders> {
  try {
    const kept: unknown = JSON.parse(sessionStorage.getItem(KEY) ?? "{}");
    return typeof kept === "object" && kept !== null ? (kept as Record<string, GivenHeaders>) : {};
  } catch {
    return {};
  }
}
