// When simulated time may move: when all that really takes time has ended, and everything else waits for timers.

/** The functions of real time, also where a test or this package replaces them. */
const { setImmediate, setTimeout, performance } = globalThis;
const now = performance.now.bind(performance);

/** So many turns of the event loop without activity mean that everybody waits. */
const QUIET_TURNS = 5;

/** A function of the test that has not answered for so long counts as silent if nothing shows that it is at work, in milliseconds of real time. */
const SILENT_MS = 20;

/** It counts as silent after this time whatever it does. */
const PATIENCE_MS = 2_000;

/** Requests of Node to the system, such as reads of files: they always end. */
const REQUEST = /^FSReq|ReqWrap$/;

/** A function of the test that was called and has not answered. */
export class Work {
  #since = now();
  #resources = counted();
  #timers = 0;

  /** Notes that the function waits for a simulated timer. */
  waits() {
    this.#timers += 1;
  }

  /** Notes that such a timer has ended the wait. */
  goesOn() {
    this.#timers -= 1;
    this.#since = now();
  }

  /** True if the function seems to be at work, and not to wait for simulated time. */
  get isBusy() {
    const ms = now() - this.#since;
    if (this.#timers > 0 || ms > PATIENCE_MS) return false;
    return ms < SILENT_MS || grown(this.#resources, counted());
  }
}

/** Tells if there is activity. */
export class Quiet {
  #count = 0;
  /** @type {Set<Work>} */
  #works = new Set();
  #pending = 0;

  /** Notes that something has happened. */
  note() {
    this.#count += 1;
  }

  /** Waits for a promise that takes real time and always settles. @param {unknown} promise */
  await(promise) {
    this.#pending += 1;
    const settled = () => {
      this.#pending -= 1;
      this.note();
    };
    Promise.resolve(promise).then(settled, settled);
  }

  /**
   * Waits for the answer of a function of the test, which may never come.
   *
   * @template T @param {(work: Work) => Promise<T>} call @returns {Promise<T>}
   */
  async of(call) {
    const work = new Work();
    this.#works.add(work);
    try {
      return await call(work);
    } finally {
      this.#works.delete(work);
      this.note();
    }
  }

  /** Waits until everybody waits. */
  async settled() {
    const begun = now();
    for (let turns = 0; turns < QUIET_TURNS; ) {
      const before = this.#count;
      await new Promise((resolve) => setImmediate(resolve));
      if (this.#isBusy(begun)) {
        await new Promise((resolve) => setTimeout(resolve, 1));
        turns = 0;
      } else {
        turns = this.#count === before ? turns + 1 : 0;
      }
    }
  }

  /** @param {number} begun */
  #isBusy(begun) {
    if (this.#pending > 0) return true;
    for (const work of this.#works) if (work.isBusy) return true;
    return now() - begun < PATIENCE_MS && process.getActiveResourcesInfo().some((name) => REQUEST.test(name));
  }
}

/** How many resources of each kind keep the event loop alive. @returns {Map<string, number>} */
function counted() {
  const counts = new Map();
  for (const name of process.getActiveResourcesInfo()) if (name !== "Immediate") counts.set(name, (counts.get(name) ?? 0) + 1);
  return counts;
}

/** True if there are more resources of any kind. @param {Map<string, number>} before @param {Map<string, number>} now */
const grown = (before, now) => [...now].some(([name, count]) => count > (before.get(name) ?? 0));
