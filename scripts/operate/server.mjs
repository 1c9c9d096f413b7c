// Requests to a server. Its answers may be anything: they are read up to a bound and for a limited time, and no redirect is followed, because the key would go with it.
import { ACCESS_VARIABLES, accessHeaders, isAccess } from "./access.mjs";
import { EXIT, Failure } from "./failure.mjs";
import { EVERY_AGENT } from "./keys.mjs";
import { requireKeySafe } from "./origin.mjs";
import { place, tracesOf } from "./slots.mjs";
import { clean, cut } from "./text.mjs";
import { list, number, record, text } from "./values.mjs";

/** The largest answer: a page of ListTasks has 8 MiB at most. */
const MAX_BYTES = 16 * 1024 * 1024;
/** The longest wait for the head of an answer, and for each further piece of it. */
export const PATIENCE_MS = Number(process.env.A2A_EDGE_TIMEOUT_MS) || 30_000;
/** The longest wait for all of it. */
const TOTAL_MS = 4 * PATIENCE_MS;
/** The number of requests at a time. */
export const AT_ONCE = 4;
const MAX_AGENTS = 1000;
/** What agents are called in URLs. */
const SLUG = /^[a-z0-9][a-z0-9._-]{0,127}$/i;
const MAX_SAID = 400;

export class Server {
  #keys;
  #access = accessHeaders();
  #traces;
  #listing;

  /** `keys` are `{ agent, slot, secret }`. With `isOwn` the commands act as the caller of the key, not as an operator. */
  constructor(origin, { keys = [], isOwn = false } = {}) {
    const secrets = Object.values(this.#access);
    if (keys.length > 0 || secrets.length > 0) requireKeySafe(origin);
    this.origin = origin;
    this.isOwn = isOwn;
    this.#keys = keys;
    this.#traces = [...keys.flatMap(tracesOf), ...secrets];
  }

  /** True if requests to this agent have a key. */
  hasKey(agent) {
    return this.#keysOf(agent).length > 0;
  }

  #keysOf(agent) {
    const own = this.#keys.filter((key) => key.agent === agent);
    return own.length > 0 ? own : this.#keys.filter((key) => key.agent === EVERY_AGENT);
  }

  /** The agents of the server, as `GET /console/api/agents` lists them. */
  async agents() {
    return (await this.listing()).agents;
  }

  /** The agents of the server, with the `version` of a2a-edge that it runs, if it tells one, and whether it serves for development. */
  async listing() {
    this.#listing ??= this.#readListing();
    return this.#listing;
  }

