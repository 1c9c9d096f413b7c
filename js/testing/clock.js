// Simulated time.

/** The longest time of a timer. As on the platform, a longer one is over at once. */
const LONGEST_MS = 2 ** 31 - 1;

/** A clock that moves only when it is told to. It has timers, whose numbers are never used again. */
export class Clock {
  #now;
  #last = 0;
  /** @type {Map<number, { at: number, work: () => void }>} */
  #timers = new Map();

  /** @param {number} now Milliseconds since 1970. */
  constructor(now) {
    this.#now = now;
  }

  /** The present instant, in milliseconds since 1970. */
  get now() {
    return this.#now;
  }

  /** The instant of the next timer; undefined if there is none. */
  get next() {
    return this.#first()?.[1].at;
  }

  /**
   * Has `work` called after a time.
   *
   * @param {() => void} work @param {unknown} ms
   * @returns {number} The number of the timer.
   */
  set(work, ms) {
    const time = Number(ms) || 0;
    return this.at(work, this.#now + (time > LONGEST_MS ? 0 : Math.max(0, time)));
  }

  /** Has `work` called at an instant. @param {() => void} work @param {number} at @returns {number} The number of the timer. */
  at(work, at) {
    this.#last += 1;
    this.#timers.set(this.#last, { at: Math.max(at, this.#now), work });
    return this.#last;
  }

  /** Clears a timer. @param {number} id */
  clear(id) {
    this.#timers.delete(id);
  }

  /** Moves on to the next timer, and calls what it is for. */
  ring() {
    const first = this.#first();
    if (first === undefined) return;
    const [id, { at, work }] = first;
    this.#timers.delete(id);
    this.#now = at;
    work();
  }

  /** Moves on to an instant, at which no timer is due. @param {number} at */
  moveTo(at) {
    this.#now = Math.max(this.#now, at);
  }

  /** The next timer. Timers of one instant are due in the order in which they were set. */
  #first() {
    let first;
    for (const entry of this.#timers) if (first === undefined || entry[1].at < first[1].at) first = entry;
    return first;
  }
}
