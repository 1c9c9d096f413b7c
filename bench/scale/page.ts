// docs/scale.md: the limits and the bill of a deployment, computed from costs.json.

import { wrapped } from "../../scripts/lib/wrap.mjs";
import { digits } from "../figures.ts";
import type { Table } from "../gate/table.ts";
import { tableOf } from "../markdown.ts";
import { billed, CPU_MS, deletion, kinds, RETENTION_DAYS, ROWS, ROWS_OF_INDEX_DELETION, STORED_BYTES, type Kind } from "./kinds.ts";
import { limitPages, limits, OBJECT_GB, prices, READ, storagePrices, type Billed } from "./prices.ts";
import { ceiling, DAY_S, HEAVY, heavyOwner, JOB_S, loads, retentionAt, STATEMENT_MS, used } from "./rates.ts";

const RATES = [1, 100, 10_000];

const perSecond = (rate: number): string => `${rate.toLocaleString("en-US")} ${rate === 1 ? "task" : "tasks"}/s`;

/** The page, from the costs of operations. */
export function scalePage(table: Table): string {
  const parts = [
    "# Scale",
    "Computed from [bench/costs.json](../bench/costs.json), which `npm test` checks; written by `npm run costs`; do not edit. " +
      `Prices and limits are those that Cloudflare publishes, read in ${READ}. What is assumed is said. Nothing here was measured on Cloudflare.`,
    "## What limits a deployment",
    "A deployment is one Worker with its objects, one D1 database and its queues. Below, each task is a blocking send of 4 events and " +
      `one GetTask. D1 is assumed to be busy for ${STATEMENT_MS} ms with a statement, and a consumer of the queue for ${JOB_S} s with its jobs. ` +
      "**Bold** is over the limit.",
    limitTable(table),
    breaking(table),
    "What to do when a limit is reached:",
    thens(table),
    `These limits do not depend on the number of tasks: an object takes about ${limits.objectRequestsPerSecond.toLocaleString("en-US")} requests a second, and as each ` +
      "task has an object of its own, only the streams and calls of that task count; a request to the Worker or to an object makes at most " +
      `${limits.subrequests.toLocaleString("en-US")} requests of its own (a page of ListTasks with artifacts asks as many objects as it has tasks, at most 100); ` +
      `an isolate has ${limits.isolateBytes / 1e6} MB, which request bodies, tasks in memory and streams share (bodies take 20 MiB at most; ` +
      "[benchmarks](benchmarks.md#memory) has what each takes), and Cloudflare starts more isolates as the load grows; the cron trigger runs " +
      "once an hour, for 15 minutes at most. The number of objects is not limited.",
    `Limits: ${pages(limitPages)}.`,
    "## The index in objects",
    `With \`INDEX = "objects"\` neither of the limits of D1 is there: the rows of a caller are in objects of their own, one to begin with, and twice as many ` +
      "whenever the first one takes more than 200 writes a second or has more than 4 GiB for each ([settings](settings.md)). The heaviest caller counts then. " +
      `Below, one caller has ${HEAVY * 100} % of all tasks, which are kept for ${RETENTION_DAYS} days; an open agent is such a caller, since all who ask it are one. ` +
      "**Bold** is over what an object can do: give the agent access rules, so that its callers are told apart, or keep its tasks for a shorter time.",
    heavyTable(table),
    "A page of a caller asks all of their objects, at the same time: with one object, that is one request in place of a statement of D1. A list of operators, an " +
      "overview and the clean-up ask the directory, and then each object that has rows of the agent; up to 100,000 of them can be asked for a list. The directory is one " +
      "object; it is written to once for each caller and agent. A row costs the same in either place.",
    "Tried with 1,000,000 tasks over 5,000 callers in local files: a page of 50 of a caller takes 2.0 ms (3.3 ms with no other task), one of operators over all callers " +
      "1.4 s, an overview 4.2 s; the total and five pages in a row are exact. More callers do not fit on one machine: each object is three open files.",
    "## Counting and searching",
    "What the [console](console.md#waiting-for-you) counts and finds, in rows that D1 reads (US$ 0.001 for a million), as measured in local files. Each is one statement for " +
      "each agent; in objects, a request to the objects of the caller.",
    SEARCHES,
    "A console that is open and seen for eight hours counts 960 times: with five agents that is 4,800 requests, which cost US$ 0.0015 with the rows that they read for a " +
      "caller. A search takes D1 17 to 70 ms. For operators, it reads of each caller up to 10,000 places to find the newest tasks of all; in objects, each of the objects " +
      "searches its own newest 10,000.",
    "## What a million tasks cost",
    `US$, beyond what the plan includes every month and its US$ 5. A task is counted with its deletion after ${RETENTION_DAYS} days. An object is ` +
      `billed for the time in which it is active, as ${OBJECT_GB} GB: ${activeTimes()}. An object that waits for a message, or whose task has ended, ` +
      `is not billed. A request takes ${CPU_MS} ms of the Worker's CPU. Each run of the queue's consumer is counted as a request.`,
    priceTable(table),
    "Each row of the quick task, with its price for a million tasks and what it is for:",
    rowTable(table),
    storage(),
    "What each kind uses of that, for one task:",
    usageTable(table),
    "Prices:",
    published(),
  ];
  return wrapped(`${parts.join("\n\n")}\n`);
}