  async #readListing() {
    const path = "/console/api/agents";
    const notOurs = () => new Failure(`${this.origin} is no server of a2a-edge: it does not list its agents. Is the URL right?`, EXIT.unreachable);
    const answer = await this.json({ path }).catch((error) => {
      throw error instanceof Failure && error.status === 404 ? notOurs() : error;
    });
    const { agents: listed, version, development } = record(answer);
    const agents = list(listed)
      .map(record)
      .filter(({ slug }) => SLUG.test(text(slug) ?? ""));
    if (!Array.isArray(listed) || agents.length > MAX_AGENTS) throw notOurs();
    return { agents, version: text(version), isDevelopment: development === true };
  }

  /** The agents to ask: the named one, or all that can run. */
  async chosenAgents(name) {
    const agents = await this.agents();
    if (name === undefined) return agents.filter((agent) => record(agent.health).state !== "misconfigured");
    const found = agents.find(({ slug }) => slug === name);
    if (found === undefined)
      throw new Failure(`${this.origin} has no agent "${name}"; it has ${agents.map(({ slug }) => slug).join(", ") || "none"}.`, EXIT.notFound);
    return [found];
  }

  /** The agents to ask about the tasks of others, in the order of their names, which stays the same from one run to the next. */
  async operatedAgents(name) {
    const agents = (await this.chosenAgents(name)).filter((agent) => "act-as" in this.asOperator(agent));
    if (agents.length === 0)
      throw new Failure(`${name ?? `No agent at ${this.origin}`} ${name === undefined ? "has" : "has no"} operators. Tasks of agents without schemes have no owner.`);
    return agents.sort((one, other) => (one.slug < other.slug ? -1 : 1));
  }

  /** The headers with which an operator acts on the tasks of all callers of an agent, or of one owner. */
  asOperator(agent, owner) {
    if (this.isOwn || record(agent.access).hasOperators !== true) return {};
    return { "act-as": owner === undefined ? "operator" : `operator; owner=${encodeURIComponent(owner)}` };
  }

  /** The status of a request to an agent, whatever it is, for questions about keys. */
  async status(request) {
    return (await this.#exchange(request)).status;
  }

  /** The JSON of an answer. `agent` is the agent's entry in the list, whose keys the request has. */
  async json(request) {
    const { status, headers, body } = await this.#exchange(request);
    const told = `${this.origin}${request.path}`;
    if (status >= 300 && status < 400) throw this.#elsewhere(told, headers);
    let value;
    try {
      value = JSON.parse(body, (_, member) => (typeof member === "string" ? this.#redacted(member) : member));
    } catch {
      if (status < 400) throw new Failure(`${told} did not answer with JSON. Is there a server of a2a-edge at ${this.origin}?`, EXIT.unreachable);
    }
    if (status >= 400) throw this.#refusal(request, status, headers, value);
    return value;
  }

  #elsewhere(told, headers) {
    const location = urlIn(headers.get("location") ?? "", this.origin);
    if (isAccess(location)) {
      const why = Object.keys(this.#access).length > 0 ? "which does not take the service token" : "which wants a service token";
      return new Failure(`${this.origin} is behind Cloudflare Access, ${why}. Set ${ACCESS_VARIABLES.join(" and ")}.`, EXIT.notSignedIn);
    }
    const where = location === undefined ? "" : ` (to ${location.origin})`;
    return new Failure(`${told} leads elsewhere${where}. Redirects are not followed: name the server itself with --url.`, EXIT.unreachable);
  }

  #redacted(member) {
    return this.#traces.reduce((left, trace) => left.replaceAll(trace, "…"), member);
  }

  /** An answer as it comes, whatever its status is: `{ status, headers, body }`. */
  async answer(request) {
    const { status, headers, body } = await this.#exchange(request);
    return { status, headers, body: this.#redacted(body) };
  }

  /** The events of a stream: the JSON of each, as it comes. The caller may leave before the end. */
  async *events(request) {
    const late = new Lateness();
    try {
      const response = await this.#sent({ ...request, headers: { ...request.headers, accept: "text/event-stream" } }, late);
      if (response.status !== 200) throw this.#refusal(request, response.status, response.headers, jsonOf(await this.#text(response, late)));
      let rest = "";
      for await (const piece of this.#pieces(response, late)) {
        const blocks = (rest + piece).split(/\r?\n\r?\n/);
        rest = blocks.pop();
        for (const block of blocks) {
          const lines = block.split(/\r?\n/).filter((line) => line.startsWith("data:"));
          if (lines.length > 0) yield jsonOf(this.#redacted(lines.map((line) => line.slice("data:".length)).join("\n")));
        }
      }
    } catch (error) {
      throw this.#failed(error, late);
    } finally {
      late.end();
    }
  }

  async #exchange(request) {
    const late = new Lateness();
    try {
      const response = await this.#sent(request, late);
      return { status: response.status, headers: response.headers, body: await this.#text(response, late) };
    } catch (error) {
      throw this.#failed(error, late);
    } finally {
      late.end();
    }
  }

  #sent({ agent, path, query = {}, headers = {}, method, body }, late) {
    const url = new URL(path, this.origin);
    for (const [name, value] of Object.entries(query)) if (value !== undefined) url.searchParams.set(name, String(value));
    const sent = new Headers({ "a2a-version": "1.0", accept: "application/json", ...this.#access, ...headers });
    if (body !== undefined) sent.set("content-type", "application/json");
    if (agent !== undefined) for (const { slot, secret } of this.#keysOf(agent.slug)) place(slot, secret, url, sent);
    return fetch(url, {
      method: method ?? (body === undefined ? "GET" : "POST"),
      headers: sent,
      body: body === undefined ? null : JSON.stringify(body),
      redirect: "manual",
      signal: late.signal,
    });
  }

  /** The failure for an error of a request. */
  #failed(error, late) {
    if (error instanceof Failure) return error;
    if (late.signal.aborted) return new Failure(`${this.origin} did not answer in time. Is it the right URL? Otherwise try again later.`, EXIT.unreachable);
    return new Failure(`${this.origin} cannot be reached (${clean(reasonOf(error))}). Is the URL right, and does the server run?`, EXIT.unreachable);
  }

  async #text(response, late) {
    let text = "";
    for await (const piece of this.#pieces(response, late)) text += piece;
    return text;
  }

  /** The text of an answer, as it comes, up to the bound. */
  async *#pieces(response, late) {
    const decoder = new TextDecoder();
    let bytes = 0;
    for await (const piece of response.body ?? []) {
      late.refresh();
      bytes += piece.length;
      if (bytes > MAX_BYTES)
        throw new Failure(
          `An answer of ${this.origin} is larger than ${MAX_BYTES / 1024 / 1024} MiB and was not read. Is there a server of a2a-edge?`,
          EXIT.unreachable,
        );
      yield decoder.decode(piece, { stream: true });
    }
    yield decoder.decode();
  }

  #refusal({ agent, headers: asked = {} }, status, headers, value) {
    const error = record(record(value).error);
    const details = list(error.details).map(record);
    const fields = details.flatMap(({ fieldViolations }) =>
      list(fieldViolations).map((field) => `${text(record(field).field) ?? ""}: ${text(record(field).description) ?? ""}`),
    );
    const said = cut(clean([text(error.message) ?? `status ${status}`, ...fields].join("; ")), MAX_SAID);
    const what = agent === undefined ? this.origin : agent.slug;
    const id = cut(clean(this.#redacted(headers.get("x-request-id") ?? "")), 64);
    const isOperator = "act-as" in asked;
    return Object.assign(this.#failureOf(status, { agent, what, said, id, isOperator, wait: Number(headers.get("retry-after")) }), { status });
  }

  #failureOf(status, { agent, what, said, id, isOperator, wait }) {
    if (status === 401) {
      // A key for all agents would replace those that others take.
      const of = agent === undefined || this.#keys.length === 0 ? "" : ` --agent ${agent.slug}`;
      const command = `npx a2a-edge login --url ${this.origin}${of}`;
      const why = this.hasKey(agent?.slug) ? "does not take the key, which is wrong or has expired" : "wants to know who asks";
      return new Failure(`${what} ${why}. Sign in with: ${command}`, EXIT.notSignedIn);
    }
    if (status === 403 && isOperator) {
      return new Failure(`${what} refuses: ${said}. Use the key of an operator, or --own for the tasks of the key's own caller.`);
    }
    if (status === 404) return new Failure(`${what}: ${said}.`, EXIT.notFound);
    if (status === 429 || status >= 500) {
      return new Failure(
        `${what} cannot answer now: ${said}. Try again ${number(wait) > 0 ? `in ${wait} s` : "later"}${id === "" ? "" : ` (request ${id} in its log)`}.`,
        EXIT.unreachable,
      );
    }
    return new Failure(`${what} refuses: ${said}.`);
  }
}

/** Ends a request that takes too long: as a whole, or for its head or a further piece. */
class Lateness {
  #late = new AbortController();
  #whole = setTimeout(() => this.#late.abort(), TOTAL_MS);
  #patience = setTimeout(() => this.#late.abort(), PATIENCE_MS);
  signal = this.#late.signal;

  /** A piece has come. */
  refresh() {
    this.#patience.refresh();
  }

  /** The request is over, whether all of it was read or not. */
  end() {
    clearTimeout(this.#whole);
    clearTimeout(this.#patience);
    this.#late.abort();
  }
}

/** A value of JSON; undefined for other text. */
function jsonOf(body) {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}

function urlIn(location, origin) {
  try {
    return new URL(location, origin);
  } catch {
    return undefined;
  }
}

/** Why there was no answer: the code of the system's error. */
function reasonOf(error) {
  const causes = [error?.cause, ...list(error?.cause?.errors), error];
  const code = causes.map((cause) => cause?.code).find((found) => typeof found === "string");
  return WORDS[code] ?? code ?? error?.cause?.message ?? error?.message ?? "no reason given";
}

const WORDS = {
  ECONNREFUSED: "nothing listens there",
  ENOTFOUND: "there is no such host",
  EAI_AGAIN: "the host's name cannot be looked up",
  ECONNRESET: "the connection broke",
  UND_ERR_SOCKET: "the connection broke",
};

/** The results of `work` for each item, a few at a time, in the order of the items. */
export async function eachOf(items, work) {
  const results = new Array(items.length);
  let next = 0;
  const run = async () => {
    for (let at = next++; at < items.length; at = next++) results[at] = await work(items[at], at);
  };
  await Promise.all(Array.from({ length: Math.min(AT_ONCE, items.length) }, run));
  return results;
}
