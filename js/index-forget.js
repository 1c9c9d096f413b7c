// Deletes what the index has of an owner with an agent beyond its tasks, for `POST /<agent>/owner:forget` (docs/deleting.md): the use of models, webhooks in trouble
// whose task is gone, the entry of the totals, and the counters of tools. The tasks are deleted before, each by its object.
//
// A call deletes a bounded number of rows in every place of the index, and remembers nothing: the next one finds what is left.
import { ask, shardName } from "./index-shard.js";
import { D1, inDatabase } from "./tables.js";

/** The largest number of rows that one statement deletes. */
const MOST_ROWS = 1_000;

/** The days of which a table has rows, each found by one seek: both tables of usage are in the order of days. @param {string} table */
const daysOf = (table) => `WITH RECURSIVE days (day) AS (
  SELECT min(day) FROM ${table} UNION ALL SELECT (SELECT min(day) FROM ${table} WHERE day > days.day) FROM days WHERE day IS NOT NULL
)`;

// No index has the owner of a turn, so a statement reads the turns of one day.
const TURN_DAYS = `${daysOf("usage_turns")} SELECT day FROM days WHERE day IS NOT NULL`;
const TURNS = `DELETE FROM usage_turns WHERE (day, task, turn) IN (
  SELECT day, task, turn FROM usage_turns WHERE day = ?3 AND owner = ?1 AND agent = ?2 LIMIT ${MOST_ROWS}
) RETURNING turn`;
const SUMS = `${daysOf("usage")} DELETE FROM usage WHERE (day, owner, agent) IN (SELECT day, ?1, ?2 FROM days) RETURNING day`;
const WEBHOOKS = `DELETE FROM webhooks WHERE (task, id) IN (
  SELECT task, id FROM webhooks WHERE owner = ?1 AND agent = ?2
  AND task NOT IN (SELECT id FROM tasks WHERE owner = ?1 AND agent = ?2) LIMIT ${MOST_ROWS}
) RETURNING id`;
// A later task makes the entry anew.
const TOTAL = `DELETE FROM task_counts WHERE owner = ?1 AND agent = ?2
  AND NOT EXISTS (SELECT 1 FROM tasks WHERE owner = ?1 AND agent = ?2)`;
const TASK = "SELECT id FROM tasks WHERE owner = ?1 LIMIT 1";
const COUNTERS = "DELETE FROM counters WHERE owner = ?1 RETURNING name";

/**
 * Deletes the next rows of an owner with an agent. Counters belong to an owner with all agents: they are deleted if the owner has no task any more.
 *
 * @param {any} env @param {string} kinds where the index is, and behind a space where it is, too @param {string} agent @param {string} owner
 * @returns {Promise<string>} the numbers of rows that were deleted from the first place, as JSON; with `hasTasks`, whether the owner has tasks with any agent,
 *   and `done`, whether nothing is left.
 */
export async function forgetRows(env, kinds, agent, owner) {
  const gone = { usage: 0, usageTurns: 0, webhooks: 0, counters: 0, hasTasks: false, done: true };
  for (const [nth, kind] of kinds.split(" ").entries()) {
    for await (const run of shardsOf(env, kind, owner)) {
      const remove = async (/** @type {"usage" | "usageTurns" | "webhooks"} */ what, /** @type {string} */ sql, /** @type {string[]} */ more = []) => {
        const { length } = await run(sql, [owner, agent, ...more]);
        if (nth === 0) gone[what] += length;
        gone.done &&= length < MOST_ROWS;
      };
      for (const { day } of await run(TURN_DAYS, [])) await remove("usageTurns", TURNS, [day]);
      await remove("webhooks", WEBHOOKS);
      await remove("usage", SUMS);
      await run(TOTAL, [owner, agent]);
      if (nth === 0) gone.hasTasks ||= (await run(TASK, [owner])).length > 0;
    }
  }
  if (!gone.hasTasks) gone.counters = (await inDatabase(env, COUNTERS, [owner])).length;
  return JSON.stringify(gone);
}

/**
 * What runs a statement in each shard of an owner; in D1 there is one. A shard without tables is left without.
 *
 * @param {any} env @param {string} kind @param {string} owner
 * @returns {AsyncGenerator<(sql: string, values: string[]) => Promise<any[]>>}
 */
async function* shardsOf(env, kind, owner) {
  if (kind === D1) return yield (sql, values) => inDatabase(env, sql, values);
  for (let [shard, shards] = [0, 1]; shard < shards; shard++) {
    const name = shardName(owner, shard);
    const found = await ask(env, name, ["SELECT 1", []]);
    if (shard === 0) ({ shards } = found);
    if (found.rows.length > 0) yield async (sql, values) => (await ask(env, name, [sql, values, []])).rows;
  }
}
