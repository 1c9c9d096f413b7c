// The tables of the index, in D1 or in objects: runs a statement where its rows are. Rust makes the statements and merges the rows
// (src/edge/service/tables.rs). A statement is a JSON array of its SQL and its values.
import { DIRECTORY, shardName } from "./index-shard.js";

/** @typedef {import("./index-shard.js").Request} Request */
/** @typedef {import("./index-shard.js").Ran} Ran */

// Bindings: src/edge/bindings.rs lists all.
const DB = "DB";
const TASKS = "TASKS";

/** The place of the index that is in the database. */
export const D1 = "d1";

/** The largest number of objects that are asked at the same time. */
const AT_ONCE = 32;

/** The largest number of objects that are asked for one result. The platform allows 10,000 subrequests. */
const MOST_ASKED = 4_000;

const SHARDS = "SELECT DISTINCT owner, shard FROM index_shards WHERE ?1 IN ('', agent) ORDER BY owner, shard LIMIT ?2";

/**
 * Whose rows a statement is about. With `owner` and `shard` those of a shard, with `owner` those of all shards of the owner, with `isDirectory` the directory;
 * else those of all owners, with one agent if there is `agent`.
 *
 * @typedef {{ owner?: string, shard?: number, agent?: string, isDirectory?: boolean, limits?: [maxWrites: number, maxBytes: number] }} Whose
 */

/**
 * Selects rows, in groups by the databases that have them: one group in D1, one for each object.
 *
 * @param {any} env @param {string} kind "d1" or "objects" @param {string} whose {@link Whose} as JSON @param {string} statement
 * @returns {Promise<any[][]>}
 */
export async function selectRows(env, kind, whose, statement) {
  const [sql, ...values] = JSON.parse(statement);
  if (kind === D1) return [await inDatabase(env, sql, values)];
  const { owner, shard, agent, isDirectory } = /** @type {Whose} */ (JSON.parse(whose));
  /** @type {Request} */
  const request = [sql, values];
  const rowsOf = async (/** @type {string} */ name) => (await ask(env, name, request)).rows;
  if (isDirectory) return [await rowsOf(DIRECTORY)];
  if (owner === undefined) {
    const { rows } = await ask(env, DIRECTORY, [SHARDS, [agent ?? "", MOST_ASKED + 1]]);
    if (rows.length > MOST_ASKED) throw new Error(`more than ${MOST_ASKED} objects of the index would be asked`);
    return forEach(rows, ({ owner, shard }) => rowsOf(shardName(/** @type {string} */ (owner), /** @type {number} */ (shard))));
  }
  if (shard !== undefined) return [await rowsOf(shardName(owner, shard))];
  const { rows, shards } = await ask(env, shardName(owner, 0), request);
  const others = Array.from({ length: shards - 1 }, (_, nth) => shardName(owner, nth + 1));
  return [rows, ...await forEach(others, rowsOf)];
}

/**
 * Writes rows of a shard or of the directory. With `agent`, the directory has the shard first.
 *
 * @param {any} env @param {string} kinds where the index is, and behind a space where it is, too @param {string} whose {@link Whose} as JSON
 * @param {string} statement
 * @returns {Promise<Ran>} of the first place.
 */
export async function writeRows(env, kinds, whose, statement) {
  const [sql, ...values] = JSON.parse(statement);
  const { owner = "", shard = 0, agent, isDirectory, limits = [0, 0] } = /** @type {Whose} */ (JSON.parse(whose));
  const inObjects = () => ask(env, isDirectory ? DIRECTORY : shardName(owner, shard), [sql, values, agent === undefined ? [] : [agent, owner, shard, ...limits]]);
  const write = async (/** @type {string} */ kind) => (kind === D1 ? { rows: await inDatabase(env, sql, values), shards: 1 } : inObjects());
  const [first = D1, ...others] = kinds.split(" ");
  const ran = await write(first);
  for (const kind of others) await write(kind);
  return ran;
}

/**
 * The rows that a statement selects in the index of an owner; undefined if several objects have it.
 *
 * @param {any} env @param {string} owner the owner as JSON, or nothing for D1 @param {string} statement
 * @returns {Promise<any[] | undefined>}
 */
export async function rowsOfOwner(env, owner, statement) {
  const [sql, ...values] = JSON.parse(statement);
  if (owner === "") return inDatabase(env, sql, values);
  const { rows, shards } = await ask(env, shardName(JSON.parse(owner), 0), [sql, values]);
  return shards === 1 ? rows : undefined;
}

/** @param {any} env @param {string} sql @param {any[]} values @returns {Promise<any[]>} */
export async function inDatabase(env, sql, values) {
  return (await env[DB].prepare(sql).bind(...values).all()).results;
}

/** Asks an object of the index. @param {any} env @param {string} name @param {Request} request @returns {Promise<Ran>} */
export function ask(env, name, request) {
  const namespace = env[TASKS];
  return namespace.get(namespace.idFromName(name)).index(request);
}

/**
 * The results for all items, in their order, up to `AT_ONCE` at the same time.
 *
 * @template Item, Result @param {Item[]} items @param {(item: Item) => Promise<Result>} work @returns {Promise<Result[]>}
 */
async function forEach(items, work) {
  /** @type {Result[]} */
  const results = [];
  const waiting = items.entries();
  const worker = async () => {
    for (const [nth, item] of waiting) results[nth] = await work(item);
  };
  await Promise.all(Array.from({ length: Math.min(AT_ONCE, items.length) }, worker));
  return results;
}
