// The global functions that code of an agent finds: time is simulated, and requests go to the test.
//
// The engine gets them as variables of its own (`scopeOf`). The code of authors and of packages uses the global object, which the test has, too.
// So the functions there are replaced while a test waits for an agent (`install`), by ones that ask who calls (context.js): outside of an agent
// they do what those before them do. They are put back when the wait is over.
import { AsyncLocalStorage } from "node:async_hooks";
import { noteRejection } from "../api/link.js";
import { current } from "./context.js";

/** @typedef {import("./context.js").Context} Context */
/** @typedef {(...args: unknown[]) => void} Callback */

const { Date: RealDate, performance } = globalThis;

/** A class `Date` whose present is another. @param {DateConstructor} Real @param {() => number} now */
function dateWith(Real, now) {
  /** @type {DateConstructor} */
  const Simulated = new Proxy(Real, {
    construct(target, args, newTarget) {
      return Reflect.construct(target, args.length === 0 ? [now()] : args, newTarget === Simulated ? target : newTarget);
    },
    apply: () => String(new Real(now())),
    get: (target, key, receiver) => (key === "now" ? now : Reflect.get(target, key, receiver === Simulated ? target : receiver)),
  });
  return Simulated;
}

/** A request as the platform makes it: a body that is a stream needs no further word. */
class PlatformRequest extends Request {
  /** @param {string | URL | Request} input @param {RequestInit} [init] */
  constructor(input, init) {
    super(input, init?.body instanceof ReadableStream ? /** @type {RequestInit} */ ({ duplex: "half", ...init }) : init);
  }
}

/** The functions for code in a context. @param {Context} context */
function functionsOf(context) {
  const { platform, isolate, work } = context;
  const set = (/** @type {() => void} */ ring, /** @type {unknown} */ ms) => {
    if (isolate !== undefined) return isolate.setTimer(ring, ms);
    work?.waits();
    platform.quiet.note();
    return platform.clock.set(() => {
      work?.goesOn();
      ring();
    }, ms);
  };
  return {
    set,
    clear: (/** @type {unknown} */ id) => platform.clear(Number(id)),
    every: (/** @type {() => void} */ ring, /** @type {unknown} */ ms) => platform.every(set, ring, Math.max(1, Number(ms) || 0)),
  };
}

/**
 * The global object of the engine of an isolate.
 *
 * @param {import("./isolate.js").Isolate} isolate @returns {Record<string, any>}
 */
export function scopeOf(isolate) {
  const { platform } = isolate;
  const { set, clear, every } = functionsOf({ platform, isolate });
  const { chance } = platform;
  const log = (/** @type {unknown[]} */ ...words) => platform.noteLog(words);
  const ring = (/** @type {Callback} */ work, /** @type {unknown[]} */ args) => () => isolate.within(() => work(...args));
  const own = {
    setTimeout: (/** @type {Callback} */ work, /** @type {unknown} */ ms, /** @type {unknown[]} */ ...args) => set(ring(work, args), ms),
    clearTimeout: clear,
    setInterval: (/** @type {Callback} */ work, /** @type {unknown} */ ms, /** @type {unknown[]} */ ...args) => every(ring(work, args), ms),
    clearInterval: clear,
    fetch: (/** @type {string | URL | Request} */ input, /** @type {RequestInit} */ init) => platform.fetch(input, init, isolate, undefined),
    Request: PlatformRequest,
    Date: dateWith(RealDate, () => platform.clock.now),
    crypto: {
      subtle: globalThis.crypto.subtle,
      getRandomValues: (/** @type {ArrayBufferView} */ array) => chance.fill(array),
      randomUUID: () => chance.uuid(),
    },
    console: { debug: log, log, info: log, warn: log, error: log },
    queueMicrotask: (/** @type {() => void} */ work) => globalThis.queueMicrotask(work),
    addEventListener() {},
  };
  // Members of the global object such as `crypto` have getters only.
  const writable = (/** @type {unknown} */ value) => ({ value, writable: true, configurable: true });
  return Object.create(globalThis, Object.fromEntries(Object.entries(own).map(([name, value]) => [name, writable(value)])));
}

/** How many drives of agents are under way. */
let users = 0;

