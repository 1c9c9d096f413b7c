// Copies the rows of an agent from the place from which the index is read to the one to which it is written, too (INDEX_COPY), while tasks go on. A call copies a
// part, and notes in the directory how far it has come, so a copy goes on wherever it was interrupted. Rows only pass through.
//
// A row that the other place has already is left: each change since INDEX_COPY was set is written to both. A row that has moved or was deleted while it was
// copied is deleted there: its task writes the newer one to both.
import { DIRECTORY, ask, shardName } from "./index-shard.js";
import { D1, inDatabase } from "./tables.js";

/** @typedef {{ owner: string, shard: number }} Group The rows of an owner in a shard; in D1 the shard is 0. */
/** @typedef {{ owner: string, shard: number, status_ms: number, id: string, copied: number, done: number }} Cursor */
/** @typedef {(string | number)[]} Values */

/** A call ends when it has copied this many tasks, or has looked at this many groups. */
const MOST_TASKS = 2_000;
const MOST_GROUPS = 200;

/** The largest number of tasks that are copied together, and of characters in them: a value has up to 2 MB. */
const MOST_ROWS = 200;
const MOST_CHARS = 500_000;

/** The days of which all turns are known (src/edge/service/usage.rs); of earlier ones the sums are copied. */
const TURN_DAYS = 6;

const COLUMNS = ["owner", "agent", "status_ms", "id", "context_id", "state", "generation", "head", "history", "duration_ms", "bytes"];
const TURN_COLUMNS = ["day", "task", "turn", "owner", "agent", "requests", "input_tokens", "output_tokens", "cost_micros", "models"];
const SUM_COLUMNS = ["day", "owner", "agent", "turns", "requests", "input_tokens", "output_tokens", "cost_micros", "models"];
const WEBHOOK_COLUMNS = ["task", "id", "owner", "agent", "health", "given_up", "since_ms", "updated_ms", "version", "shown"];

/** Inserts the rows of a JSON array into a table. @param {string} table @param {string[]} columns @param {string} [where] */
const insert = (table, columns, where = "1") =>
  `INSERT INTO ${table} (${columns}) SELECT ${columns.map((name) => `value ->> '${name}'`)} FROM json_each(?1) WHERE ${where} ON CONFLICT DO NOTHING`;

// A newer row of the same task is found in the tasks of its context, as in an upsert (src/edge/service/index/statements.rs).
const INSERT_TASKS = insert("tasks", COLUMNS, `NOT EXISTS (
  SELECT 1 FROM tasks AS t INDEXED BY tasks_by_context WHERE t.owner = value ->> 'owner' AND t.agent = value ->> 'agent'
  AND t.context_id = value ->> 'context_id' AND t.status_ms >= value ->> 'status_ms' AND t.id = value ->> 'id'
)`);
const DELETE_TASKS = `DELETE FROM tasks WHERE (owner, agent, status_ms, id) IN
  (SELECT value ->> 'owner', value ->> 'agent', value ->> 'status_ms', value ->> 'id' FROM json_each(?1))`;
const NEXT_TASKS = `SELECT ${COLUMNS} FROM tasks WHERE owner = ?1 AND agent = ?2 AND (status_ms, id) > (?3, ?4) ORDER BY status_ms, id LIMIT ?5`;
const STILL_THERE = "SELECT id FROM tasks WHERE owner = ?1 AND agent = ?2 AND (status_ms, id) IN (SELECT value ->> 'status_ms', value ->> 'id' FROM json_each(?3))";
const WEBHOOKS = `SELECT ${WEBHOOK_COLUMNS} FROM webhooks WHERE owner = ?1 AND agent = ?2`;
// The table of sums is in the order of days.
const SUMS = `WITH RECURSIVE days (day) AS (SELECT date('now') UNION ALL SELECT date(day, '-1 day') FROM days WHERE day > date('now', '-401 days'))
  SELECT ${SUM_COLUMNS.map((name) => `u.${name}`)} FROM days CROSS JOIN usage AS u ON u.day = days.day AND u.owner = ?1 AND u.agent = ?2`;
const TURNS = `SELECT ${TURN_COLUMNS} FROM usage_turns WHERE day = ?3 AND owner = ?1 AND agent = ?2`;

const OWNERS = "SELECT owner, 0 AS shard FROM task_counts WHERE agent = ?1 AND owner >= ?2 ORDER BY owner LIMIT ?4";
const ENTRIES = "SELECT owner, shard FROM index_shards WHERE agent = ?1 AND (owner, shard) >= (?2, ?3) ORDER BY owner, shard LIMIT ?4";
const CURSOR = "SELECT owner, shard, status_ms, id, copied, done FROM index_copies WHERE agent = ?1 AND source = ?2";
const NOTE = "INSERT OR REPLACE INTO index_copies (agent, source, owner, shard, status_ms, id, copied, done) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)";
const FORGET = "DELETE FROM index_copies WHERE agent = ?1 AND source = ?2";

/**
 * Copies the next rows of an agent.
 *
 * @param {any} env @param {string} source the place from which the index is read @param {string} agent
 * @param {boolean} isAnew true to begin at the first row
 * @returns {Promise<{ copied: number, done: boolean }>} the number of tasks since the copy has begun, and whether it is complete.
 */
