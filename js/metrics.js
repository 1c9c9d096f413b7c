// The metrics of a deployment (docs/telemetry.md): what this isolate counts, until it adds it to the table `metrics`, and the text of `GET /metrics`. Tasks are
// not counted here: their numbers come from the rows of the index.
import { goOn } from "./background.js";
import { DIRECTORY, ask, shardName } from "./index-shard.js";
import { D1, selectRows, writeRows } from "./tables.js";

/** The binding of a dataset of Analytics Engine, if there is one. */
const ANALYTICS = "ANALYTICS";

/**
 * The metrics that isolates count: their labels beside `agent`, whether they measure durations, and what they say.
 *
 * @type {Record<string, [labels: string[], isTimed: boolean, help: string]>}
 */
const COUNTED = {
  requests: [["operation", "outcome"], true, "Requests of clients, by operation and outcome: ok, the code of an error over JSON-RPC, or a status."],
  runs: [["ending"], true, "Runs of agents, by how they ended."],
  model_requests: [["model", "outcome"], true, "Requests to models."],
  model_tokens: [["model", "direction"], false, "Tokens that models read (input) and wrote (output)."],
  tool_calls: [["tool", "outcome"], true, "Calls of tools, of this Worker and of MCP servers."],
  agent_calls: [["to", "outcome"], true, "Tasks given to other agents."],
  webhook_attempts: [["outcome"], true, "Attempts to send notifications, by outcome: ok, a status, or no_answer."],
  notifications_given_up: [[], false, "Notifications that were given up."],
  index_writes: [["outcome"], true, "Statements for the index of tasks."],
  errors: [["kind"], false, "Lines of the log that report an error, by kind."],
};

/** @typedef {{ number: number, total: number, under: number[] }} Sum */

/** What was counted and not added yet, by metric, agent and labels as JSON. @type {Map<string, Sum>} */
let counted = new Map();

/** @type {{ env: any, kind: string | undefined } | undefined} */
let deployment;

/** The instant of the last addition; before `addedBy` somebody is going to add what was counted. */
let addedAt = 0;
let addedBy = 0;

/**
 * Prepares this isolate, once.
 *
 * @param {any} env @param {string | undefined} kind where the table is: "d1" or "objects"; undefined if nothing is added to it
 * @returns {boolean} whether anything is to be counted
 */
export function beginMetrics(env, kind) {
  deployment = { env, kind };
  return kind !== undefined || env[ANALYTICS] !== undefined;
}

/**
 * Counts.
 *
 * @param {string} metric @param {string} agent @param {string} first @param {string} second the values of the labels, as many as the metric has
 * @param {number} value a duration in milliseconds; of a metric without durations the number to add
 */
export function count(metric, agent, first, second, value) {
  if (deployment === undefined) return;
  const { env, kind } = deployment;
  const [labels, isTimed] = COUNTED[metric] ?? [[], false];
  const values = [first, second].slice(0, labels.length);
  env[ANALYTICS]?.writeDataPoint({ indexes: [agent], blobs: [metric, agent, ...values], doubles: [isTimed ? 1 : value, isTimed ? value : 0] });
  if (kind === undefined) return;
  let key = JSON.stringify([metric, agent, values]);
  if (!counted.has(key) && counted.size >= MOST_SUMS) key = JSON.stringify([metric, agent, values.map(() => "other")]);
  let sum = counted.get(key);
  if (sum === undefined) {
    sum = { number: 0, total: 0, under: BOUNDS_MS.map(() => 0) };
    counted.set(key, sum);
  }
  sum.number += isTimed ? 1 : value;
  if (isTimed) {
    sum.total += value;
    BOUNDS_MS.forEach((bound, nth) => (sum.under[nth] += Number(value < bound)));
  }
  const now = Date.now();
  if (now < addedBy) return;
  const pause = Math.max(FIRST_PAUSE_MS, addedAt + PERIOD_MS - now);
  addedBy = now + pause + SLACK_MS;
  goOn(new Promise((resolve) => setTimeout(resolve, pause)).then(add));
}

/** Adds what was counted to the table. What cannot be added is kept for the next time. */
async function add() {
  if (deployment?.kind === undefined || counted.size === 0) return;
  const { env, kind } = deployment;
  const sums = counted;
  counted = new Map();
  addedAt = Date.now();
  const rows = [...sums].map(([key, { number, total, under }]) => {
    const [metric, agent, values] = JSON.parse(key);
    return [agent, metric, JSON.stringify(values), number, total, ...under];
  });
  try {
    await writeRows(env, kind, WHERE, JSON.stringify([ADD, JSON.stringify(rows)]));
  } catch (error) {
    console.error(`metrics cannot be added now: ${error instanceof Error ? error.message : String(error)}`);
    for (const [key, sum] of sums) {
      const newer = counted.get(key);
      if (newer === undefined) {
        if (counted.size < 2 * MOST_SUMS) counted.set(key, sum);
      } else {
        newer.number += sum.number;
        newer.total += sum.total;
        sum.under.forEach((number, nth) => (newer.under[nth] = (newer.under[nth] ?? 0) + number));
      }
    }
  }
}

