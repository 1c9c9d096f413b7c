// What the engine gives to js/node.js. There are many engines, one for each isolate of each test, so that calls are passed on to the right one.

/** @typedef {(agents: any, functions?: any) => any} Start */

/** The isolate for which the entry module of a Worker is evaluated now. @type {{ start: Start, env: object } | undefined} */
let taker;

/** The isolates by the numbers of their first runs. @type {Map<number, WeakRef<import("./isolate.js").Isolate>>} */
const isolates = new Map();

let registered = 0;

/** @type {FinalizationRegistry<number>} */
const forgotten = new FinalizationRegistry((first) => isolates.delete(first));

/** So many runs an isolate may have. */
const RUNS = 2 ** 32;

/**
 * Evaluates the entry module of a Worker for an isolate.
 *
 * @template T @param {{ start: Start, env: object }} isolate @param {() => T} entry
 * @returns {T}
 */
export function taking(isolate, entry) {
  const before = taker;
  taker = isolate;
  try {
    return entry();
  } finally {
    taker = before;
  }
}

/** Gives an isolate the numbers of its runs; returns the first one. @param {import("./isolate.js").Isolate} isolate */
export function register(isolate) {
  registered += 1;
  const first = registered * RUNS;
  isolates.set(first, new WeakRef(isolate));
  forgotten.register(isolate, first);
  return first;
}

/** The environment of the Worker. */
export const environment = () => taker?.env ?? {};

/** As the function of the engine. Where no isolate begins, there is nothing to start. @type {Start} */
export function start(agents, functions) {
  if (taker !== undefined) return taker.start(agents, functions);
  const refuse = () => Promise.reject(new Error("The Worker does not run in Node. Serve it: npx a2a-edge dev. Test its functions by a2a-edge/testing."));
  return { fetch: refuse, queue: refuse, scheduled: refuse };
}

/** What a run may ask of its task (`js/api/bridge.d.ts`). @type {any} */
export const bridge = new Proxy({}, {
  get: (_, name) => (/** @type {number} */ run, /** @type {unknown[]} */ ...args) => {
    const number = run % RUNS;
    const isolate = isolates.get(run - number)?.deref();
    // As `Isolate.call` for an isolate that has ended.
    if (isolate === undefined) throw "~parked";
    return isolate.call(String(name), number, args);
  },
});

/** The class that entry modules export. Isolates make objects of that of their engine. */
export class TaskObject {
  /** @param {unknown} _state @param {unknown} _env */
  constructor(_state, _env) {
    throw new Error("objects of tasks live in workerd, or in an agent of a2a-edge/testing");
  }
}
