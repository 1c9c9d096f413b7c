// Requests per second of each kind, and their latencies.

import { toolCall } from "../tests/e2e/client.ts";
import { median, digits, milliseconds, times, type Effort, type Section } from "./figures.ts";
import { call, card, Connections, interleaved, send, type Exchange, type Slice } from "./http.ts";
import { startBuilt } from "./workers.ts";

const CONNECTIONS = [1, 16];
const WARM_UP_MS = 300;

export async function load({ rounds, sliceMs }: Effort): Promise<Section> {
  const worker = await startBuilt();
  try {
    const demo = `${worker.url}/demo`;
    const baseline = card(worker.url);
    const id = await finishedTask(demo);
    const kinds: [string, Exchange][] = [
      ["SendMessage, scripted agent: a task of 4 events", send(demo, () => "hello")],
      ["SendMessage, tool `echo`: a task of 4 events", send(`${worker.url}/`, () => toolCall("echo", { text: "hello" }))],
      ["SendMessage, answered with a message: no task", send(demo, () => "message", "A message instead of a task.")],
      ["GetTask of a finished task", call(demo, "GetTask", () => ({ id }), id)],
    ];
    const exchanges = kinds.map(([, exchange]) => exchange);
    const names = ["the card (baseline)", ...kinds.map(([name]) => name)];

    const rows: string[][] = [];
    for (const count of CONNECTIONS) {
      using connections = new Connections(count);
      for (const exchange of [baseline, ...exchanges]) await connections.repeat(exchange, WARM_UP_MS);
      const taken: Slice[][] = [];
      for (let round = 0; round < rounds; round++) taken.push(await interleaved(connections, baseline, exchanges, sliceMs));
      rows.push(...names.map((name, index) => [name, String(count), ...figures(taken, index)]));
    }
    return {
      title: "Requests",
      text:
        "Each kind of request is repeated on 1 and on 16 connections that are kept open, in turn with the baseline. " +
        "`×` is the ratio to the baseline: how many cards are served in the time of one such request, and how many times " +
        "longer it takes. The client shares the cores with the Worker and costs every kind the same, so the true ratios " +
        "are somewhat larger.",
      columns: ["request", "connections", "per second", "×", "p50", "×", "p99", "×"],
      rows,
    };
  } finally {
    await worker.stop();
  }
}

async function finishedTask(demo: string): Promise<string> {
  using connection = new Connections(1);
  const answer = JSON.parse(await connection.once(send(demo, () => "hello"))) as { result: { task: { id: string } } };
  return answer.result.task.id;
}

/** The medians over all rounds; ratios are taken within a round. */
function figures(rounds: Slice[][], index: number): string[] {
  const pairs = rounds.map((round) => [round[index], round[0]] as [Slice, Slice]);
  const over = (figure: (own: Slice, baseline: Slice) => number) => median(pairs.map((pair) => figure(...pair)));
  return [
    digits(over((own) => own.perSecond)),
    times(over((own, baseline) => baseline.perSecond / own.perSecond), 1),
    milliseconds(over((own) => own.p50)),
    times(over((own, baseline) => own.p50 / baseline.p50), 1),
    milliseconds(over((own) => own.p99)),
    times(over((own, baseline) => own.p99 / baseline.p99), 1),
  ];
}