/**
 * The metrics of these agents in the text format of Prometheus.
 *
 * @param {any} env @param {string} kind where the index is @param {string} list the slugs of the agents, as JSON
 * @returns {Promise<string>}
 */
export async function metricsText(env, kind, list) {
  await add();
  const agents = new Set(JSON.parse(list));
  const select = async (/** @type {string} */ whose, /** @type {string} */ sql) => (await selectRows(env, kind, whose, JSON.stringify([sql]))).rows;
  const [tasks, own] = await Promise.all([tasksOf(kind, select), select(WHERE, "SELECT * FROM metrics")]);
  const text = new Text();
  const of = (/** @type {any[]} */ rows) => rows.filter(({ agent }) => agents.has(agent));
  const bounds = Object.keys(tasks.ended[0] ?? {}).filter((name) => name.startsWith(UNDER)).map((name) => Number(name.slice(UNDER.length)));
  text.begin("a2a_task_duration_seconds", "histogram", "Tasks that have ended, by state, and how long they took. Exact.");
  for (const row of of(tasks.ended)) text.histogram("a2a_task_duration_seconds", { agent: row.agent, state: STATES[row.state] ?? "other" }, row, bounds, row.total_ms);
  text.begin("a2a_tasks_with_failed_steps_total", "counter", "Tasks that have ended and had steps that failed, by state. Exact.");
  for (const row of of(tasks.ended)) text.line("a2a_tasks_with_failed_steps_total", { agent: row.agent, state: STATES[row.state] ?? "other" }, row.with_failed_steps ?? 0);
  text.begin("a2a_tasks_unfinished", "gauge", "Tasks that are not finished, by state, of at most 10,000 of all agents.");
  for (const row of of(tasks.unfinished)) text.line("a2a_tasks_unfinished", { agent: row.agent, state: STATES[row.state] ?? "other" }, row.number);
  text.begin("a2a_webhooks", "gauge", "Webhooks in trouble, and notifications that were given up and not sent again, of at most 10,000 webhooks.");
  for (const row of of(tasks.webhooks)) {
    for (const health of ["failing", "suspended", "dead_letters"]) text.line("a2a_webhooks", { agent: row.agent, health }, row[health]);
  }
  for (const [metric, [labels, isTimed, help]] of Object.entries(COUNTED)) {
    const rows = own.filter((/** @type {any} */ row) => row.metric === metric && (row.agent === "" || agents.has(row.agent)));
    const name = isTimed ? `a2a_${metric}_seconds` : `a2a_${metric}_total`;
    text.begin(name, isTimed ? "histogram" : "counter", help);
    for (const row of rows) {
      const values = JSON.parse(row.labels);
      const told = { agent: row.agent, ...Object.fromEntries(labels.map((label, nth) => [label, values[nth] ?? ""])) };
      if (isTimed) text.histogram(name, told, row, BOUNDS_MS, row.total);
      else text.line(name, told, row.number);
    }
  }
  return text.whole;
}

/** The text format of Prometheus. */
class Text {
  whole = "";

  /** @param {string} name @param {string} type @param {string} help */
  begin(name, type, help) {
    this.whole += `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n`;
  }

  /** @param {string} name @param {Record<string, string>} labels @param {number} value */
  line(name, labels, value) {
    const told = Object.entries(labels).map(([label, text]) => `${label}="${text.replace(/[\\"]/g, "\\$&").replaceAll("\n", "\\n")}"`);
    this.whole += `${name}{${told}} ${value}\n`;
  }

  /** @param {string} name @param {Record<string, string>} labels @param {any} row @param {number[]} bounds @param {number} totalMs */
  histogram(name, labels, row, bounds, totalMs) {
    for (const bound of bounds) this.line(`${name}_bucket`, { ...labels, le: String(bound / 1000) }, row[UNDER + bound]);
    this.line(`${name}_bucket`, { ...labels, le: "+Inf" }, row.number);
    this.line(`${name}_sum`, labels, totalMs / 1000);
    this.line(`${name}_count`, labels, row.number);
  }
}

/** The numbers of tasks that this isolate has read last, and until when they are shown. @type {{ until: number, tasks: Promise<Tasks> } | undefined} */
let known;

/** @typedef {{ ended: any[], unfinished: any[], webhooks: any[] }} Tasks */

