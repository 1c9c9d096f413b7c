// The tables of the index, in D1 or in objects: runs a statement where its rows are. Rust makes the statements and merges the rows
// (src/edge/service/tables.rs). A statement is a JSON array of its SQL and its values.
import { DIRECTORY, ask, askShards, relayName, shardName } from "./index-shard.js";

/** @typedef {import("./index-shard.js").Request} Request */
/** @typedef {import("./index-shard.js").Ran} Ran */
/** @typedef {import("./index-shard.js").ShardOf} ShardOf */

/** The binding of the database. src/edge/bindings.rs lists all bindings. */
const DB = "DB";

/** The place of the index that is in the database. */
export const D1 = "d1";

/** From so many shards on, others ask them: a request or an object makes 10,000 requests at most. */
const MOST_ASKED = 1_000;

/** The largest number of shards that are asked for one result. */
const MOST_SHARDS = 100_000;

const SHARDS = "SELECT DISTINCT owner, shard FROM index_shards WHERE ?1 IN ('', agent) ORDER BY owner, shard LIMIT ?2";

/**
 * Whose rows a statement is about. With `owner` and `shard` those of a shard, with `owner` those of all shards of the owner, with `shards` those of these
 * shards, with `isDirectory` the directory; else those of all owners, with one agent if there is `agent`.
 *
 * @typedef {{ owner?: string, shard?: number, agent?: string | null, shards?: ShardOf[], isDirectory?: boolean, limits?: [maxWrites: number, maxBytes: number] }} Whose
 */

/**
 * Selects rows. In objects, those of several shards come one after the other, in no order, and each has the number of its `shard`.
 *
 * @param {any} env @param {string} kind "d1" or "objects" @param {string} whose {@link Whose} as JSON @param {string} statement
 * @returns {Promise<{ rows: any[], shards: number }>} with the number of shards of the owner, if it is one
 */
export async function selectRows(env, kind, whose, statement) {
  const [sql, ...values] = JSON.parse(statement);
  const all = async (/** @type {Promise<any[]>} */ rows) => ({ rows: await rows, shards: 1 });
  if (kind === D1) return all(inDatabase(env, sql, values));
  const { owner, shard, shards, agent, isDirectory } = /** @type {Whose} */ (JSON.parse(whose));
  /** @type {Request} */
  const request = [sql, values];
  if (isDirectory) return ask(env, DIRECTORY, request);
  if (shards !== undefined) return all(askShards(env, shards, sql, values));
  if (owner === undefined) return all(ofAll(env, agent ?? "", request));
  const first = await ask(env, shardName(owner, shard ?? 0), request);
  if (shard !== undefined || first.shards === 1) return first;
  const others = Array.from({ length: first.shards - 1 }, (_, nth) => /** @type {ShardOf} */ ([owner, nth + 1]));
  const rows = first.rows.map((row) => ({ ...row, shard: 0 }));
  return { rows: [...rows, ...await askShards(env, others, sql, values)], shards: first.shards };
}

/**
 * The rows of all shards that the directory has, for an agent or for all.
 *
 * @param {any} env @param {string} agent @param {Request} request
 * @returns {Promise<any[]>}
 */
async function ofAll(env, agent, [sql, values]) {
  const { rows } = await ask(env, DIRECTORY, [SHARDS, [agent, MOST_SHARDS + 1]]);
  if (rows.length > MOST_SHARDS) throw new Error(`more than ${MOST_SHARDS} objects of the index would be asked`);
  const shards = rows.map(({ owner, shard }) => /** @type {ShardOf} */ ([owner, shard]));
  if (shards.length <= MOST_ASKED) return askShards(env, shards, sql, values);
  const parts = [];
  for (let from = 0; from < shards.length; from += MOST_ASKED) {
    parts.push(ask(env, relayName(parts.length), [sql, values, [], shards.slice(from, from + MOST_ASKED)]));
  }
  return (await Promise.all(parts)).flatMap(({ rows }) => rows);
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
  const inObjects = () => ask(env, isDirectory ? DIRECTORY : shardName(owner, shard), [sql, values, typeof agent === "string" ? [agent, owner, shard, ...limits] : []]);
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
