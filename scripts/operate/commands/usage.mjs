// `a2a-edge usage`: what callers have used, by the sums of the server (docs/usage.md).
import { EXIT, Failure } from "../failure.mjs";
import { COMMON, JSON_OPTION } from "../operate.mjs";
import { eachOf } from "../server.mjs";
import { Table } from "../table.mjs";
import { clean, jsonLine } from "../text.mjs";
import { list, number, record, text } from "../values.mjs";
import { sinceOf } from "../words.mjs";

/** What sums are made by, each with its key for a row of the server. */
const BY = { agent: () => "", owner: ({ owner }) => text(owner) ?? "", model: ({ model }) => text(model) ?? "", day: ({ day }) => day };

const COUNTS = { turns: "Turns", requests: "Requests", inputTokens: "Tokens in", outputTokens: "Tokens out", costMicros: "Cost" };

/** For how many days a server keeps sums. */
const KEPT_DAYS = 400;
const DAY_MS = 86_400_000;

export default {
  does: "Sums up what callers have used, by agent and owner.",
  about: `The server keeps a sum for each day (UTC), owner and agent, for ${KEPT_DAYS} days, also of tasks that were deleted since. --since counts
whole days, from the day of that instant on. For operators and, with --own, for the key's own caller.`,
  options: {
    ...COMMON,
    since: { type: "string", value: "TIME", does: "only days since: 30m, 2h, 7d, or a date" },
    owner: { type: "string", value: "OWNER", does: "for operators: only what this owner has used, such as key:billing" },
    by: { type: "string", value: "WHAT", does: `sums for each agent and: ${Object.keys(BY).join(", ")} (nothing else); owner unless given` },
    csv: { type: "boolean", does: "comma-separated values" },
    ...JSON_OPTION,
  },
  async run({ print, values, server: chosen, failed, exit, refuse }) {
    const by = values.by ?? "owner";
    if (!Object.hasOwn(BY, by)) throw new Failure(`Sums are by ${Object.keys(BY).join(", ")}, not by "${by}".`, EXIT.usage);
    if (values.csv && values.json) throw refuse("Either --csv or --json.");
    const first = values.since === undefined ? "" : dayOf(sinceOf(values.since));
    const server = await chosen();
    const agents = await server.chosenAgents(values.agent);
    const sums = new Map();
    const currencies = new Set();
    let read = 0;
    await eachOf(agents, async (agent) => {
      try {
        for await (const [row, currency] of rowsOf(server, agent, first, values.owner, print)) {
          print.progress("Adding up days", ++read);
          currencies.add(currency);
          for (const part of by === "model" ? partsOf(row) : [row]) add(sums, agent.slug, part, by);
        }
      } catch (error) {
        if (!(error instanceof Failure)) throw error;
        failed(error);
      }
    });
    print.clear();
    await show(
      print,
      values,
      by,
      currencies.size === 1 ? [...currencies][0] : "",
      [...sums.values()].sort((one, other) => (`${one.agent}\n${one.key}` < `${other.agent}\n${other.key}` ? -1 : 1)),
    );
    if (sums.size === 0 && exit() === 0 && !values.json) print.note("Nothing was used.");
    return exit();
  },
};

/** The day (UTC) of an instant. */
const dayOf = (ms) => new Date(ms).toISOString().slice(0, 10);

/** The rows of an agent from the day `first` on, newest day first, each with the currency of its cost; empty if the server tells none. */
async function* rowsOf(server, agent, first, owner, print) {
  // A day more: it may be tomorrow already at the server.
  const days = first === "" ? KEPT_DAYS : Math.ceil((Date.now() - Date.parse(first)) / DAY_MS) + 1;
  const query = { days: Math.min(Math.max(days, 1), KEPT_DAYS) };
  for (let before; ; ) {
    const answer = record(await server.json({ agent, path: `/${agent.slug}/usage`, query: { ...query, before }, headers: server.asOperator(agent, owner) }));
    if (!Array.isArray(answer.days)) throw new Failure(`${agent.slug} answered with something that is no usage. Is the server older than this command?`, EXIT.unreachable);
    for (const row of list(answer.days).map(record)) if ((text(row.day) ?? "") >= first) yield [row, text(answer.currency) ?? ""];
    if (answer.isAtLeast === true) print.note(`${agent.slug}: more callers have used it on a day than the server adds up; the sums are too low.`);
    const next = text(answer.before);
    if (next === undefined || (before !== undefined && next >= before)) return;
    before = next;
  }
}

/** The parts of a row by models, and what is of no model with a known name. */
function partsOf(row) {
  const models = list(row.models).map(record);
  const rest = Object.fromEntries(Object.keys(COUNTS).map((count) => [count, models.reduce((left, part) => Math.max(0, left - (number(part[count]) ?? 0)), number(row[count]) ?? 0)]));
  const hasRest = rest.requests + rest.inputTokens + rest.outputTokens + rest.costMicros > 0;
  return hasRest || models.length === 0 ? [...models, rest] : models;
}

function add(sums, agent, row, by) {
  const key = BY[by](row);
  const name = `${agent}\n${key}`;
  const sum = sums.get(name) ?? { agent, key, ...Object.fromEntries(Object.keys(COUNTS).map((count) => [count, 0])) };
  for (const count of Object.keys(COUNTS)) sum[count] += number(row[count]) ?? 0;
  sums.set(name, sum);
}

async function show(print, { csv, json }, by, currency, sums) {
  const named = by === "agent" ? [] : [by];
  const values = ({ agent, key, costMicros, ...counts }) => ({
    agent,
    ...(by === "agent" ? {} : { [by]: key }),
    ...counts,
    cost: costMicros / 1e6,
    ...(csv || currency !== "" ? { currency } : {}),
  });
  if (json) for (const sum of sums) await print.line(jsonLine(values(sum)));
  else if (csv) {
    await print.line(["agent", ...named, ...Object.keys(COUNTS).slice(0, -1), "cost", "currency"].join(","));
    for (const sum of sums) await print.line(Object.values(values(sum)).map(csvCell).join(","));
  } else {
    const title = { owner: "Owner", model: "Model", day: "Day" };
    const heads = Object.values({ ...COUNTS, ...(currency === "" ? {} : { costMicros: `Cost (${clean(currency)})` }) });
    const table = new Table(print, [
      { name: "Agent" },
      ...named.map((name) => ({ name: title[name] })),
      ...heads.map((name) => ({ name, isRight: true, isWhole: true })),
    ]);
    for (const sum of sums) {
      const { currency: _, ...cells } = values(sum);
      await table.row(Object.values(cells).map(String));
    }
    await table.flush();
  }
}

/** A cell of RFC 4180. A spreadsheet takes a text that begins so for a formula. */
function csvCell(value) {
  if (typeof value === "number") return String(value);
  const told = clean(value);
  const safe = /^[=+\-@]/.test(told) ? `'${told}` : told;
  return /[",]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