/**
 * The numbers of tasks of all agents. With the index in objects all of them are asked, so they are not asked for each scrape.
 *
 * @param {string} kind @param {(whose: string, sql: string) => Promise<any[]>} select
 * @returns {Promise<Tasks>}
 */
async function tasksOf(kind, select) {
  if (known !== undefined && Date.now() < known.until) return known.tasks;
  const read = async () => {
    const all = (/** @type {string} */ sql) => select("{}", sql);
    // The directory has the hours of shards that it has left (`keepHours`).
    const kept = kind === D1 ? [] : select(WHERE, ENDED);
    const [ended, more, unfinished, webhooks] = await Promise.all([all(ENDED), kept, all(UNFINISHED), all(WEBHOOKS)]);
    return { ended: summed([...ended, ...more]), unfinished: summed(unfinished), webhooks: summed(webhooks) };
  };
  // Nobody waits for what another request reads, since the platform may end that.
  const tasks = await read();
  known = { until: Date.now() + (kind === D1 ? KNOWN_MS : KNOWN_OF_OBJECTS_MS), tasks: Promise.resolve(tasks) };
  return tasks;
}

/** The sums of rows of several objects, by agent and state. @param {any[]} rows */
function summed(rows) {
  /** @type {Map<string, any>} */
  const sums = new Map();
  for (const { shard: _, ...row } of rows) {
    const key = `${row.agent} ${row.state}`;
    const sum = sums.get(key);
    if (sum === undefined) sums.set(key, row);
    else for (const [name, value] of Object.entries(row)) if (name !== "agent" && name !== "state") sum[name] += value;
  }
  return [...sums.values()];
}

/**
 * Moves the hours of a shard that were deleted to the directory, which no longer has the shard for an agent.
 *
 * @param {any} env @param {string} agent @param {string} owner @param {number} shard
 */
export async function keepHours(env, agent, owner, shard) {
  const name = shardName(owner, shard);
  const { rows } = await ask(env, name, [KEPT, [agent]]);
  if (rows.length === 0) return;
  const columns = Object.keys(rows[0] ?? {});
  const added = columns.slice(3).map((column) => `${column} = ${column} + excluded.${column}`);
  const sql = `INSERT INTO task_hours (${columns}) SELECT ${columns.map((column) => `value ->> '${column}'`)} FROM json_each(?1) WHERE 1
    ON CONFLICT (agent, hour, state) DO UPDATE SET ${added}`;
  await ask(env, DIRECTORY, [sql, [JSON.stringify(rows)], []]);
  await ask(env, name, ["DELETE FROM task_hours WHERE agent = ?1 AND hour = 0", [agent], []]);
}

/** The states of tasks, by their numbers (crates/a2a/src/model/task.rs). @type {Record<number, string>} */
const STATES = { 1: "submitted", 2: "working", 3: "completed", 4: "failed", 5: "canceled", 6: "input_required", 7: "rejected", 8: "auth_required" };

/** The bounds of counted durations, in milliseconds. */
const BOUNDS_MS = [50, 250, 1000, 5000, 30000];

/** The columns for bounds begin with this. */
const UNDER = "under_";

/** The place of the table `metrics`. */
const WHERE = '{"isDirectory":true}';

const COLUMNS = ["agent", "metric", "labels", "number", "total", ...BOUNDS_MS.map((bound) => UNDER + bound)];
const ADD = `INSERT INTO metrics (${COLUMNS}) SELECT ${COLUMNS.map((_, nth) => `value ->> ${nth}`)} FROM json_each(?1) WHERE 1
  ON CONFLICT (agent, metric, labels) DO UPDATE SET ${COLUMNS.slice(3).map((name) => `${name} = ${name} + excluded.${name}`)}`;

const KEPT = "SELECT * FROM task_hours WHERE agent = ?1 AND hour = 0";
const ENDED = "SELECT * FROM task_hours";
const UNFINISHED = `SELECT agent, state, count(*) AS number FROM (
  SELECT agent, state FROM tasks INDEXED BY tasks_unfinished WHERE state NOT IN (3, 4, 5, 7) LIMIT 10000
) GROUP BY agent, state`;
const WEBHOOKS = `SELECT agent, sum(health = 1) AS failing, sum(health = 2) AS suspended, sum(given_up) AS dead_letters FROM (
  SELECT agent, health, given_up FROM webhooks LIMIT 10000
) GROUP BY agent`;

/** The largest number of sums that an isolate keeps. */
const MOST_SUMS = 500;

/** The time between two additions of an isolate, before its first one, and for which it waits for a request that was to add and was ended. */
const PERIOD_MS = 25_000;
const FIRST_PAUSE_MS = 1_000;
const SLACK_MS = 2_000;

/** For how long numbers of tasks are shown that were read before. */
const KNOWN_MS = 10_000;
const KNOWN_OF_OBJECTS_MS = 300_000;
