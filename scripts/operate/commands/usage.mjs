// `a2a-edge usage`: what the tasks that are listed have used of models.
import { EXIT, Failure } from "../failure.mjs";
import { Listing } from "../listing.mjs";
import { COMMON, JSON_OPTION } from "../operate.mjs";
import { Table } from "../table.mjs";
import { clean, jsonLine } from "../text.mjs";
import { dayWord } from "../words.mjs";
import { FILTERS, filtersOf } from "./tasks.mjs";
import { number, record } from "../values.mjs";

/** What sums are made by, each with its key for a task. */
const BY = { agent: () => "", owner: ({ owner }) => owner ?? "", day: ({ at }) => dayWord(at) };

const COUNTS = { requests: "Requests", inputTokens: "Tokens in", outputTokens: "Tokens out", cost: "Cost" };

export default {
  does: "Sums up what tasks have used of models, by agent and owner.",
  about: `The sums are made here from the tasks that the server lists, so they read all of them: --since bounds that. Tasks that have been
deleted are in no sum, and a task counts as a whole by the time of its last change. For operators and, with --own, for the key's
own caller.`,
  options: {
    ...COMMON,
    ...FILTERS,
    by: { type: "string", value: "WHAT", does: `sums for each agent and: ${Object.keys(BY).join(", ")} (nothing else); owner unless given` },
    csv: { type: "boolean", does: "comma-separated values" },
    ...JSON_OPTION,
  },
  async run({ print, values, server: chosen, failed, exit, refuse }) {
    const by = values.by ?? "owner";
    if (!Object.hasOwn(BY, by)) throw new Failure(`Sums are by ${Object.keys(BY).join(", ")}, not by "${by}".`, EXIT.usage);
    if (values.csv && values.json) throw refuse("Either --csv or --json.");
    const server = await chosen();
    const listing = new Listing(server, await server.chosenAgents(values.agent), filtersOf(values), { onFailed: failed });
    const sums = new Map();
    let read = 0;
    for await (const task of listing) {
      print.progress("Adding up tasks", ++read, listing.total);
      add(sums, task, by);
    }
    print.clear();
    await show(
      print,
      values,
      by,
      [...sums.values()].sort((one, other) => (`${one.agent}\n${one.key}` < `${other.agent}\n${other.key}` ? -1 : 1)),
    );
    if (sums.size === 0 && exit() === 0 && !values.json) print.note("No task has used a model.");
    return exit();
  },
};

function add(sums, task, by) {
  if (task.usage === undefined) return;
  const key = BY[by](task);
  const name = `${task.agent}\n${key}`;
  const sum = sums.get(name) ?? { agent: task.agent, key, tasks: 0, requests: 0, inputTokens: 0, outputTokens: 0, cost: 0 };
  sum.tasks += 1;
  for (const count of Object.keys(COUNTS)) sum[count] += number(record(task.usage)[count]) ?? 0;
  sums.set(name, sum);
}

async function show(print, { csv, json }, by, sums) {
  const named = by === "agent" ? [] : [by];
  // Sums of decimal fractions have an error behind the digits that costs have.
  const values = ({ agent, key, tasks, cost, ...counts }) => ({
    agent,
    ...(by === "agent" ? {} : { [by]: key }),
    tasks,
    ...counts,
    cost: Number(cost.toFixed(6)),
  });
  if (json) for (const sum of sums) await print.line(jsonLine(values(sum)));
  else if (csv) {
    await print.line(["agent", ...named, "tasks", ...Object.keys(COUNTS)].join(","));
    for (const sum of sums) await print.line(Object.values(values(sum)).map(csvCell).join(","));
  } else {
    const title = { owner: "Owner", day: "Day" };
    const table = new Table(print, [
      { name: "Agent" },
      ...named.map((name) => ({ name: title[name] })),
      ...["Tasks", ...Object.values(COUNTS)].map((name) => ({ name, isRight: true, isWhole: true })),
    ]);
    for (const sum of sums) await table.row(Object.values(values(sum)).map(String));
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
