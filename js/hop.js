// One request, from its first byte to its answer. Rust decides, without waiting (src/front/); only this module carries out decisions: it calls objects,
// lists in D1, opens streams and makes responses. If a decision lacks a fact, Rust finds the fact, and decides again (src/edge/front/waiting.rs). A Rust future, and
// each crossing into WebAssembly, costs more than all decisions together.
import { noteStop } from "./panic.js";
import { open } from "./stream.js";
import { rowsOfOwner } from "./tables.js";

/** The binding of the task objects. src/edge/bindings.rs lists all bindings. */
const TASKS = "TASKS";

/** The separator of the lines of a listing (src/forms/listing.rs). */
const LINE_END = "\u001e";

/** Bodies of up to this many bytes are received in one piece; Rust receives larger ones (src/edge/front/facts/body.rs). */
const SMALL_BYTES = 64 * 1024;

/** The name of the client certificate among the names of headers (src/auth/evidence.rs). */
const CERTIFICATE = ":certificate";

/** The largest number of remembered heads of answers, and of remembered names of headers. */
const MAX_KNOWN = 200;

/** Commands of more characters are sent to the object as bytes: a string may take twice the size. */
const LONG_CHARS = 1024 * 1024;

/**
 * A request that waits for a fact.
 *
 * @typedef {object} Waiting Rust's part of the request (src/edge/front/waiting.rs).
 * @property {() => string} plan
 * @property {(request: Request | undefined) => Promise<void>} find
 * @property {(limits: string) => void} noteLimits
 * @property {(limits: string) => string} held
 * @property {(status: number, reason: string) => string} failed
 * @property {(lines: string | undefined, total: number | undefined) => string} listed
 * @property {() => void} free
 */

/**
 * Answers requests.
 *
 * @typedef {object} Decider The functions that Rust exports (src/edge/front/plan.rs, waiting.rs, stream/).
 * @property {(env: any, method: string, path: string) => string} headerNames
 * @property {(env: any) => boolean} observes
 * @property {(env: any, parent: string, state: string) => string} traceHead
 * @property {(env: any, head: string, subject: string, status: number, code: number | undefined, begun: number, ended: number, found: number, asked: number, answered: number) => void} requestAnswered
 * @property {() => string} commonHeaders
 * @property {(env: any, head: string, body: Uint8Array | undefined, isBroken: boolean) => string} plan
 * @property {(env: any, head: string, body: Uint8Array | undefined, lines: string, total: number | undefined) => string} listed
 * @property {(env: any, request: Request, head: string, body: Uint8Array | undefined) => Promise<Response>} visit
 * @property {(env: any, head: string, body: Uint8Array | undefined, isBroken: boolean, limits: string, isAudited: boolean) => Waiting} wait
 */
export class Hop {
  /** @type {any} */
  #rust;
  /** The names of the headers of a head, by the method and the first part of the path of the request. @type {Map<string, string[]>} */
  #names = new Map();
  /** @type {Map<string, ResponseInit>} */
  #inits = new Map();
  /** True if requests of this deployment are observed. @type {boolean | undefined} */
  #observes;
  /** The first part of the ids of requests that have no id of the platform. @type {string | undefined} */
  #instance;
  #named = 0;

  /** @param {Decider} rust */
  constructor(rust) {
    this.#rust = rust;
  }

  /**
   * Answers a request; the promise is never rejected.
   *
   * @param {Request} request
   * @param {any} env
   * @returns {Promise<Response>}
   */
  async serve(request, env) {
    try {
      this.#observes ??= this.#rust.observes(env);
      const head = this.#headOf(request, env);
      const observed = this.#observes && head.includes(OBSERVED) ? { ...UNOBSERVED, begun: Date.now() } : undefined;
      /** @type {Uint8Array | undefined} */
      let body;
      let isBroken = false;
      const length = lengthOf(request);
      if (length === 0) {
        body = NOTHING;
      } else if (length <= SMALL_BYTES) {
        try {
          body = new Uint8Array(await request.arrayBuffer());
        } catch {}
        // The body of an aborted request may simply end early.
        isBroken = body?.length !== length;
      }
      const plan = this.#rust.plan(env, head, body, isBroken);
      /** @type {Asked} */
      const asked = { env, request, head, body, isBroken, limits: "", waiting: undefined, observed };
      let response;
      try {
        response = await this.#perform(asked, plan);
      } finally {
        asked.waiting?.free();
      }
      if (observed !== undefined && !observed.isStream) this.#observe(asked, response.status);
      // A client can report a refused request by its id. An id in every answer would cost a fiftieth of a GetTask.
      return response.status < 400 ? response : withHeaders(response, { "x-request-id": head.slice(head.lastIndexOf("\n") + 1) });
    } catch (error) {
      noteStop(error);
      return new Response("INTERNAL SERVER ERROR", { status: 500 });
    }
  }