function limitTable(table: Table): string {
  const rows = loads(table).map((load) => {
    const most = ceiling(load);
    return [
      `${load.what} (${load.unit})`,
      ...RATES.map((rate) => used(load, rate)),
      load.limit === undefined ? "none" : digits(load.limit),
      most === Infinity ? "" : digits(Math.floor(most * 10) / 10),
    ];
  });
  rows.push(["how long tasks can be kept in 10 GB of D1", ...RATES.map(retentionAt), "", ""]);
  return tableOf(["", ...RATES.map((rate) => perSecond(rate)), "limit", "reached at tasks/s"], rows);
}

function heavyTable(table: Table): string {
  const rates = [...RATES.slice(0, -1), 1_000, RATES[RATES.length - 1] ?? 0];
  const found = rates.map((rate) => heavyOwner(table, rate));
  const bounded = (value: number, limit: number) => (value > limit ? `**${digits(value)}**` : digits(value));
  return tableOf(["", ...rates.map((rate) => perSecond(rate))], [
    ["objects of the heaviest caller", ...found.map(({ shards }) => String(shards))],
    ["writes to each (per second)", ...found.map(({ perSecond }) => bounded(perSecond, limits.objectRequestsPerSecond))],
    ["size of each (GB)", ...found.map(({ gigabytes }) => bounded(gigabytes, limits.objectBytes / 1e9))],
  ]);
}

/** The limits in the order in which they are reached, each with its rate. */
function breaking(table: Table): string {
  const reached = loads(table)
    .filter((load) => ceiling(load) !== Infinity)
    .sort((one, other) => ceiling(one) - ceiling(other))
    .map((load) => `${load.what} at ${digits(ceiling(load))} tasks a second`);
  return `What breaks first, in this order: ${reached.join("; ")}.`;
}

function thens(table: Table): string {
  return loads(table).filter(({ then }) => then !== "").map(({ what, then }) => `- ${what}: ${then}.`).join("\n");
}

const priced = (bill: Record<Billed, number>, item: Billed): number => bill[item] * prices[item].perMillion;

/** The price of a million tasks of a kind with their deletion, in US$. */
export function priceOf(kind: Kind, table: Table): number {
  const bill = billed(kind, table);
  return (Object.keys(prices) as Billed[]).reduce((total, item) => total + priced(bill, item), 0);
}

function priceTable(table: Table): string {
  const bills = kinds.map((kind) => billed(kind, table));
  const items = Object.keys(prices) as Billed[];
  const rows = items.map((item) => [prices[item].unit, ...bills.map((bill) => dollars(priced(bill, item)))]);
  const totals = kinds.map((kind) => priceOf(kind, table));
  rows.push(["**a million tasks**", ...totals.map((total) => `**${dollars(total)}**`)]);
  for (const rate of RATES) {
    rows.push([`a month of ${perSecond(rate)}`, ...totals.map((total) => dollars((total * rate * 30 * DAY_S) / 1e6))]);
  }
  return tableOf(["item", ...kinds.map(({ title }) => title)], rows);
}

