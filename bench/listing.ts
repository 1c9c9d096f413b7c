// The time of a page of a listing, by the number of tasks.

import { Agent } from "../tests/e2e/client.ts";
import { grouped, median, milliseconds, times, type Effort, type Section } from "./figures.ts";
import { call, card, Connections, interleaved, type Slice } from "./http.ts";
import { startBuilt, type Worker } from "./workers.ts";

const TASKS = [100, 100_000];
const PAGE = 50;
const WARM_UP_MS = 300;

export async function listing({ rounds, sliceMs }: Effort): Promise<Section> {
  const workers: Worker[] = [];
  try {
    for (const count of TASKS) workers.push(await withTasks(count));
    using connection = new Connections(1);
    const baseline = card(workers[0]?.url ?? "");
    const exchanges = workers.map(({ url }, index) =>
      call(`${url}/demo`, "ListTasks", () => ({ pageSize: PAGE }), `"totalSize":${TASKS[index]}`),
    );
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
        `ListTasks without filters on one connection: the newest ${PAGE} tasks with their histories, and the total. The two databases ` +
        "belong to two Workers, which are asked in turn. Their rows are copies of that of one finished task.",
      columns: ["tasks of the caller", "p50", "× card", "p99", "× card"],
      rows: [row("the card (baseline)", 0), ...TASKS.map((count, index) => row(grouped(count), index + 1))],
    };
  } finally {
    for (const worker of workers) await worker.stop();
  }
}

/** A Worker whose only caller has `count` tasks with the agent `demo`. */
async function withTasks(count: number): Promise<Worker> {
  const worker = await startBuilt();
  try {
    const { id } = await new Agent(`${worker.url}/demo`).sendForTask("hello");
    const copies = `WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ?2 - 1)
      INSERT INTO tasks (owner, agent, status_ms, id, context_id, state, generation, head, history)
      SELECT owner, agent, status_ms - (?2 - n) * 10, printf('%064x', n), 'context-' || (n % 1000), state, generation,
        replace(head, id, printf('%064x', n)), replace(history, id, printf('%064x', n))
      FROM tasks, numbers WHERE id = ?1`;
    await (await worker.d1()).prepare(copies).bind(id, count).run();
    return worker;
  } catch (error) {
    await worker.stop();
    throw error;
  }
}