export async function copyRows(env, source, agent, isAnew) {
  const from = placeOf(env, source);
  const to = placeOf(env, source === D1 ? "objects" : D1);
  const directory = async (/** @type {string} */ sql, /** @type {Values} */ values) => (await ask(env, DIRECTORY, [sql, values, []])).rows;
  if (isAnew) await directory(FORGET, [agent, source]);
  const [known] = await directory(CURSOR, [agent, source]);
  const cursor = /** @type {Cursor} */ (known ?? { owner: "", shard: 0, status_ms: 0, id: "", copied: 0, done: 0 });
  if (cursor.done === 1) return { copied: cursor.copied, done: true };
  const most = cursor.copied + MOST_TASKS;
  const note = () => directory(NOTE, [agent, source, cursor.owner, cursor.shard, cursor.status_ms, cursor.id, cursor.copied, cursor.done]);

  const groups = await from.groups(agent, cursor, MOST_GROUPS);
  for (const group of groups) {
    const isNext = group.owner !== cursor.owner || group.shard !== cursor.shard;
    if (isNext) Object.assign(cursor, group, { status_ms: 0, id: "" });
    if (!(await copyTasks(from, to, agent, group, cursor, most, note))) return { copied: cursor.copied, done: false };
    await copyOthers(from, to, agent, group);
  }
  const isDone = groups.length < MOST_GROUPS;
  cursor.done = Number(isDone);
  // A copy that is complete keeps no name of an owner.
  if (isDone) Object.assign(cursor, { owner: "", shard: 0, status_ms: 0, id: "" });
  await note();
  return { copied: cursor.copied, done: isDone };
}

/**
 * Copies the tasks of a group behind the cursor. Returns false if there are more than the call may copy.
 *
 * @param {Place} from @param {Place} to @param {string} agent @param {Group} group @param {Cursor} cursor @param {number} most
 * @param {() => Promise<unknown>} note
 */
async function copyTasks(from, to, agent, group, cursor, most, note) {
  for (;;) {
    const rows = fitting(await from.run(group, agent, NEXT_TASKS, [group.owner, agent, cursor.status_ms, cursor.id, MOST_ROWS]));
    if (rows.length === 0) return true;
    const text = JSON.stringify(rows);
    await to.run(group, agent, INSERT_TASKS, [text]);
    const there = new Set((await from.run(group, agent, STILL_THERE, [group.owner, agent, text])).map(({ id }) => id));
    const gone = rows.filter(({ id }) => !there.has(id));
    if (gone.length > 0) await to.run(group, agent, DELETE_TASKS, [JSON.stringify(gone)]);
    const { status_ms, id } = rows[rows.length - 1];
    Object.assign(cursor, { status_ms, id, copied: cursor.copied + rows.length });
    await note();
    if (cursor.copied >= most) return false;
  }
}

/** The first rows, as many as may be copied together, at least one. @param {any[]} rows */
function fitting(rows) {
  let chars = 0;
  const end = rows.findIndex(({ head, history }, nth) => (chars += head.length + history.length) > MOST_CHARS && nth > 0);
  return end === -1 ? rows : rows.slice(0, end);
}

/** Copies the webhooks in trouble of a group, and its use of models. @param {Place} from @param {Place} to @param {string} agent @param {Group} group */
async function copyOthers(from, to, agent, group) {
  const copy = async (/** @type {string} */ table, /** @type {string[]} */ columns, /** @type {any[]} */ rows) => {
    if (rows.length > 0) await to.run(group, agent, insert(table, columns), [JSON.stringify(rows)]);
  };
  const of = [group.owner, agent];
  await copy("webhooks", WEBHOOK_COLUMNS, await from.run(group, agent, WEBHOOKS, of));
  if (group.shard !== 0) return;
  const firstDay = new Date(Date.now() - TURN_DAYS * 86_400_000).toISOString().slice(0, 10);
  const sums = await from.run(group, agent, SUMS, of);
  await copy("usage", SUM_COLUMNS, sums.filter(({ day }) => day < firstDay));
  // A trigger adds each turn to its sum, so turns that are written to both meanwhile count once.
  for (const { day } of sums.filter(({ day }) => day >= firstDay)) await copy("usage_turns", TURN_COLUMNS, await from.run(group, agent, TURNS, [...of, day]));
}

/**
 * @typedef {object} Place A place of the index.
 * @property {(agent: string, from: Group, most: number) => Promise<Group[]>} groups those of an agent from one on, in order
 * @property {(group: Group, agent: string, sql: string, values: Values) => Promise<any[]>} run runs a statement on the rows of a group
 */

/** @param {any} env @param {string} kind @returns {Place} */
function placeOf(env, kind) {
  if (kind === D1) {
    return {
      groups: (agent, { owner, shard }, most) => inDatabase(env, OWNERS, [agent, owner, shard, most]),
      run: (_group, _agent, sql, values) => inDatabase(env, sql, values),
    };
  }
  return {
    groups: async (agent, { owner, shard }, most) => /** @type {any[]} */ ((await ask(env, DIRECTORY, [ENTRIES, [agent, owner, shard, most]])).rows),
    run: async ({ owner, shard }, agent, sql, values) => {
      const isWrite = !sql.startsWith("SELECT") && !sql.startsWith("WITH");
      // Limits that are never reached: a copy makes no shards.
      return (await ask(env, shardName(owner, shard), isWrite ? [sql, values, [agent, owner, shard, Infinity, Infinity]] : [sql, values])).rows;
    },
  };
}