  /** Answers a request inside of the Worker, whose data is all in Rust. @param {any} env @param {Waiting} waiting */
  async answer(env, waiting) {
    try {
      const asked = { env, request: undefined, head: "", body: undefined, isBroken: false, limits: "", waiting, observed: undefined };
      return await this.#perform(asked, waiting.plan());
    } finally {
      waiting.free();
    }
  }

  /**
   * Carries out a plan (src/edge/front/plan.rs).
   *
   * @param {Asked} asked @param {string} plan
   * @returns {Response | Promise<Response>}
   */
  #perform(asked, plan) {
    const line = plan.indexOf("\n");
    switch (plan[0]) {
      case "=":
        return this.#respond(asked, plan.slice(1));
      case "t":
        if (asked.observed !== undefined) asked.observed.subject = plan.slice(1, line);
        return this.#perform(asked, plan.slice(line + 1));
      case "n":
      case "i":
      case "k":
      case "c":
        return this.#ask(asked, plan.slice(0, line), plan.slice(line + 1));
      case "l":
        return this.#list(asked, plan.slice(1, line), plan.slice(line + 1));
      case "s":
        return this.#follow(asked, plan.slice(1, line), plan.slice(line + 1));
      case "o":
        return this.#showTo(plan.slice(1, line), asked, plan.slice(line + 1));
      case "r":
        return this.#guard(plan.slice(1, line), asked, plan.slice(line + 1));
      case "g":
        return this.#rust.visit(asked.env, /** @type {Request} */ (asked.request), asked.head, asked.body);
      default:
        return this.#find(asked);
    }
  }

  /** Lets Rust find the fact that the plan lacks, and carries out the new plan. @param {Asked} asked */
  async #find(asked) {
    const waiting = this.#waitingOf(asked, false);
    await waiting.find(asked.request);
    if (asked.observed !== undefined) asked.observed.found = Date.now();
    return this.#perform(asked, waiting.plan());
  }

  /**
   * Rust's part of a request that has to wait.
   *
   * @param {Asked} asked @param {boolean} isAudited true if the plan so far did more than find a fact
   * @returns {Waiting}
   */
  #waitingOf(asked, isAudited) {
    const { env, head, body, isBroken, limits } = asked;
    const waiting = asked.waiting ?? this.#rust.wait(env, head, body, isBroken, limits, isAudited);
    asked.waiting = waiting;
    return waiting;
  }

  /**
   * Restricts the reading of the answer to pages of one origin, or to no page.
   *
   * @param {string} origin @param {Asked} asked @param {string} plan
   */
  async #showTo(origin, asked, plan) {
    const response = await this.#perform(asked, plan);
    const vary = response.headers.get("vary")?.split(", ") ?? [];
    /** @type {Record<string, string>} */
    const headers = { vary: [...new Set([...vary, "Origin"])].join(", "), "cross-origin-resource-policy": "same-origin" };
    if (origin !== "") {
      return withHeaders(response, { ...headers, "access-control-allow-origin": origin, "access-control-allow-credentials": "true" });
    }
    const shown = withHeaders(response, headers);
    for (const name of [...shown.headers.keys()]) if (name.startsWith("access-control-")) shown.headers.delete(name);
    return shown;
  }

  /** Checks rate limits before the rest of the plan. @param {string} limits @param {Asked} asked @param {string} plan */
  async #guard(limits, asked, plan) {
    const refused = await refusing(asked.env, limits);
    if (refused !== "[]") return this.#perform(asked, this.#waitingOf(asked, true).held(refused));
    if (asked.waiting === undefined) asked.limits = limits;
    else asked.waiting.noteLimits(limits);
    return this.#perform(asked, plan);
  }

  /** The request without its body, in the form that src/front/head.rs reads. @param {Request} request @param {any} env */
  #headOf(request, env) {
    const { method, url, headers } = request;
    let head = `${method}\n${url}`;
    for (const name of this.#namesOf(env, method, url)) {
      const value = name === CERTIFICATE ? certificateOf(request) : headers.get(name);
      if (value !== null) head += `\n${name}\n${value}`;
    }
    const trace = headers.get("traceparent");
    if (this.#observes) head += this.#rust.traceHead(env, trace ?? "", headers.get("tracestate") ?? "");
    else if (trace !== null) head += `\ntraceparent\n${trace}\ntracestate\n${headers.get("tracestate") ?? ""}`;
    // The platform gives each request an id. A client cannot send a header with a colon in its name.
    return `${head}\n:request\n${headers.get("cf-ray") ?? this.#nextName()}`;
  }

  /** An id for a request without an id of the platform, for example in local development. A random id for each would cost more. */
  #nextName() {
    this.#instance ??= crypto.randomUUID().slice(0, 8);
    this.#named += 1;
    return `${this.#instance}-${this.#named.toString(36)}`;
  }

  /**
   * The headers that Rust requires for a method and the agent that a path names; they never change.
   *
   * @param {any} env @param {string} method @param {string} url
   */
  #namesOf(env, method, url) {
    const [start] = FIRST_PART.exec(url) ?? [""];
    const key = method + start;
    let names = this.#names.get(key);
    if (names === undefined) {
      names = /** @type {string[]} */ (this.#rust.headerNames(env, method, start.slice(start.lastIndexOf("/"))).split("\n"));
      if (this.#names.size >= MAX_KNOWN) this.#names.clear();
      this.#names.set(key, names);
    }
    return names;
  }

  /** Sends a call to the object of a task and returns its answer. @param {Asked} asked @param {string} address @param {string} command */
  async #ask(asked, address, command) {
    const id = idOf(asked.env[TASKS], address);
    if (id === undefined) return this.#failed(asked, 404, "the namespace does not know the id");
    const form = FORMS[address.charAt(0)] ?? "call";
    const { observed } = asked;
    if (observed !== undefined) observed.asked = Date.now();
    let answer;
    try {
      const object = asked.env[TASKS].get(id);
      answer = await (command.length > LONG_CHARS ? object.askBytes(form, new TextEncoder().encode(command)) : object.ask(form, command));
    } catch (error) {
      return this.#failed(asked, 0, String(error));
    }
    if (observed !== undefined) observed.answered = Date.now();
    // With a status of 500 or more, the object has no answer for the client. For the sender of a callback, a missing callback counts as well.
    const isFailure = answer[0] === "5" || (form === "callback" && answer.startsWith("404"));
    return isFailure ? this.#failed(asked, Number(answer.slice(0, 3)), "") : this.#respond(asked, answer);
  }

  /** Lists tasks of an owner, given as JSON, in objects; or in D1. @param {Asked} asked @param {string} owner @param {string} statement */
  async #list(asked, owner, statement) {
    const { env, head, body } = asked;
    let rows;
    try {
      rows = await rowsOfOwner(env, owner, statement);
    } catch {
      rows = undefined;
    }
    if (rows !== undefined) {
      const lines = rows.map((/** @type {{ line: string }} */ { line }) => line).join(LINE_END);
      const total = rows[0]?.total;
      const plan = asked.waiting?.listed(lines, total) ?? this.#rust.listed(env, head, body, lines, total);
      if (plan !== "~") return this.#perform(asked, plan);
    }
    // Rust asks once more: for the total of a page without rows, for the rows of several objects, or to report the reason of a failure.
    return this.#perform(asked, this.#waitingOf(asked, true).listed(undefined, undefined));
  }

  /** Opens a stream from the object of a task. @param {Asked} asked @param {string} address @param {string} plan */
  async #follow(asked, address, plan) {
    const namespace = asked.env[TASKS];
    const id = idOf(namespace, address);
    if (id === undefined) return this.#failed(asked, 404, "the namespace does not know the id");
    const { observed } = asked;
    if (observed === undefined) return open(namespace, id, plan, this.#rust, this.#responseOf);
    observed.asked = Date.now();
    const response = await open(namespace, id, plan, this.#rust, this.#responseOf, () => {
      if (observed.isStream) this.#observe(asked, 200);
    });
    observed.answered = Date.now();
    observed.isStream = response.status === 200;
    return response;
  }

  /** Reports that an observed request was answered, and its stream, if it has one, has ended. @param {Asked} asked @param {number} status */
  #observe(asked, status) {
    const { env, head, observed } = asked;
    if (observed === undefined) return;
    asked.observed = undefined;
    const { subject, code, begun, found, asked: from, answered } = observed;
    // Of an object that did not answer, the wait ended with the request.
    const now = Date.now();
    this.#rust.requestAnswered(env, head, subject, status, code, begun, now, found, from, answered || now);
  }

  /** @param {Asked} asked @param {number} status @param {string} reason */
  #failed(asked, status, reason) {
    return this.#perform(asked, this.#waitingOf(asked, true).failed(status, reason));
  }

  /** The response for a text of src/forms/answer.rs. @param {Asked} asked @param {string} text */
  #respond(asked, text) {
    const end = text.indexOf("\n\n");
    const body = text.slice(end + 2);
    if (asked.observed !== undefined) asked.observed.code = errorCodeOf(body);
    return new Response(body === "" ? null : body, this.#initOf(text.slice(0, end)));
  }

  /** The response with these headers, besides those of all answers. @type {import("./stream.js").Respond} */
  #responseOf = (status, headers, body) => {
    let head = String(status);
    for (const [name, value] of Object.entries(headers)) head += `\n${name}: ${value}`;
    return new Response(body, this.#initOf(head));
  };

  /**
   * The status and the headers of responses with this head. There are few different heads, and creating headers costs more than looking them up.
   *
   * @param {string} head
   */
  #initOf(head) {
    let init = this.#inits.get(head);
    if (init === undefined) {
      const [status, ...lines] = head.split("\n");
      const headers = new Headers();
      for (const line of [...this.#rust.commonHeaders().trim().split("\n"), ...lines]) {
        const colon = line.indexOf(": ");
        headers.set(line.slice(0, colon), line.slice(colon + 2));
      }
      init = { status: Number(status), headers };
      if (this.#inits.size >= MAX_KNOWN) this.#inits.clear();
      this.#inits.set(head, init);
    }
    return init;
  }
}