/** The rows of a quick task; fails if they are not those that were counted. */
function rowTable(table: Table): string {
  const [quick] = kinds;
  if (quick === undefined) throw new Error("there is no kind of task");
  const bill = billed(quick, table);
  for (const unit of ["objectRows", "d1RowsWritten"] as const) {
    const named = ROWS.filter((row) => row.unit === unit).reduce((sum, { number }) => sum + number, 0);
    if (Math.abs(named - bill[unit]) > 0.001) throw new Error(`bench/scale/kinds.ts names ${named} ${unit} of a quick task, which writes ${bill[unit]}`);
  }
  const deleted = deletion(table).rowsWritten;
  if (Math.abs(deleted - ROWS_OF_INDEX_DELETION) > 0.1) throw new Error(`bench/scale/kinds.ts names ${ROWS_OF_INDEX_DELETION} row for a deletion, which writes ${deleted}`);
  const rows = ROWS.map(({ number, unit, row, buys }) => [row, digits(number), dollars(number * prices[unit].perMillion), buys]);
  return tableOf(["row", "rows", "US$", "what it is for"], rows);
}

function usageTable(table: Table): string {
  const bills = kinds.map((kind) => billed(kind, table));
  const rows = (Object.keys(prices) as Billed[]).map((item) => [prices[item].unit, ...bills.map((bill) => digits(bill[item]))]);
  return tableOf(["item", ...kinds.map(({ title }) => title)], rows);
}

function storage(): string {
  const month = (bytes: number, price: number): string => dollars(((bytes * 1e6) / 1e9) * price * (RETENTION_DAYS / 30));
  const { object, d1 } = STORED_BYTES;
  return (
    `Storage comes on top: an object of a small task takes ${(object / 1000).toFixed(1)} KB and its row in D1 ${(d1 / 1000).toFixed(2)} KB, ` +
    `which for a million tasks that are kept for ${RETENTION_DAYS} days is ${month(object, storagePrices.objects)} and ${month(d1, storagePrices.d1)}. ` +
    "Both sizes were measured in local files.\n\n" +
    'With `trace = "full"` in an agent\'s file what steps were given is kept ([timelines](timeline.md#what-is-kept-of-steps)), in rows that are written anyway: ' +
    `no row more, and each ${TRACED_BYTES / 1000} KB of it cost ${month(TRACED_BYTES, storagePrices.objects)} for a million tasks in these ${RETENTION_DAYS} days. ` +
    "A task keeps at most a tenth of `MAX_TASK_BYTES` of it."
  );
}

/** The number of bytes of step inputs in a task for which the page states a price. */
const TRACED_BYTES = 10_000;

function published(): string {
  const rows = Object.values(prices).map(({ unit, perMillion, included, page }) => [unit, dollars(perMillion), included, `[${page.split("/")[3]}](${page})`]);
  return tableOf(["unit", "US$ for a million", "included every month", "page"], rows);
}

function activeTimes(): string {
  const times = kinds.map(({ short, activeSeconds }) => `${activeSeconds} s for ${short}`);
  return `${times.slice(0, -1).join(", ")} and ${times.at(-1)}, a second for each step`;
}

function pages(links: Record<string, string>): string {
  return Object.entries(links).map(([name, link]) => `[${name}](${link})`).join(", ");
}

function dollars(value: number): string {
  return value >= 100 ? `$${Math.round(value).toLocaleString("en-US")}` : `$${value.toFixed(value < 1 ? 3 : 2)}`;
}

/** What counting and searching read, measured once with the statements of this version. */
const SEARCHES = `| request to an agent | rows | US$ for a million |
|---|---:|---:|
| the number of tasks that wait, of a caller for whom none waits | 2 | $0.002 |
| the same, where 20 of 1,000 tasks wait | 31 | $0.031 |
| the same of an operator, 1,000 callers with 20,000 tasks, of which 100 wait | 6,723 | $6.72 |
| a search of a caller in 10,000 tasks | 30,003, and 13 for each task that contains the text | $30 |
| the same for a text that JSON may escape: with quotes, slashes or letters outside of ASCII | 210,003 | $210 |
| a search of an operator in the newest 10,000 of 20,000 tasks of 1,000 callers | 126,008 | $126 |`;
