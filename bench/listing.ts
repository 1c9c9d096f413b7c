// The time and the CPU of a page of a listing and of a send, by the number of tasks and by where the index is.

import { Agent } from "../tests/e2e/client.ts";
import { grouped, median, milliseconds, times, type Effort, type Section } from "./figures.ts";
import { call, card, Connections, interleaved, send, type Slice } from "./http.ts";
import { computedMs } from "./processor.ts";
import { startBuilt, type Worker } from "./workers.ts";

/** The Workers: how many tasks their caller has, and where the index is. */
const KINDS = [
  { count: 100, index: "d1" },
  { count: 100_000, index: "d1" },
  { count: 100, index: "objects" },
  { count: 100_000, index: "objects" },
] as const;
type Kind = (typeof KINDS)[number];

const PAGE = 50;
const WARM_UP_MS = 300;

/** How many requests in a row the CPU is read for. */
const SENT = 100;

export async function listing({ rounds, sliceMs }: Effort): Promise<Section[]> {
  const workers: Worker[] = [];
  try {
    for (const kind of KINDS) workers.push(await withTasks(kind));
    using connection = new Connections(1);
    return [await pages(connection, workers, rounds, sliceMs), await processorTimes(connection, workers, rounds)];
  } finally {
    for (const worker of workers) await worker.stop();
  }
}

const nameOf = ({ count, index }: Kind): string => `${grouped(count)}, ${index === "d1" ? "in D1" : "in an object"}`;
const page = ({ url }: Worker, answer = '"totalSize":') => call(`${url}/demo`, "ListTasks", () => ({ pageSize: PAGE }), answer);

async function pages(connection: Connections, workers: Worker[], rounds: number, sliceMs: number): Promise<Section> {
  const baseline = card(workers[0]?.url ?? "");
  const exchanges = workers.map((worker, nth) => page(worker, `"totalSize":${KINDS[nth]?.count}`));
  for (const exchange of [baseline, ...exchanges]) await connection.repeat(exchange, WARM_UP_MS);
  const taken: Slice[][] = [];
  for (let round = 0; round < rounds; round++) taken.push(await interleaved(connection, baseline, exchanges, sliceMs));

  const row = (name: string, index: number): string[] => {
    const slices = taken.map((round) => [round[index], round[0]] as [Slice, Slice]);
    const over = (figure: (own: Slice, baseline: Slice) => number) => median(slices.map((pair) => figure(...pair)));
    return [
      name,
      milliseconds(over((own) => own.p50)),
      times(over((own, baseline) => own.p50 / baseline.p50), 1),
      milliseconds(over((own) => own.p99)),
      times(over((own, baseline) => own.p99 / baseline.p99), 1),
    ];
  };
  return {
    title: "Lists",
    text:
      `ListTasks without filters on one connection: the newest ${PAGE} tasks with their histories, and the total. Each row is a Worker of its own; they are ` +
      "asked in turn. Their rows are copies of that of one finished task. The index is in D1 or in an object (`INDEX`).",
    columns: ["tasks of the caller", "p50", "× card", "p99", "× card"],
    rows: [row("the card (baseline)", 0), ...KINDS.map((kind, index) => row(nameOf(kind), index + 1))],
  };
}

/** The CPU of workerd for pages and sends, of the Workers with the most tasks. */
async function processorTimes(connection: Connections, workers: Worker[], rounds: number): Promise<Section> {
  const large = KINDS.flatMap(({ count, index }, nth) => (count === 100_000 ? [{ index, worker: workers[nth] as Worker }] : []));
  const exchanges = { page: (worker: Worker) => page(worker), send: (worker: Worker) => send(`${worker.url}/demo`, () => "hello") };
  const rows: string[][] = [];
  for (const [what, exchange] of Object.entries(exchanges)) {
    const ratios: number[] = [];
    const taken = new Map<string, number[]>();
    for (let round = 0; round < rounds; round++) {
      const each: number[] = [];
      for (const { index, worker } of round % 2 === 0 ? large : [...large].reverse()) {
        const before = computedMs(worker.pid);
        for (let nth = 0; nth < SENT; nth++) await connection.once(exchange(worker));
        const ms = (computedMs(worker.pid) - before) / SENT;
        taken.set(index, [...(taken.get(index) ?? []), ms]);
        each[index === "d1" ? 0 : 1] = ms;
      }
      ratios.push((each[1] ?? NaN) / (each[0] ?? NaN));
    }
    rows.push([what === "page" ? `a page of ${PAGE}` : "a blocking send", milliseconds(median(taken.get("d1") ?? [])), milliseconds(median(taken.get("objects") ?? [])), times(median(ratios), 1)]);
  }
  return {
    title: "The index in D1 and in objects",
    text: `The CPU of workerd for a request, over ${SENT} in a row, in Workers whose caller has 100,000 tasks; D1 runs in the same process here.`,
    columns: ["", "in D1", "in an object", "ratio"],
    rows,
  };
}

/** A Worker whose only caller has so many tasks with the agent `demo`. */
async function withTasks({ count, index }: Kind): Promise<Worker> {
  const worker = await startBuilt({ INDEX: index });
  try {
    const { id } = await new Agent(`${worker.url}/demo`).sendForTask("hello");
    const copies = `WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ?2 - 1)
      INSERT INTO tasks (owner, agent, status_ms, id, context_id, state, generation, head, history)
      SELECT owner, agent, status_ms - (?2 - n) * 10, printf('%064x', n), 'context-' || (n % 1000), state, generation,
        replace(head, id, printf('%064x', n)), replace(history, id, printf('%064x', n))
      FROM tasks, numbers WHERE id = ?1`;
    await (await worker.index()).prepare(copies).bind(id, count).run();
    return worker;
  } catch (error) {
    await worker.stop();
    throw error;
  }
}
