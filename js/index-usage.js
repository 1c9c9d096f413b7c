// Reads the usage of an agent by day and owner from the table `usage`, in D1 or in objects, for `GET /<agent>/usage` (docs/usage.md).
import { selectRows } from "./tables.js";

/** The largest number of rows that an answer for all owners is made of: those of all agents in the days of the answer. */
const MOST_ROWS = 10_000;

const DAY_MS = 86_400_000;

const COLUMNS = ["day", "owner", "agent", "turns", "requests", "input_tokens", "output_tokens", "cost_micros", "models"];

// The table is in the order of days, then owners, then agents: each day of an owner is found by one seek.
const OF_OWNER = `WITH RECURSIVE days (day) AS (SELECT ?4 WHERE ?4 >= ?3 UNION ALL SELECT date(day, '-1 day') FROM days WHERE day > ?3)
  SELECT ${COLUMNS.map((name) => `u.${name}`)} FROM days CROSS JOIN usage AS u ON u.day = days.day AND u.owner = ?1 AND u.agent = ?2`;
const OF_ALL = `SELECT ${COLUMNS} FROM usage WHERE day BETWEEN ?1 AND ?2 ORDER BY day DESC, owner DESC, agent DESC LIMIT ${MOST_ROWS + 1}`;

/**
 * The usage from one day to another, newest day first.
 *
 * @param {any} env @param {string} kind "d1" or "objects" @param {string} agent @param {string} owner empty for all owners @param {string} from @param {string} to
 * @param {string} terms the currency of costs, and the limits of callers by day for tokens and cost, each null if there is none, as a JSON array
 * @returns {Promise<string>} JSON of docs/usage.md
 */
export async function usageOf(env, kind, agent, owner, from, to, terms) {
  const answer = answerOf({ agent, ...termsOf(JSON.parse(terms)), from, to });
  const select = async (/** @type {object} */ whose, /** @type {string[]} */ ...statement) => (await selectRows(env, kind, JSON.stringify(whose), JSON.stringify(statement))).rows;
  // The sums of an owner are in its first shard.
  if (owner !== "") return answer(await select({ owner, shard: 0 }, OF_OWNER, owner, agent, from, to), false);

  const rows = (await select({ agent }, OF_ALL, from, to)).sort(newestFirst);
  if (rows.length <= MOST_ROWS) return answer(ofAgent(rows, agent), true);
  // The day at the bound is left to the next answer, unless it is the only one.
  const [newest, cut] = [rows[0].day, rows[MOST_ROWS].day];
  const isAtLeast = cut === newest;
  const whole = rows.slice(0, MOST_ROWS).filter(({ day }) => isAtLeast || day > cut);
  return answer(ofAgent(whole, agent), true, isAtLeast, isAtLeast ? cut : nextDay(cut));
}

/** @param {any[]} rows @param {string} agent */
const ofAgent = (rows, agent) => rows.filter((row) => row.agent === agent);

/** @param {any} one @param {any} other */
const newestFirst = (one, other) => (one.day > other.day ? -1 : one.day < other.day ? 1 : one.owner < other.owner ? -1 : 1);

/** @param {string} day */
const nextDay = (day) => new Date(Date.parse(day) + DAY_MS).toISOString().slice(0, 10);

/** The currency, and the limits in force with the time at which they count from zero. @param {[currency: string | null, tokens: number | null, cost: number | null]} terms */
function termsOf([currency, tokens, cost]) {
  const resetsAt = new Date((Math.floor(Date.now() / DAY_MS) + 1) * DAY_MS).toISOString();
  const limits = { resetsAt, ...(tokens === null ? {} : { tokensPerDay: tokens }), ...(cost === null ? {} : { costMicrosPerDay: cost }) };
  return { ...(currency === null ? {} : { currency }), ...(tokens === null && cost === null ? {} : { limits }) };
}

/** What answers with rows behind these members. @param {{ from: string }} first */
const answerOf = (first) => (/** @type {any[]} */ rows, /** @type {boolean} */ isOfAll, isAtLeast = false, /** @type {string | undefined} */ before = undefined) => {
  const days = rows.sort(newestFirst).map(({ day, owner, turns, requests, input_tokens, output_tokens, cost_micros, models }) =>
    ({ day, ...(isOfAll ? { owner } : {}), ...counts([requests, input_tokens, output_tokens, cost_micros, turns]), models: modelsOf(models) }));
  return JSON.stringify({ ...first, days, isAtLeast, ...(before === undefined || before <= first.from ? {} : { before }) });
};

/** The numbers in the order of `models`; the turns are missing of a single one. @param {number[]} numbers */
const counts = ([requests, inputTokens, outputTokens, costMicros, turns = 1]) => ({ turns, requests, inputTokens, outputTokens, costMicros });

/** The parts of a row by models, in the order of their names. @param {string} json */
const modelsOf = (json) => Object.entries(JSON.parse(json)).sort(([one], [other]) => (one < other ? -1 : 1)).map(([model, numbers]) => ({ model, ...counts(/** @type {number[]} */ (numbers)) }));
