// The latency of events for the streams of a task, and the number of deliveries per second.

import { sendStreaming, subscribe, type EventStream } from "../tests/e2e/stream.ts";
import { digits, grouped, median, milliseconds, sum, times, type Effort, type Section } from "./figures.ts";
import { card, Connections } from "./http.ts";
import { startBuilt } from "./workers.ts";

const CHUNKS = 500;
const STREAMS = [1, 10, 100];

/** The figures of one task with its streams, in milliseconds. */
interface Round {
  cardMs: number;
  /** From the send to its first event. */
  sentMs: number;
  /** From a subscription to its first event: the median over all of them. */
  subscribedMs: number | undefined;
  /** From the send to the last event on the last stream. */
  lastMs: number;
  delivered: number;
}

export async function streams({ streamRounds, sliceMs }: Effort): Promise<Section> {
  const worker = await startBuilt();
  try {
    using connection = new Connections(1);
    const baseline = card(worker.url);
    await followed(`${worker.url}/demo`, 2);
    await connection.repeat(baseline, sliceMs);

    const taken: Round[][] = STREAMS.map(() => []);
    for (let round = 0; round < streamRounds; round++) {
      for (const [index, count] of STREAMS.entries()) {
        const { p50 } = await connection.repeat(baseline, sliceMs);
        taken[index]?.push({ cardMs: p50, ...(await followed(`${worker.url}/demo`, count)) });
      }
    }
    const alone = median((taken[0] ?? []).map(({ lastMs }) => lastMs));
    return {
      title: "Streams",
      text:
        `A task gives ${CHUNKS} pieces of an artifact with a pause of 1 ms after each (\`count ${CHUNKS} every 1\`): one ` +
        "SendStreamingMessage, the others SubscribeToTask with `Last-Event-ID: 1`, opened together as soon as the first event is " +
        "there. Every stream must get every event, in order; the benchmark fails otherwise. The first event counts from the " +
        "opening of its stream (median over the subscriptions), the last one from the send until the slowest stream has it. Ratios are to " +
        "the card (p50 just before), and to one stream alone, which waits for the agent's pauses most of the time.",
      columns: [
        "streams", "send: first event", "× card", "subscribe: first event", "× card",
        "last event", "× card", "× one stream", "events", "per second",
      ],
      rows: STREAMS.map((count, index) => {
        const over = (figure: (round: Round) => number) => median((taken[index] ?? []).map(figure));
        return [
          String(count),
          milliseconds(over(({ sentMs }) => sentMs)),
          times(over(({ sentMs, cardMs }) => sentMs / cardMs), 1),
          ...(count === 1 ? ["", ""] : [
            milliseconds(over(({ subscribedMs }) => subscribedMs ?? 0)),
            times(over(({ subscribedMs, cardMs }) => (subscribedMs ?? 0) / cardMs), 1),
          ]),
          milliseconds(over(({ lastMs }) => lastMs)),
          times(over(({ lastMs, cardMs }) => lastMs / cardMs), 1),
          times(over(({ lastMs }) => lastMs), alone),
          grouped(over(({ delivered }) => delivered)),
          digits(over(({ delivered, lastMs }) => (delivered / lastMs) * 1000)),
        ];
      }),
    };
  } finally {
    await worker.stop();
  }
}

/** Runs a counting task with `count` streams to its end, and checks that each stream received everything. */
async function followed(endpoint: string, count: number): Promise<Omit<Round, "cardMs">> {
  const begun = performance.now();
  const sender = new Follower(begun, await sendStreaming(endpoint, `count ${CHUNKS} every 1`));
  const id = await sender.taskId;
  const joining = Array.from({ length: count - 1 }, async () => {
    const opened = performance.now();
    return new Follower(opened, await subscribe(endpoint, id, 1));
  });
  const others = await Promise.all(joining);
  const all = [sender, ...others];
  await Promise.all(all.map(({ ended }) => ended));

  const last = sender.last;
  if (last < CHUNKS) throw new Error(`the stream ended after event ${last}`);
  for (const { first, last: own } of others) {
    if (first !== 2 || own !== last) throw new Error(`a subscriber got the events ${first} to ${own} of 2 to ${last}`);
  }
  return {
    sentMs: sender.firstMs,
    subscribedMs: others.length === 0 ? undefined : median(others.map(({ firstMs }) => firstMs)),
    lastMs: Math.max(...all.map(({ lastAt }) => lastAt)) - begun,
    delivered: sum(all.map(({ first, last }) => last - first + 1)),
  };
}

/** Reads little more than the numbers of the events; otherwise the reader would be measured. */
class Follower {
  /** The numbers of the first and the last event so far. */
  first = 0;
  last = 0;
  firstMs = 0;
  lastAt = 0;
  /** The task of the first event. */
  readonly taskId: Promise<string>;
  readonly ended: Promise<void>;
  #tell: (id: string) => void = () => {};
  #unfinished = "";

  constructor(opened: number, { response }: EventStream) {
    this.taskId = new Promise((resolve) => (this.#tell = resolve));
    this.ended = new Promise((resolve, reject) => {
      response.setEncoding("utf8");
      response.on("error", reject);
      response.on("end", resolve);
      response.on("data", (chunk: string) => {
        try {
          this.#read(chunk, opened);
        } catch (error) {
          reject(error as Error);
          response.destroy();
        }
      });
    });
  }

  #read(chunk: string, opened: number): void {
    const blocks = (this.#unfinished + chunk).split("\n\n");
    this.#unfinished = blocks.pop() ?? "";
    for (const block of blocks) {
      const id = Number(/^id: (\d+)$/m.exec(block)?.[1]);
      if (Number.isNaN(id)) continue;
      if (this.first === 0) {
        this.first = id;
        this.firstMs = performance.now() - opened;
        this.#tell(/"id":"([0-9a-f]{64})"/.exec(block)?.[1] ?? "");
      } else if (id !== this.last + 1) {
        throw new Error(`event ${id} came after event ${this.last}`);
      }
      this.last = id;
      this.lastAt = performance.now();
    }
  }
}