/** The form of the request to an object, by the first letter of its address; otherwise a call. @type {Record<string, string>} */
const FORMS = { n: "begin", c: "callback" };

/**
 * A request that is being answered. `limits` are the rate limits that have admitted the request before it had to wait.
 *
 * @typedef {{ env: any, request: Request | undefined, head: string, body: Uint8Array | undefined, isBroken: boolean, limits: string, waiting: Waiting | undefined, observed: Observed | undefined }} Asked
 */

/**
 * What is observed of a request: the subject of its plan; the code of an error over JSON-RPC; the instants at which it begun, its facts were found, and its
 * object was asked and answered, 0 if they were not; whether a stream answers it.
 *
 * @typedef {{ subject: string, code: number | undefined, begun: number, found: number, asked: number, answered: number, isStream: boolean }} Observed
 */

/** @type {Observed} */
const UNOBSERVED = { subject: "", code: undefined, begun: 0, found: 0, asked: 0, answered: 0, isStream: false };

/** The entry in the head of a request that is observed (src/front/head.rs). */
const OBSERVED = "\n:observed\n";

/** The code of an error in an answer over JSON-RPC; undefined if the body is none. @param {string} body */
function errorCodeOf(body) {
  const found = JSON_RPC_ERROR.exec(body.slice(0, MAX_ERROR_CHARS));
  return found === null ? undefined : Number(found[1]);
}

