// An object of the index (tables.js): a shard of the index of one owner, or the directory of all shards. Either is an object of the namespace of the tasks, and
// runs the statements that D1 runs otherwise; WebAssembly only passes them on.
/** The binding of the objects (src/edge/bindings.rs). */
const TASKS = "TASKS";

// The names of these objects begin with `{`. No task has such a name (src/forms/address.rs).
/** The name of the directory. */
export const DIRECTORY = '{"index":[]}';

/** The name of an object that asks others; it stores nothing. @param {number} nth */
export const relayName = (nth) => JSON.stringify({ index: [nth] });

/** The name of a shard of an owner. Shards are numbered from 0. @param {string} owner @param {number} shard */
export const shardName = (owner, shard) => JSON.stringify({ index: [owner, shard] });

/** The time over which the writes of a shard are counted, in milliseconds. */
const WINDOW_MS = 10_000;

/** The largest number of objects that are asked at the same time. */
const AT_ONCE = 32;

/** The largest number of shards of an owner: a page asks all of them. */
const MAX_SHARDS = 64;

/**
 * @typedef {(string | number)[]} Values
 * @typedef {[owner: string, shard: number]} ShardOf
 * @typedef {[sql: string, values: Values, place?: Place, others?: ShardOf[]]} Request A statement with its values. With a place it may write, and makes the tables
 *   first. With `others`, these shards are asked in place of the object itself.
 * @typedef {[agent: string, owner: string, shard: number, maxWrites: number, maxBytes: number] | []} Place Whose rows are written, and where; empty for the
 *   directory and for deletions. The owner gets twice as many shards when shard 0 takes more than `maxWrites` writes in `WINDOW_MS`, or has more than `maxBytes`
 *   for each shard there is.
 * @typedef {{ rows: Record<string, unknown>[], shards: number }} Ran The selected rows, and the number of shards of the owner. Shard 0 alone knows it.
 */

/** Asks an object of the index. @param {any} env @param {string} name @param {Request} request @returns {Promise<Ran>} */
export function ask(env, name, request) {
  const namespace = env[TASKS];
  return namespace.get(namespace.idFromName(name)).index(request);
}

/** @typedef {{ exec: (sql: string, ...values: unknown[]) => { toArray: () => any[] }, databaseSize: number }} Sql */

/** The shards of this isolate, by the platform's states of their objects. @type {WeakMap<object, Shard>} */
const shards = new WeakMap();

/**
 * Runs a statement in the object with this state.
 *
 * @param {{ storage: { sql: Sql } }} state @param {any} env @param {Request} request
 * @param {() => string[]} schema The steps that make the tables. Later versions add steps.
 * @returns {Ran | Promise<Ran>}
 */
export function runInShard(state, env, [sql, values, place, others], schema) {
  if (others !== undefined) return askShards(env, others, sql, values).then((rows) => ({ rows, shards: 1 }));
  let shard = shards.get(state);
  if (shard === undefined) {
    shard = new Shard(state.storage.sql, env, schema);
    shards.set(state, shard);
  }
  return place === undefined ? shard.read(sql, values) : shard.write(sql, values, place);
}

/**
 * The rows of many shards, each with the number of its shard, up to `AT_ONCE` at the same time.
 *
 * @param {any} env @param {ShardOf[]} all @param {string} sql @param {Values} values
 * @returns {Promise<any[]>}
 */
export async function askShards(env, all, sql, values) {
  /** @type {any[]} */
  const rows = [];
  const waiting = all.values();
  const askNext = async () => {
    for (const [owner, shard] of waiting) {
      const ran = await ask(env, shardName(owner, shard), [sql, values]);
      for (const row of ran.rows) rows.push({ ...row, shard });
    }
  };
  await Promise.all(Array.from({ length: Math.min(AT_ONCE, all.length) }, askNext));
  return rows;
}

class Shard {
  #sql;
  #env;
  #schema;
  /** Whether the tables exist in the form of this version. */
  #isReady = false;
  #shards = 1;
  #windowMs = 0;
  #writes = 0;

  /** @param {Sql} sql @param {any} env @param {() => string[]} schema */
  constructor(sql, env, schema) {
    this.#sql = sql;
    this.#env = env;
    this.#schema = schema;
  }

