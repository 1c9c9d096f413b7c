// Cloudflare, as far as an agent needs it, in this process and in simulated time. What is stored belongs to it; what is in memory, to its isolate.
import { Chance } from "./chance.js";
import { Clock } from "./clock.js";
import { within } from "./context.js";
import { newDatabase } from "./d1.js";
import { withGlobals } from "./globals.js";
import { Isolate } from "./isolate.js";
import { Quiet } from "./quiet.js";
import { Queues } from "./queues.js";
import { setAlarm } from "./storage.js";

/**
 * Something in the work of an agent before or behind which its process may end: a write to storage, the begin of a step's work, the end of a step
 * before its outcome is noted, a request before it is sent, and its answer before the run has it.
 *
 * @typedef {{ kind: "write" } | { kind: "begin" | "end", name: string } | { kind: "request" | "answer", name: string }} Place
 *
 * A step of a run, in one attempt. `key` is that of its run. `stored` is true once its outcome cannot be lost.
 * @typedef {{ key: string, name: string, nth: number, isEnded: boolean, isStored: boolean }} Step
 *
 * A request that a run has sent. `step` is one that was under way then.
 * @typedef {{ key: string, method: string, url: string, step: string | undefined, life: number }} Sent
 *
 * @typedef {(request: Request) => Response | Promise<Response>} Answer
 *
 * @typedef {object} Parts
 * @property {() => any} entry Evaluates the entry module of the Worker.
 * @property {Record<string, unknown>} variables Variables of the engine alone.
 * @property {Record<string, unknown>} env The variables, secrets and bindings of the project.
 * @property {number} now The instant at which it begins.
 * @property {number} seed The beginning of its chance.
 * @property {Answer | undefined} answer Answers the requests of runs.
 * @property {(request: Request) => Promise<Response> | undefined} elsewhere Answers them before that if they are to a remote agent or an MCP server.
 */

/** The number of timers of one instant; more are taken for a loop without an end. */
const MAX_RINGS = 10_000;

/** The lines of the log that are kept. */
const MAX_LOG = 200;


export class Platform {
  clock;
  chance;
  quiet = new Quiet();
  database = newDatabase();
  queues = new Queues(this);
  /** @type {Map<string, import("./storage.js").Stored>} */
  objects = new Map();
  /** The ids that the namespace knows. @type {Set<string>} */
  objectIds = new Set();
  /** What the engine has logged. @type {string[]} */
  log = [];
  /** The requests that were sent to the test. @type {Request[]} */
  fetched = [];
  /** The notes of progress. @type {string[]} */
  progress = [];
  /** Errors of functions that are no `Failure`, and that the test was not told yet. @type {Error[]} */
  errors = [];
  /** How functions have ended, as JSON. @type {string[]} */
  ends = [];
  /** @type {Step[]} */
  steps = [];
  /** @type {Sent[]} */
  sent = [];
  /** How many isolates have ended. */
  crashes = 0;
  /** Called at each place; the isolate ends there if it says so. @type {((place: Place) => boolean) | undefined} */
  watch;
  /** The last error that a function has thrown. @type {Error | undefined} */
  #thrown;
  #parts;
  #start;
  /** @type {Isolate | undefined} */
  #isolate;
  /** How many timers of this instant were due. */
  #rings = 0;
  /** Timers of `every`, by the number of their first timer. @type {Map<number, number>} */
  #repeated = new Map();

  /** @param {Parts} parts */
  constructor(parts) {
    this.#parts = parts;
    this.#start = parts.now;
    this.clock = new Clock(parts.now);
    this.chance = new Chance(parts.seed);
  }

  /** The isolate, which begins if there is none. */
  get isolate() {
    this.#isolate ??= new Isolate(this, this.#parts);
    return this.#isolate;
  }

  /** The milliseconds since the begin. */
  get sinceStart() {
    return this.clock.now - this.#start;
  }

  /** Ends the isolate. What is stored stays; alarms and queues go on with a new one. */
  crash() {
    const isolate = this.#isolate;
    if (isolate === undefined) return;
    this.#isolate = undefined;
    this.crashes += 1;
    isolate.end();
    // What was not stored by now never will be.
    for (const step of this.steps) step.isEnded &&= step.isStored;
    for (const [hex, stored] of this.objects) {
      if (!stored.isRinging) continue;
      stored.isRinging = false;
      if (stored.alarm === undefined) setAlarm(this, hex, stored, this.clock.now);
    }
    this.queues.again();
    this.quiet.note();
  }

  /** Tells that an isolate has come to a place, where it may end. @param {Place} place @param {Isolate} isolate */
  reach(place, isolate) {
    this.quiet.note();
    if (isolate.isAlive && this.watch?.(place)) this.crash();
  }

  /** Notes that the log of a task was written: the outcomes of all steps that have ended before are stored. */
  appended() {
    for (const step of this.steps) step.isStored ||= step.isEnded;
  }

  /** @param {import("./isolate.js").Run} run @param {string} name @param {number} nth */
  beginStep(run, name, nth) {
    const step = { key: run.key, name, nth, isEnded: false, isStored: false };
    this.steps.push(step);
    run.openSteps.set(`${name} ${nth}`, step);
  }

  /** @param {import("./isolate.js").Run} run @param {string} name @param {number} nth */
  endStep(run, name, nth) {
    const step = run.openSteps.get(`${name} ${nth}`);
    if (step === undefined) return;
    step.isEnded = true;
    run.openSteps.delete(`${name} ${nth}`);
  }

