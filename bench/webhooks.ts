// The effect of webhooks on a task: the same stream with receivers of different speed.

import { message } from "../tests/e2e/client.ts";
import { Sink } from "../tests/e2e/sink.ts";
import { EventStream } from "../tests/e2e/stream.ts";
import { digits, median, milliseconds, times, type Effort, type Section } from "./figures.ts";
import { startBuilt } from "./workers.ts";

const CHUNKS = 200;
const SLOW_MS = 2_000;

/** The webhooks of a task. */
interface Kind {
  name: string;
  paths: string[];
}

const kinds: Kind[] = [
  { name: "none", paths: [] },
  { name: "one, answered at once", paths: ["/quick"] },
  { name: "one, answered after 2 s", paths: ["/slow"] },
  { name: "one, never answered", paths: ["/silent"] },
];

export async function webhooks({ streamRounds }: Effort): Promise<Section> {
  const worker = await startBuilt({ WEBHOOK_ALLOW_PRIVATE: "true" });
  const sink = await Sink.open();
  sink.otherwise = async ({ path }) => {
    if (path === "/silent") return "hold";
    if (path === "/slow") await new Promise((resolve) => setTimeout(resolve, SLOW_MS));
    return {};
  };
  try {
    const endpoint = `${worker.url}/demo`;
    const streamed = async ({ paths }: Kind): Promise<number> => {
      const [path] = paths;
      const taskPushNotificationConfig = path === undefined ? undefined : { url: `${sink.url}${path}` };
      const begun = performance.now();
      const params = { message: message(`count ${CHUNKS} every 1`), configuration: { taskPushNotificationConfig } };
      const stream = await EventStream.open(endpoint, "SendStreamingMessage", params);
      const events = await stream.rest();
      if (events.length !== CHUNKS + 3) throw new Error(`the stream had ${events.length} events`);
      return performance.now() - begun;
    };
    const taken: number[][] = kinds.map(() => []);
    for (const kind of kinds) await streamed(kind);
    for (let round = 0; round < streamRounds; round++) {
      for (const [index, kind] of kinds.entries()) taken[index]?.push(await streamed(kind));
    }
    const alone = median(taken[0] ?? []);
    return {
      title: "Webhooks",
      text:
        `A SendStreamingMessage of ${CHUNKS} pieces of an artifact (\`count ${CHUNKS} every 1\`), from the send to the last event of its stream, ` +
        "for a task with and without a webhook. Ratios are to the task without one.",
      columns: ["webhook of the task", "last event on the stream", "× none", "notifications in all"],
      rows: kinds.map(({ name, paths: [path] }, index) => {
        const time = median(taken[index] ?? []);
        return [name, milliseconds(time), times(time / alone, 1), path === undefined ? "" : digits(sink.count(path))];
      }),
    };
  } finally {
    await worker.stop();
    sink.close();
  }
}
