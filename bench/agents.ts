// The cost of agents that are models, or behind HTTP: their turns compared with those of a function of the Worker with the
// same answer.

import { toolCall } from "../tests/e2e/client.ts";
import { startAnswering, TEXT } from "./answering.ts";
import { digits, median, milliseconds, times, type Effort, type Section } from "./figures.ts";
import { Connections, interleaved, send, type Exchange, type Slice } from "./http.ts";
import { startBuilt } from "./workers.ts";

const CONNECTIONS = [1, 16];
const WARM_UP_MS = 300;

export async function agents({ rounds, sliceMs }: Effort): Promise<Section> {
  const answering = await startAnswering();
  const worker = await startBuilt({ ...answering.vars, DEVELOPMENT: "true" });
  try {
    const plain = send(worker.url, () => toolCall("echo", { text: TEXT }), TEXT);
    const others: [string, Exchange][] = [
      ["`model`: one request, which is a step", send(`${worker.url}/thinker`, () => "count", TEXT)],
      ["`http`: one request", send(`${worker.url}/speaker`, () => "count", TEXT)],
      ["the request to the model alone", { url: `${answering.url}/v1/chat/completions`, body: () => "{}", answer: TEXT }],
    ];
    const exchanges = others.map(([, exchange]) => exchange);
    const names = ["a function of the Worker (baseline)", ...others.map(([name]) => name)];
    const rows: string[][] = [];
    for (const count of CONNECTIONS) {
      using connections = new Connections(count);
      for (const exchange of [plain, ...exchanges]) await connections.repeat(exchange, WARM_UP_MS);
      const taken: Slice[][] = [];
      for (let round = 0; round < rounds; round++) taken.push(await interleaved(connections, plain, exchanges, sliceMs));
      rows.push(...names.map((name, index) => [name, String(count), ...figures(taken, index)]));
    }
    return {
      title: "Models and agents behind HTTP",
      text:
        "A blocking send to an agent that asks a model, and to one that posts its turn to another server, in turn with a send to a tool of the " +
        "Worker that gives the same text. The model and the server answer at once, from the process of the client, so what is left is what the " +
        "kinds themselves cost: the request, its step, and what the turn has used, which is counted in D1. `×` is the ratio to the baseline " +
        "within a round.",
      columns: ["agent", "connections", "per second", "p50", "×", "p99", "×"],
      rows,
    };
  } finally {
    await worker.stop();
    await answering.close();
  }
}

/** The medians over all rounds; ratios are taken within a round. */
function figures(rounds: Slice[][], index: number): string[] {
  const pairs = rounds.map((round) => [round[index], round[0]] as [Slice, Slice]);
  const over = (figure: (own: Slice, baseline: Slice) => number): number => median(pairs.map((pair) => figure(...pair)));
  return [
    digits(over((own) => own.perSecond)),
    milliseconds(over((own) => own.p50)),
    times(over((own, baseline) => own.p50 / baseline.p50), 1),
    milliseconds(over((own) => own.p99)),
    times(over((own, baseline) => own.p99 / baseline.p99), 1),
  ];
}