  /** @param {string} end */
  functionEnded(end) {
    this.ends.push(end);
    const { failed, isFailure, stack } = end === "" ? {} : JSON.parse(end);
    if (failed === undefined || isFailure) return;
    const thrown = this.#thrown;
    this.#thrown = undefined;
    const isIt = thrown !== undefined && failed.startsWith(thrown.message || thrown.name);
    this.errors.push(isIt ? thrown : Object.assign(new Error(failed), stack && { stack }));
  }

  /** Notes an error that a function has thrown, which the test gets as it is. @param {unknown} error */
  noteThrown(error) {
    this.#thrown = error instanceof Error ? error : undefined;
  }

  /** @param {unknown[]} words */
  noteLog(words) {
    this.log.push(words.map((word) => (word instanceof Error ? word.stack : String(word))).join(" "));
    if (this.log.length > MAX_LOG) this.log.shift();
  }

  /**
   * Sends a request of the agent.
   *
   * @param {string | URL | Request} input @param {RequestInit | undefined} init
   * @param {Isolate} isolate @param {import("./isolate.js").Run | undefined} run The run, if its function itself sends the request.
   * @returns {Promise<Response>}
   */
  async fetch(input, init, isolate, run) {
    const request = new Request(input, init?.body instanceof ReadableStream ? /** @type {RequestInit} */ ({ duplex: "half", ...init }) : init);
    request.signal.throwIfAborted();
    const name = `${request.method} ${request.url}`;
    this.reach({ kind: "request", name }, isolate);
    if (!isolate.isAlive) return new Promise(() => {});
    if (run !== undefined) {
      const [step] = run.openSteps.values();
      this.sent.push({ key: run.key, method: request.method, url: request.url, step: step?.name, life: this.crashes });
    }
    const aborted = new Promise((_, reject) => {
      request.signal.addEventListener("abort", () => reject(request.signal.reason), { once: true });
    });
    const response = await isolate.alive(Promise.race([this.#answer(request), aborted]));
    this.reach({ kind: "answer", name }, isolate);
    return isolate.isAlive ? response : new Promise(() => {});
  }

  /** @param {Request} request @returns {Promise<Response>} */
  #answer(request) {
    return this.quiet.of((work) => within({ platform: this, work }, async () => {
      const answered = this.#parts.elsewhere(request);
      if (answered !== undefined) return answered;
      this.fetched.push(request.clone());
      const { answer } = this.#parts;
      if (answer === undefined) throw new TypeError(`nobody answers ${request.method} ${request.url}: give the test agent a function "fetch"`);
      const response = await answer(request);
      if (response instanceof Response) return response;
      throw new TypeError(`"fetch" of the test agent gave no Response for ${request.method} ${request.url}`);
    }));
  }

  /**
   * Has `ring` called again and again.
   *
   * @param {(ring: () => void, ms: unknown) => number} set Sets a timer. @param {() => void} ring @param {number} ms
   * @returns {number} The number by which `clear` ends it.
   */
  every(set, ring, ms) {
    const next = () => {
      this.#repeated.set(first, set(next, ms));
      ring();
    };
    const first = set(next, ms);
    this.#repeated.set(first, first);
    return first;
  }

  /** Clears a timer, also one that repeats. @param {number} id */
  clear(id) {
    this.clock.clear(this.#repeated.get(id) ?? id);
    this.#repeated.delete(id);
  }

  /**
   * Sends a request to the Worker, again if the isolate ends before it is answered.
   *
   * @param {() => Request} make
   * @returns {Promise<{ status: number, text: string }>}
   */
  async request(make) {
    for (;;) {
      const { isolate } = this;
      const answered = isolate.within(async () => {
        const response = await isolate.handlers.fetch(make(), isolate.env, isolate.event);
        return { status: response.status, text: await response.text() };
      });
      const answer = await this.drive(Promise.race([isolate.alive(answered), isolate.died]));
      if (answer !== undefined) return answer;
    }
  }

  /** Lets simulated time pass until a promise settles. @template T @param {Promise<T>} promise @returns {Promise<T>} */
  drive(promise) {
    let isOver = false;
    const over = () => {
      isOver = true;
    };
    promise.then(over, over);
    return withGlobals(async () => {
      for (;;) {
        await this.quiet.settled();
        if (isOver) return promise;
        if (this.clock.next === undefined) throw new Error("the agent waits for something that never comes: it has no timer and no alarm");
        this.#ring();
      }
    });
  }

  /**
   * Lets simulated time pass until an instant, or until nothing is to be done before it and `isEnough`.
   *
   * @param {number} end @param {() => Promise<boolean>} [isEnough]
   */
  pass(end, isEnough) {
    return withGlobals(async () => {
      for (;;) {
        await this.quiet.settled();
        const { next } = this.clock;
        if (isEnough !== undefined && next !== this.clock.now && (await isEnough())) return;
        if (next === undefined || next > end) break;
        this.#ring();
      }
      if (isEnough === undefined) this.clock.moveTo(end);
    });
  }

  #ring() {
    const before = this.clock.now;
    this.clock.ring();
    this.#rings = this.clock.now === before ? this.#rings + 1 : 0;
    if (this.#rings <= MAX_RINGS) return;
    throw new Error(`${MAX_RINGS} timers of the agent were due without any time in between: it repeats something without an end`);
  }
}
