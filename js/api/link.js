// The connection of one run with the engine: calls by its number, and the end of the run.
import { RunOver, isRunOver, refusal } from "./errors.js";

/** @typedef {import("../engine.d.ts").Bridge} Bridge */
/** @typedef {RunOver["why"]} Why */

/**
 * The runs to which promises and errors belong, for rejections that nobody has awaited.
 *
 * @type {WeakMap<object, Link>}
 */
const owners = new WeakMap();

/** What a run may not do any more when it has said how it ends. */
const ACTS = new Set(["say", "append", "progress", "beginStep", "beginWrite", "wait", "callback"]);

export class Link {
  #bridge;
  #number;
  /** Made when the signal is asked for. @type {AbortController | undefined} */
  #controller;
  /** The promises of the run that are pending. @type {Map<Promise<any>, (reason: unknown) => void>} */
  #pending = new Map();
  /** @type {Set<ReturnType<typeof setTimeout>>} */
  #timers = new Set();
  /** @type {Why | undefined} */
  #why;

  /** The steps that have begun and not ended: their names and numbers. @type {Set<string>} */
  openSteps = new Set();

  /** How the run was ended by a method, as `turn.ask()`. @type {{ by: string, ended: object } | undefined} */
  end;

  /** Called with a rejection that nobody has awaited. @type {(reason: unknown) => void} */
  onRejection = () => {};

  /** @param {Bridge} bridge @param {number} number The number of the run. */
  constructor(bridge, number) {
    this.#bridge = bridge;
    this.#number = number;
  }

  get signal() {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#why !== undefined) this.#controller.abort(this.own(new RunOver(this.#why)));
    }
    return this.#controller.signal;
  }

  /** Why the run is over; undefined while it is not. */
  get why() {
    return this.#why;
  }

  /**
   * Calls a function of the bridge.
   *
   * @template {keyof Bridge} Name
   * @param {Name} name
   * @param {Bridge[Name] extends (run: number, ...rest: infer Rest) => unknown ? Rest : never} args
   * @returns {ReturnType<Bridge[Name]>}
   * @throws {RunOver} If the run is over.
   * @throws {Error} If the engine refuses.
   */
  call(name, ...args) {
    this.refuseWhenOver();
    if (this.end !== undefined && ACTS.has(name)) {
      throw this.own(new Error(`${this.end.by} has ended the run already; write: return ${this.end.by}`));
    }
    try {
      return /** @type {any} */ (this.#bridge[name])(this.#number, ...args);
    } catch (thrown) {
      throw this.#refused(thrown);
    }
  }

  /**
   * Calls a function of the bridge that gives a promise.
   *
   * @template {keyof Bridge} Name
   * @param {Name} name
   * @param {Bridge[Name] extends (run: number, ...rest: infer Rest) => unknown ? Rest : never} args
   * @returns {Promise<Awaited<ReturnType<Bridge[Name]>>>}
   */
  async ask(name, ...args) {
    try {
      return await this.call(name, ...args);
    } catch (thrown) {
      throw this.#refused(thrown);
    }
  }

  /** @param {string} [before] What the step should be done before. @throws {Error} If a step is under way. */
  refuseOpenSteps(before = "the function returns") {
    const [open] = this.openSteps;
    if (open === undefined) return;
    throw this.own(new Error(`the step ${JSON.stringify(open.split("\n")[0])} is still under way: await it before ${before}`));
  }

  /** @throws {RunOver} If the run is over. */
  refuseWhenOver() {
    if (this.#why !== undefined) throw this.own(new RunOver(this.#why));
  }

  /** @param {unknown} thrown */
  #refused(thrown) {
    const error = refusal(thrown);
    if (isRunOver(error)) this.over(error.why);
    return this.own(error);
  }

  /**
   * Notes that an error belongs to this run.
   *
   * @template T @param {T} error @returns {T}
   */
  own(error) {
    if (typeof error === "object" && error !== null) owners.set(error, this);
    return error;
  }

  /**
   * Begins work of the run and gives the promise that the author gets: it settles as the work does, is rejected as soon as the
   * run is over, and stays pending when the run is parked.
   *
   * @template T @param {() => Promise<T>} work @returns {Promise<T>}
   */
  run(work) {
    /** @type {PromiseWithResolvers<T>} */
    const { promise, resolve, reject } = Promise.withResolvers();
    owners.set(promise, this);
    const settle = (/** @type {() => void} */ how) => {
      if (this.#pending.delete(promise)) how();
    };
    this.#pending.set(promise, reject);
    if (this.#why !== undefined) this.#give(promise, reject);
    else work().then((value) => settle(() => resolve(value)), (error) => settle(() => reject(this.own(error))));
    return promise;
  }

  /**
   * Settles a pending promise, since the run is over.
   *
   * @param {Promise<unknown>} promise @param {(reason: unknown) => void} reject
   */
  #give(promise, reject) {
    this.#pending.delete(promise);
    if (this.#why === "parked") return;
    // Nobody has to await it.
    promise.catch(() => {});
    reject(this.signal.reason);
  }

  /**
   * The pieces of a source, as long as the run is not over; the source is closed then.
   *
   * @template T @param {AsyncIterable<T> | Iterable<T>} source @returns {AsyncGenerator<T>}
   */
  async *read(source) {
    const iterator = Symbol.asyncIterator in source ? source[Symbol.asyncIterator]() : source[Symbol.iterator]();
    let isDone = false;
    try {
      for (;;) {
        const next = await this.run(async () => iterator.next());
        isDone = next.done === true;
        if (next.done) return;
        yield next.value;
      }
    } catch (error) {
      // A source that has thrown is closed.
      isDone = this.why === undefined;
      throw error;
    } finally {
      // Not awaited: a source that hangs may not end, either.
      if (!isDone) (async () => iterator.return?.())().catch(() => {});
    }
  }

  /** A promise that is fulfilled after a time, unless the run is over by then. @param {number} ms @returns {Promise<void>} */
  pause(ms) {
    return new Promise((resolve) => {
      const timer = setTimeout(() => {
        this.#timers.delete(timer);
        resolve();
      }, ms);
      this.#timers.add(timer);
    });
  }

  /** Ends the run. What comes first counts. @param {Why} why */
  over(why) {
    if (this.#why !== undefined) return;
    this.#why = why;
    this.#controller?.abort(this.own(new RunOver(why)));
    for (const timer of this.#timers) clearTimeout(timer);
    for (const [promise, reject] of this.#pending) this.#give(promise, reject);
  }
}

/**
 * Handles a rejection that nobody has awaited: the run to which it belongs fails. Any other is left to the platform, which logs
 * it.
 *
 * @param {{ promise: Promise<unknown>, reason: unknown, preventDefault(): void }} event
 */
export function noteRejection(event) {
  const { promise, reason } = event;
  const owner = owners.get(promise) ?? (typeof reason === "object" && reason !== null ? owners.get(reason) : undefined);
  if (owner === undefined || (owner.why !== undefined && !isRunOver(reason))) return;
  event.preventDefault();
  if (owner.why === undefined) owner.onRejection(reason);
}
