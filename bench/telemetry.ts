// What traces and metrics cost: the same requests to Workers with and without them.

import { Sink } from "../tests/e2e/sink.ts";
import { digits, median, type Effort, type Section } from "./figures.ts";
import { call, Connections, send, type Exchange } from "./http.ts";
import { startBuilt } from "./workers.ts";

const CONNECTIONS = 16;
const WARM_UP_MS = 500;

export async function telemetry({ rounds, sliceMs }: Effort): Promise<Section> {
  const sink = await Sink.open();
  const off = await startBuilt();
  const kinds: [string, Record<string, string>][] = [
    ["the same without (noise)", {}],
    ["a tenth of the traces", { OTLP_URL: sink.url, TRACE_RATIO: "0.1" }],
    ["all traces", { OTLP_URL: sink.url }],
    ["metrics", { METRICS: "true" }],
  ];
  const workers = await Promise.all(kinds.map(async ([name, vars]) => ({ name, worker: await startBuilt({ DEVELOPMENT: "true", ...vars }) })));
  try {
    using connections = new Connections(CONNECTIONS);
    const exchanges = async (url: string): Promise<Exchange[]> => {
      const sent = send(`${url}/demo`, () => "hello");
      const { result } = JSON.parse(await connections.once(sent)) as { result: { task: { id: string } } };
      return [call(`${url}/demo`, "GetTask", () => ({ id: result.task.id }), result.task.id), sent];
    };
    const plain = await exchanges(off.url);
    const rows: string[][] = [];
    for (const { name, worker } of workers) {
      const own = await exchanges(worker.url);
      const ratios: string[] = [];
      for (const [index, without] of plain.entries()) {
        const with_ = own[index] as Exchange;
        for (const exchange of [without, with_]) await connections.repeat(exchange, WARM_UP_MS);
        const rates = { without: [] as number[], with_: [] as number[] };
        for (let round = 0; round < rounds * 2; round++) {
          for (const first of round % 2 === 0 ? [true, false] : [false, true]) {
            const { perSecond } = await connections.repeat(first ? without : with_, sliceMs);
            (first ? rates.without : rates.with_).push(perSecond);
          }
          // What was received is not kept.
          sink.forget("/v1");
        }
        ratios.push(digits(median(rates.with_)), median(rates.without.map((rate, nth) => rate / (rates.with_[nth] ?? NaN))).toFixed(2));
      }
      rows.push([name, ...ratios]);
    }
    return {
      title: "Traces and metrics",
      text:
        `Requests on ${CONNECTIONS} connections to a Worker with traces or metrics, in turn with the same requests to one without. A ratio is the time that a ` +
        "request takes, with to without; the medians of all rounds. The receiver of the spans is the client's process, so it shares the machine with both.",
      columns: ["with", "GetTask per second", "ratio", "SendMessage per second", "ratio"],
      rows,
    };
  } finally {
    await Promise.all([off, ...workers.map(({ worker }) => worker)].map((worker) => worker.stop()));
    sink.close();
  }
}