/** @type {() => void} */
let restore = () => {};

/** Calls `work` with the global functions of agents in place. @template T @param {() => Promise<T>} work @returns {Promise<T>} */
export async function withGlobals(work) {
  if (users === 0) restore = install();
  users += 1;
  try {
    return await work();
  } finally {
    users -= 1;
    if (users === 0) restore();
  }
}

/** Replaces global functions; returns what puts them back. */
function install() {
  const global = /** @type {any} */ (globalThis);
  const undo = [
    replace(global, "setTimeout", (real) => timer(real, "set")),
    replace(global, "setInterval", (real) => timer(real, "every")),
    replace(global, "clearTimeout", cleared),
    replace(global, "clearInterval", cleared),
    replace(global, "fetch", (real) => (/** @type {any[]} */ ...args) => {
      const { platform, isolate, run } = current() ?? {};
      // What the test itself fetches, also to answer an agent, is real.
      return platform === undefined || isolate === undefined ? real(...args) : platform.fetch(args[0], args[1], isolate, run);
    }),
    replace(global, "Date", (real) => dateWith(real, () => current()?.platform.clock.now ?? real.now())),
    replace(performance, "now", (real) => () => current()?.platform.sinceStart ?? real.call(performance)),
    replace(AbortSignal, "timeout", (real) => (/** @type {number} */ ms) => (current() === undefined ? real.call(AbortSignal, ms) : timeout(ms))),
    replace(process, "emit", (real) => (/** @type {any[]} */ ...args) => isOfRun(args) || real.apply(process, args)),
    ...Object.entries(Object.getOwnPropertyDescriptors(SubtleCrypto.prototype))
      .filter(([name, { value }]) => name !== "constructor" && typeof value === "function")
      .map(([name]) => replace(SubtleCrypto.prototype, name, awaited)),
  ];
  return () => {
    for (const one of undo) one();
  };
}

/** @param {any} owner @param {string} name @param {(real: any) => any} make @returns {() => void} */
function replace(owner, name, make) {
  const before = Object.getOwnPropertyDescriptor(owner, name);
  const made = make(owner[name]);
  Object.defineProperty(owner, name, { configurable: true, enumerable: before?.enumerable ?? true, writable: true, value: made });
  return () => {
    // A test may have replaced it meanwhile.
    if (Object.getOwnPropertyDescriptor(owner, name)?.value !== made) return;
    if (before === undefined) delete owner[name];
    else Object.defineProperty(owner, name, before);
  };
}

/** @param {Function} real @param {"set" | "every"} kind */
function timer(real, kind) {
  return (/** @type {Callback} */ work, /** @type {unknown} */ ms, /** @type {unknown[]} */ ...args) => {
    const context = current();
    if (context === undefined) return real(work, ms, ...args);
    return functionsOf(context)[kind](inContext(() => work(...args)), ms);
  };
}

/** `work` in the context of the code that runs now. @param {() => void} work */
function inContext(work) {
  return AsyncLocalStorage.bind(work);
}

/** @param {Function} real */
function cleared(real) {
  return (/** @type {unknown} */ id) => {
    const context = current();
    // Timers of Node are objects, simulated ones are numbers.
    return context === undefined || typeof id === "object" ? real(id) : context.platform.clear(Number(id));
  };
}

/** True for the event of a rejection that nobody has awaited, if it belongs to a run: the run fails by it, and not the test. @param {any[]} args */
function isOfRun([event, reason, promise]) {
  if (event !== "unhandledRejection") return false;
  let isHandled = false;
  noteRejection({ promise, reason, preventDefault: () => (isHandled = true) });
  return isHandled;
}

/** A signal that is aborted after a simulated time. @param {number} ms */
function timeout(ms) {
  const controller = new AbortController();
  setTimeout(() => controller.abort(new DOMException("The operation was aborted due to timeout", "TimeoutError")), ms);
  return controller.signal;
}

/** A function whose promise takes real time. @param {Function} real */
function awaited(real) {
  return /** @this {unknown} */ function (/** @type {unknown[]} */ ...args) {
    const promise = real.apply(this, args);
    current()?.platform.quiet.await(promise);
    return promise;
  };
}