  /** Selects rows. A shard to which nothing was written has none, and stays empty. @param {string} sql @param {Values} values @returns {Ran} */
  read(sql, values) {
    if (!this.#isReady) {
      if (this.#select("SELECT name FROM sqlite_master WHERE name = 'index_state'", []).length === 0) return { rows: [], shards: 1 };
      this.#prepare();
    }
    return this.#run(sql, values);
  }

  /**
   * Writes rows. The directory has the shard before the shard has a row of the agent, so all rows are found from the directory.
   *
   * @param {string} sql @param {Values} values @param {Place} place
   * @returns {Ran | Promise<Ran>}
   */
  write(sql, values, [agent, owner, shard, maxWrites = 0, maxBytes = 0]) {
    if (!this.#isReady) this.#prepare();
    if (shard === 0 && this.#isFull(maxWrites, maxBytes)) this.#split();
    if (agent === undefined || this.#isEntered(agent)) return this.#run(sql, values);
    return this.#enter(agent, [agent, owner ?? "", shard ?? 0]).then(() => this.#run(sql, values));
  }

  /** Whether the directory has the shard for an agent. @param {string} agent */
  #isEntered(agent) {
    return this.#select("SELECT 1 FROM index_state WHERE name = ? AND value = 1", [AGENT + agent]).length > 0;
  }

  /** Enters the shard into the directory. @param {string} agent @param {Values} entry */
  async #enter(agent, entry) {
    await ask(this.#env, DIRECTORY, [ENTER, entry, []]);
    this.#sql.exec("INSERT OR REPLACE INTO index_state (name, value) VALUES (?, 1)", AGENT + agent);
  }

  /** Counts a write. True if the owner needs more shards. @param {number} maxWrites @param {number} maxBytes */
  #isFull(maxWrites, maxBytes) {
    const now = Date.now();
    if (now - this.#windowMs >= WINDOW_MS) {
      this.#windowMs = now;
      this.#writes = 0;
    }
    this.#writes += 1;
    return this.#shards < MAX_SHARDS && (this.#writes > maxWrites || this.#sql.databaseSize > maxBytes * this.#shards);
  }

  /** Doubles the number of shards. Rows stay where they are; tasks that begin from now on are spread over all shards. */
  #split() {
    this.#writes = 0;
    this.#shards *= 2;
    this.#sql.exec("INSERT OR REPLACE INTO index_state (name, value) VALUES (?, ?)", SHARDS, this.#shards);
  }

  /** @param {string} sql @param {Values} values @returns {Ran} */
  #run(sql, values) {
    return { rows: this.#select(sql, values), shards: this.#shards };
  }

  /** @param {string} sql @param {Values} values */
  #select(sql, values) {
    return this.#sql.exec(sql, ...values).toArray();
  }

  /** Makes the tables, or changes those of an earlier version, and reads what is known of the shard. */
  #prepare() {
    this.#sql.exec("CREATE TABLE IF NOT EXISTS index_state (name TEXT NOT NULL PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID");
    /** @type {Map<string, number>} */
    const state = new Map(this.#select("SELECT name, value FROM index_state", []).map(({ name, value }) => [name, value]));
    const [done, steps] = [state.get(SCHEMA) ?? 0, this.#schema()];
    for (const step of steps.slice(done)) this.#sql.exec(step);
    if (done < steps.length) this.#sql.exec("INSERT OR REPLACE INTO index_state (name, value) VALUES (?, ?)", SCHEMA, steps.length);
    this.#shards = state.get(SHARDS) ?? 1;
    this.#isReady = true;
  }
}

// The rows of `index_state`.
/** The number of steps of the schema that were carried out. */
const SCHEMA = "schema";
/** The number of shards of the owner, in shard 0. */
const SHARDS = "shards";
/** Before the name of an agent: 1 if the directory has this shard for it. */
const AGENT = "agent ";

/** `times` shows a removal from the directory that the shard was entered again meanwhile. */
const ENTER = "INSERT INTO index_shards (agent, owner, shard, times) VALUES (?1, ?2, ?3, 1) ON CONFLICT (agent, owner, shard) DO UPDATE SET times = times + 1";
