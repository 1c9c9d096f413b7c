// Agents elsewhere by their URL, and the headers that the person has set for them (docs/console.md).
import { signal } from "@preact/signals";
import { catalogueOnceRead } from "./agents.ts";
import type { FoundElsewhere } from "./elsewhere/agent.ts";
import type { Line } from "./elsewhere/exchange.ts";
import type { CalledInterface } from "./elsewhere/request.ts";
import type { CallOptions, Endpoint } from "./endpoint.ts";
import { Problem } from "./problem.ts";

export type { FoundElsewhere } from "./elsewhere/agent.ts";

/** The headers for agents at an origin. */
export interface GivenHeaders {
  headers: [name: string, value: string][];
  /** True if the headers are kept for the session of the browser tab; otherwise they are kept until the page is closed. */
  isKept: boolean;
}

const KEY = "a2a-edge.remote-headers";
const given = signal<Readonly<Record<string, GivenHeaders>>>(read());

/** The cards found since the page was opened, by the URLs of their agents: a call never fetches a card again. */
const cards = new Map<string, FoundElsewhere>();

/** The headers for the agent at this URL. */
export function headersFor(url: string): GivenHeaders {
  return given.value[originOf(url)] ?? { headers: [], isKept: false };
}

/** Sets the headers for all agents at the origin of this URL. */
export function giveHeaders(url: string, headers: GivenHeaders): void {
  const { [originOf(url)]: _, ...others } = given.value;
  given.value = headers.headers.length === 0 ? others : { ...others, [originOf(url)]: headers };
  cards.delete(url);
  try {
    const kept = Object.fromEntries(Object.entries(given.value).filter(([, { isKept }]) => isKept));
    if (Object.keys(kept).length === 0) sessionStorage.removeItem(KEY);
    else sessionStorage.setItem(KEY, JSON.stringify(kept));
  } catch {
    // Without storage, the headers are kept until the page is closed.
  }
}

/** Sets one more header for all agents at the origin of this URL, kept as long as the others. */
export function giveHeader(url: string, name: string, value: string): void {
  const { headers, isKept } = headersFor(url);
  giveHeaders(url, { headers: [...headers.filter(([other]) => other.toLowerCase() !== name.toLowerCase()), [name, value]], isKept });
}

/** The card and the interface of the agent at this URL. @throws {UnfitCard} if the card cannot be used. @throws {Problem} */
export async function findElsewhere(url: string, options: CallOptions = {}): Promise<FoundElsewhere> {
  const { client, line } = await clientFor(url);
  const found = await client.findCard(line, url, options);
  cards.set(url, found);
  return found;
}

/** The agent at this URL. */
export function remoteEndpoint(url: string): Endpoint {
  return {
    key: url,
    path: [url],
    card: async (options = {}) => (await findElsewhere(url, options)).card,
    async call<Result>(method: string, params: object, options: CallOptions = {}) {
      const { client, line } = await clientFor(url);
      return (await client.callOnce(line, await calledAt(url, options), method, params, options)) as Result;
    },
    async *stream(method, params, options = {}) {
      const { client, line } = await clientFor(url);
      yield* client.follow(line, await calledAt(url, options), method, params, options);
    },
  };
}

/** The interface of the agent at this URL: the known interface, or else that of its card. @throws {Problem} if there is none. */
async function calledAt(url: string, { signal }: CallOptions): Promise<CalledInterface> {
  const found = cards.get(url) ?? (await findElsewhere(url, { signal }));
  if (found.interface === null) throw new Problem(`The agent cannot be called: ${found.problem}.`, { status: 400, agent: url });
  return found.interface;
}

type Client = typeof import("./elsewhere/index.ts");

/**
 * The client, and the data that it needs for the agent at this URL. In development the forwarder of `npm start` sends requests, otherwise the
 * browser.
 */
async function clientFor(url: string): Promise<{ client: Client; line: Line }> {
  const [catalogue, client] = await Promise.all([catalogueOnceRead(), loadClient()]);
  const transport = catalogue?.development === true ? client.forwarded : client.direct;
  return { client, line: { agent: url, transport, given: headersFor(url).headers } };
}

async function loadClient(): Promise<Client> {
  try {
    return await import("./elsewhere/index.ts");
  } catch {
    throw new Problem("A part of this page cannot be loaded. If the server was deployed anew, reload the page.");
  }
}

/** The origin of a URL; the text itself if it is not a URL. */
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