/** The begin of an error over JSON-RPC, as the Worker writes it. */
const JSON_RPC_ERROR = /^\{"jsonrpc":"2\.0","id":(?:null|[-\d.eE+]+|"(?:[^"\\]|\\.)*"),"error":\{"code":(-?\d+)/;

/** The part of an answer in which its code is looked for: an id may be long. */
const MAX_ERROR_CHARS = 2_000;

/**
 * Checks rate limits (`Limit` in src/front/limit.rs), a list as JSON. Returns the refusing limits as such a list. A limit that cannot be checked admits
 * everything, because rate limits are only a protection.
 *
 * @param {any} env @param {string} limits
 * @returns {Promise<string>}
 */
export async function refusing(env, limits) {
  const asked = JSON.parse(limits).map(async (/** @type {{ binding: string, key: string }} */ limit) => {
    const { binding, key } = limit;
    try {
      return (await env[binding].limit({ key })).success ? [] : [limit];
    } catch (error) {
      console.error(`the rate limit ${binding} cannot be asked: ${error instanceof Error ? error.message : String(error)}`);
      return [];
    }
  });
  return JSON.stringify((await Promise.all(asked)).flat());
}

/**
 * The response with these headers. The headers of an object's response are immutable, so the response is copied.
 *
 * @param {Response} response @param {Record<string, string>} headers
 */
function withHeaders(response, headers) {
  const changed = new Response(response.body, response);
  for (const [name, value] of Object.entries(headers)) changed.headers.set(name, value);
  return changed;
}

const NOTHING = new Uint8Array(0);

/** The origin of a URL and the first part of its path, which may name an agent. */
const FIRST_PART = /^[^/]+\/\/[^/]+\/[^/?#]*/;

/** The client certificate that the platform has verified, as JSON; null if there is none. @param {Request} request */
function certificateOf(request) {
  const certificate = /** @type {any} */ (request).cf?.tlsClientAuth;
  return certificate ? JSON.stringify(certificate) : null;
}

/**
 * The number of bytes of a request's body; `Infinity` if the request does not tell it. Asking the platform for the body itself would make a stream of it.
 *
 * @param {Request} request
 */
function lengthOf(request) {
  const { method } = request;
  if (method === "GET" || method === "HEAD") return 0;
  const length = request.headers.get("content-length");
  if (length !== null) return Number(length);
  return request.body === null ? 0 : Infinity;
}

/**
 * The object id for an address; undefined if the namespace, which recognizes its own ids, did not create it.
 *
 * @param {any} namespace @param {string} address
 */
function idOf(namespace, address) {
  if (address === "n") return namespace.newUniqueId();
  if (address[0] === "k") return namespace.idFromName(JSON.parse(address.slice(1)));
  try {
    return namespace.idFromString(address.slice(1));
  } catch {
    return undefined;
  }
}
