// The storage of one Durable Object. What is stored outlives the isolate; the handles that the object has do not.
import { Database, isQuery } from "./sqlite.js";

/** What is stored of an object. */
export class Stored {
  database = new Database();
  /** The instant of the alarm. @type {number | undefined} */
  alarm;
  /** The timer of the alarm. @type {number | undefined} */
  timer;
  /** True while the handler of the alarm is at work. */
  isRinging = false;
  /** How often the handler has failed in a row. */
  failures = 0;
}

/** The time before a failed alarm is repeated, in milliseconds; it doubles. */
const RETRY_MS = 2_000;

/** How often a failed alarm is repeated. */
const MAX_RETRIES = 6;

/** `ctx.storage` of an object in an isolate. */
export class Storage {
  #isolate;
  #hex;
  #stored;
  #platform;
  /** True in a transaction, which is one write. */
  #isInTransaction = false;

  /** @param {import("./isolate.js").Isolate} isolate @param {string} hex The id of the object. @param {Stored} stored */
  constructor(isolate, hex, stored) {
    this.#isolate = isolate;
    this.#hex = hex;
    this.#stored = stored;
    this.#platform = isolate.platform;
    this.sql = { exec: (/** @type {string} */ query, /** @type {unknown[]} */ ...values) => this.#exec(query, values), databaseSize: 0 };
  }

  /** @param {() => unknown} work */
  transactionSync(work) {
    if (!this.#reachesWrite()) return undefined;
    this.#isInTransaction = true;
    try {
      return this.#stored.database.transaction(work);
    } finally {
      this.#isInTransaction = false;
    }
  }

  sync() {
    return this.#settled(() => {});
  }

  /** @param {number | Date} at */
  setAlarm(at) {
    return this.#settled(() => setAlarm(this.#platform, this.#hex, this.#stored, Number(at)));
  }

  getAlarm() {
    return this.#settled(() => this.#stored.alarm ?? null);
  }

  deleteAlarm() {
    return this.#settled(() => clearAlarm(this.#platform, this.#stored));
  }

  /** Deletes everything, with the alarm. */
  deleteAll() {
    return this.#settled(() => {
      if (!this.#reachesWrite()) return;
      this.#stored.database = new Database();
      clearAlarm(this.#platform, this.#stored);
    });
  }

  /** Does something at once, and gives a promise of its result. If the isolate has ended, it is pending for ever. @template T @param {() => T} work */
  #settled(work) {
    return this.#isolate.alive(this.#isolate.isAlive ? work() : undefined);
  }

  /** Comes to a write. False if the isolate has ended, there or before: then nothing must be written. */
  #reachesWrite() {
    if (this.#isolate.isAlive) this.#platform.reach({ kind: "write" }, this.#isolate);
    return this.#isolate.isAlive;
  }

  /** @param {string} query @param {unknown[]} values */
  #exec(query, values) {
    const isWrite = !isQuery(query);
    const goesOn = isWrite && !this.#isInTransaction ? this.#reachesWrite() : this.#isolate.isAlive;
    // Code of an isolate that has ended finds nothing. It is not stopped by an error, since it would handle that.
    if (!goesOn) return new Cursor([], 0);
    this.#platform.quiet.note();
    const { database } = this.#stored;
    if (isWrite && values.length === 0) {
      database.run(query);
      return new Cursor([], 0);
    }
    // Values belong to the last statement.
    const last = query.lastIndexOf(";") + 1;
    if (last > 0) database.run(query.slice(0, last));
    const rows = database.all(query.slice(last), values);
    if (APPENDS.test(query)) this.#platform.appended();
    return new Cursor(rows, isWrite ? database.changes : 0);
  }
}

/** A statement that appends to the log of a task. */
const APPENDS = /\bINSERT INTO log\b/;

/** What `sql.exec` returns. */
class Cursor {
  #rows;
  #next = 0;

  /** @param {Record<string, unknown>[]} rows @param {number} rowsWritten */
  constructor(rows, rowsWritten) {
    this.#rows = rows;
    this.rowsRead = rows.length;
    this.rowsWritten = rowsWritten;
    this.columnNames = Object.keys(rows[0] ?? {});
  }

  next() {
    const value = this.#rows[this.#next];
    this.#next += 1;
    return value === undefined ? { done: true } : { done: false, value };
  }

  toArray() {
    const rest = this.#rows.slice(this.#next);
    this.#next = this.#rows.length;
    return rest;
  }

  one() {
    if (this.#rows.length !== 1) throw new Error(`Expected exactly one result from SQL query, but got ${this.#rows.length} results`);
    return this.#rows[0];
  }

  raw() {
    return this.toArray().map((row) => Object.values(row))[Symbol.iterator]();
  }

  [Symbol.iterator]() {
    return this;
  }
}

/**
 * Sets the alarm of an object, which may have no isolate at that time.
 *
 * @param {import("./platform.js").Platform} platform @param {string} hex @param {Stored} stored @param {number} at
 */
export function setAlarm(platform, hex, stored, at) {
  clearAlarm(platform, stored);
  stored.alarm = at;
  stored.timer = platform.clock.at(() => ring(platform, hex, stored), at);
  platform.quiet.note();
}

/** @param {import("./platform.js").Platform} platform @param {Stored} stored */
function clearAlarm(platform, stored) {
  if (stored.timer !== undefined) platform.clock.clear(stored.timer);
  stored.timer = undefined;
  stored.alarm = undefined;
}

/** @param {import("./platform.js").Platform} platform @param {string} hex @param {Stored} stored */
async function ring(platform, hex, stored) {
  stored.alarm = undefined;
  stored.timer = undefined;
  stored.isRinging = true;
  const { isolate } = platform;
  try {
    // If the isolate ends meanwhile, the promise never settles, and the platform rings again.
    await isolate.alive(isolate.within(() => isolate.object(hex).alarm()));
    stored.failures = 0;
  } catch {
    stored.failures += 1;
    if (stored.failures <= MAX_RETRIES && stored.alarm === undefined) {
      setAlarm(platform, hex, stored, platform.clock.now + RETRY_MS * 2 ** (stored.failures - 1));
    }
  }
  stored.isRinging = false;
}
