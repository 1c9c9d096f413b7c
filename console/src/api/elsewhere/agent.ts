// A client for any A2A agent by its URL: its card, calls and streams of 1.0, 0.3 (and 0.2) and 0.1 over JSON-RPC and HTTP+JSON, with the
// operations and the shapes of 1.0. Two rules: headers that the person has set for an origin are sent only to that origin, and the size of answers
// is limited (`exchange.ts`).
import { list, members, text, type Members } from "../card.ts";
import type { CallOptions, TaskEvent } from "../endpoint.ts";
import { jsonIn } from "../json-in.ts";
import { Problem, UNEXPECTED, UnfitCard } from "../problem.ts";
import type { AgentCard, AgentInterface, StreamResponse } from "../types.ts";
import { followed } from "../watched.ts";
import { open, problemIn, whole, type Answered, type Line } from "./exchange.ts";
import { readAnyCard } from "./older-card.ts";
import { Reader } from "./read.ts";
import { requestOf, type CalledInterface, type Version } from "./request.ts";

/** The card of an agent elsewhere. */
export interface FoundElsewhere {
  /** The card converted to 1.0. */
  card: AgentCard;
  /** The served text. */
  text: string;
  foundAt: string;
  interface: CalledInterface | null;
  /** The reason why the agent cannot be called, although it has a card. */
  problem?: string;
}

/** The largest card, in bytes. */
const MAX_CARD_BYTES = 1024 * 1024;

/** How many characters are kept of a served text that is not a usable card. */
const MAX_SHOWN = 64 * 1024;

/**
 * Finds the card of the agent at a URL: first below its path, then at its origin, at `/.well-known/agent-card.json` and `/.well-known/agent.json`;
 * at the URL itself if its path ends with `.json`, `/card` or `/agent-card`.
 *
 * @throws {UnfitCard} for a card that cannot be used, or another document in its place. @throws {Problem}
 */
export async function findCard(line: Line, url: string, options: CallOptions = {}): Promise<FoundElsewhere> {
  let first: Problem | undefined;
  for (const place of placesOf(url)) {
    const asked = { method: "GET", url: place, headers: [["accept", "application/json"], ["a2a-version", "1.0"]] as [string, string][] };
    const answered = await whole(await open(line, asked, options), place, options, MAX_CARD_BYTES);
    if (answered.status === 200) {
      const json = jsonIn(answered.text);
      // Servers of web applications answer any path with a page.
      if (json !== undefined) return foundIn(url, answered, json);
      first ??= unfit(answered, new Problem(`${new URL(url).host} serves no JSON where its card should be.`, { status: 400 }));
    } else if ([404, 405, 410].includes(answered.status)) first ??= problemIn(line, answered);
    else throw problemIn(line, answered);
  }
  throw first ?? new Problem("There is no card.", { status: 404 });
}

/** Calls an operation without a stream. @throws {Problem} */
export async function callOnce(line: Line, called: CalledInterface, operation: string, params: object, options: CallOptions): Promise<unknown> {
  const asked = requestOf(called, operation, params, options);
  const json = resultIn(line, called, await whole(await open(line, asked, options), asked.url, options));
  const reader = readerOf(called);
  switch (operation) {
    case "SendMessage":
      return reader.readSent(json);
    case "GetTask":
    case "CancelTask":
      return reader.readTask(json);
    case "ListTasks":
      return reader.readTasks(json);
    case "ListTaskPushNotificationConfigs":
      return { configs: Array.isArray(json) ? json : list(members(json)["configs"]) };
    case "GetExtendedAgentCard":
      return readAnyCard(json).card;
    default:
      return json;
  }
}

/** Calls an operation with a stream, and yields its events until the stream ends. An answer in JSON is one event. @throws {Problem} */
export async function* follow(line: Line, called: CalledInterface, operation: string, params: object, options: CallOptions): AsyncGenerator<TaskEvent, void> {
  const asked = requestOf(called, operation, params, options);
  const response = await open(line, asked, options);
  const reader = readerOf(called);
  const taskId = taskIdOf(params as Members);
  const isStream = (response.headers.get("content-type") ?? "").startsWith("text/event-stream");
  if (!response.ok || !isStream || response.body === null) {
    yield { id: "", response: reader.readEvent(resultIn(line, called, await whole(response, asked.url, options)), taskId) };
    return;
  }
  options.watch?.({ kind: "answer", at: Date.now(), status: response.status, body: "" });
  // In 0.1, the client chooses the id of the task, and the first event may come late; so the console itself yields the begun task.
  if (called.protocolVersion === "0.1" && operation === "SendStreamingMessage") yield { id: "", response: begun(params as Members, taskId) };
  yield* followed(response.body, options, (data) => {
    const answered = { status: 200, headers: response.headers, text: data, url: asked.url };
    return reader.readEvent(resultIn(line, called, answered), taskId);
  });
}

/** The possible URLs of the card, in order. */
function placesOf(url: string): string[] {
  const { origin, pathname, search } = new URL(url);
  const path = pathname.replace(/\/+$/, "");
  if (/(\.json|\/card|\/agent-card)$/.test(path)) return [`${origin}${path}${search}`];
  const below = (start: string) => ["agent-card.json", "agent.json"].map((name) => `${origin}${start}/.well-known/${name}`);
  return path === "" ? below("") : [...below(path), ...below("")];
}

function foundIn(url: string, answered: Answered, json: unknown): FoundElsewhere {
  const { card, violations } = readAnyCard(json);
  if (violations.length > 0) throw unfit(answered, new Problem("The card cannot be used.", { status: 400, violations }));
  const chosen = choose(url, card);
  const foundAt = answered.url.split("?")[0] ?? "";
  const about = typeof chosen === "string" ? { interface: null, problem: chosen } : { interface: chosen };
  return { card, text: answered.text, foundAt, ...about };
}

/** The first interface of a card that the console supports, at the origin of the agent's URL; the reason if there is none. */
function choose(url: string, card: AgentCard): CalledInterface | string {
  for (const offered of card.supportedInterfaces) {
    const protocolVersion = versionOf(offered);
    const protocolBinding = offered.protocolBinding.toUpperCase();
    if (protocolVersion === undefined || (protocolBinding !== "JSONRPC" && protocolBinding !== "HTTP+JSON")) continue;
    // 0.1 has no HTTP+JSON.
    if (protocolVersion === "0.1" && protocolBinding === "HTTP+JSON") continue;
    if (!URL.canParse(offered.url, url)) return `it offers an interface at ${JSON.stringify(offered.url)}, which is no URL`;
    const streams = card.capabilities?.streaming === true;
    return { url: atHome(url, offered.url), protocolBinding, protocolVersion, tenant: offered.tenant ?? null, streams };
  }
  const offered = card.supportedInterfaces.slice(0, 10).map(({ protocolBinding, protocolVersion = "" }) => `${protocolBinding} ${protocolVersion}`.trim().slice(0, 40));
  return `it offers ${offered.join(", ")}; the console speaks JSONRPC or HTTP+JSON of 1.0 and 0.3, and JSONRPC of 0.1`;
}

function versionOf({ protocolVersion = "" }: AgentInterface): Version | undefined {
  if (protocolVersion === "" || /^1(\.|$)/.test(protocolVersion)) return "1.0";
  if (/^0\.[23](\.|$)/.test(protocolVersion)) return "0.3";
  return /^0\.[01](\.|$)/.test(protocolVersion) ? "0.1" : undefined;
}

/** The URL of an interface, moved to the origin of the agent's URL: the console never calls another host that a card names. */
function atHome(url: string, offered: string): string {
  const home = new URL(url);
  const place = new URL(offered, url);
  const isUpgrade = home.protocol === "http:" && place.protocol === "https:" && home.port === "" && place.port === "" && home.hostname === place.hostname;
  return isUpgrade || place.origin === home.origin ? place.href : `${home.origin}${place.pathname}${place.search}`;
}

/** The result of an answer. @throws {Problem} for an error of A2A, or an answer that does not follow A2A. */
function resultIn(line: Line, { protocolBinding }: CalledInterface, answered: Answered): unknown {
  const isOk = answered.status >= 200 && answered.status < 300;
  // An answer of HTTP+JSON may have an empty body.
  if (isOk && protocolBinding === "HTTP+JSON" && answered.text.trim() === "") return null;
  const json = jsonIn(answered.text);
  const body = members(json);
  if (!isOk || json === undefined || (body["error"] !== undefined && body["error"] !== null)) throw problemIn(line, answered);
  if (protocolBinding === "HTTP+JSON") return json;
  if (!("result" in body)) throw new Problem(`${new URL(answered.url).host} answered with neither a result nor an error.`, { status: answered.status, reason: UNEXPECTED });
  return body["result"];
}

function readerOf({ protocolBinding, protocolVersion }: CalledInterface): Reader {
  return new Reader({ wrapsData: protocolBinding === "HTTP+JSON" && protocolVersion === "0.3" });
}

/** The id of a call's task: the id that the call names, or in 0.1 the id of the message that begins the task. */
function taskIdOf(params: Members): string {
  const message = members(params["message"]);
  return text(params["id"]) || text(message["taskId"]) || text(message["messageId"]);
}

function begun(params: Members, id: string): StreamResponse {
  const { contextId } = members(params["message"]);
  return { task: { id, ...(typeof contextId === "string" ? { contextId } : {}), status: { state: "TASK_STATE_SUBMITTED" } } };
}

function unfit({ text: served, url }: Answered, problem: Problem): UnfitCard {
  return new UnfitCard(problem, { text: served.slice(0, MAX_SHOWN), isCut: served.length > MAX_SHOWN, foundAt: url.split("?")[0] ?? "" });
}
