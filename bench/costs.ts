// The cost of single operations in everything that the platform bills, and the bytes that they copy.

import { Agent, followUp, message, toolCall, until } from "../tests/e2e/client.ts";
import { sendStreaming, subscribe } from "../tests/e2e/stream.ts";
import { Sink } from "../tests/e2e/sink.ts";
import { measure, startCounting, type Counts, type Operation } from "./counted.ts";
import { startEffects } from "./effects.ts";
import { digits, grouped, type Effort, type Section } from "./figures.ts";

export async function costs({ isQuick }: Effort): Promise<Section> {
  const worker = await startCounting({ WEBHOOK_RETRY_MS: "200", WEBHOOK_ATTEMPTS: "4" });
  const sink = await Sink.open();
  const effects = await startEffects();
  try {
    const rows: string[][] = [];
    for (const operation of operations(worker.url, effects.url, sink)) {
      if (operation.isLong === true && isQuick) continue;
      rows.push([operation.name, ...figures(await measure(worker, operation))]);
    }
    return {
      title: "Costs",
      text:
        "Counted per operation in a copy of the build whose JavaScript counts the calls between the Worker and the platform " +
        "(`bench/counting.js`): requests to task objects; WebSocket messages that objects receive, alarms that ring; rows that " +
        "an object's SQLite writes, as it reports them (making a table is 2), and 1 for each alarm that is set; D1 statements with " +
        "the rows that D1 reports; and the bytes copied between JavaScript and WebAssembly, in the front Worker and in the objects " +
        "together (ASCII; other strings copy a little more). Writes that happen after the answer are included. The tasks of 20 s " +
        "are followed by one stream; the one that is recovered works in ten steps, each with a request to another server, and is " +
        "interrupted before the fifth. Queue messages are those that the consumer is given, also again; attempts are requests to " +
        "receivers of webhooks, with the queue messages for each. The failing receiver answers 503 to one in ten, hangs up on one " +
        "in thirty, and is gone after 600 requests; the requests to objects include there what the client asks to see when it is " +
        "over. Not in the figures: a task that waits for its client rings once more, half a minute later.",
      columns: [
        "operation", "object requests", "messages, alarms", "object rows written", "of these alarms",
        "D1 statements", "D1 rows read", "D1 rows written", "queue messages", "attempts", "messages per attempt", "bytes copied",
      ],
      rows,
    };
  } finally {
    await worker.stop();
    await effects.close();
    sink.close();
  }
}

function operations(url: string, effectsUrl: string, sink: Sink): Operation[] {
  const faults = new Agent(`${url}/faults`);
  const follow = async (text: string): Promise<unknown> => (await sendStreaming(demo.endpoint, text)).rest();
  const demo = new Agent(`${url}/demo`);
  const tools = new Agent(`${url}/`);
  const count = 20;
  const counting = async (streams: number): Promise<void> => {
    const sender = await sendStreaming(demo.endpoint, "count 500 every 1");
    const id = (await sender.next()).data.result?.task?.id ?? "";
    const others = await Promise.all(Array.from({ length: streams - 1 }, () => subscribe(demo.endpoint, id, 1)));
    await Promise.all([sender, ...others].map((stream) => stream.rest()));
  };
  const notified = async (path: string): Promise<void> => {
    const taskPushNotificationConfig = { url: sink.url + path };
    await demo.call("SendMessage", { message: message("hello"), configuration: { taskPushNotificationConfig } });
  };
  return [
    { name: "the card", count, work: () => fetch(`${url}/.well-known/agent-card.json`).then((response) => response.text()) },
    { name: "a task of 20 s with 20 chunks", count: 1, isLong: true, work: () => follow("count 20 every 1000") },
    { name: "a task of 20 s with 1,000 chunks", count: 1, isLong: true, work: () => follow("count 1000 every 20") },
    { name: "SendMessage, scripted agent: a task of 4 events", count, work: () => demo.sendForTask("hello") },
    { name: "SendMessage, tool `echo`: a task of 4 events", count, work: () => tools.sendForTask(toolCall("echo", { text: "hello" })) },
    { name: "SendMessage, answered with a message: no task", count, work: () => demo.send("message") },
    { name: "SendMessage, a task that asks", count, work: () => demo.sendForTask("ask") },
    {
      name: "SendMessage, the answer that completes it",
      count,
      prepare: () => demo.sendForTask("ask"),
      work: (task) => demo.sendForTask(followUp(task, "red")),
    },
    { name: "GetTask", count, prepare: () => demo.sendForTask("hello"), work: ({ id }) => demo.getTask(id) },
    { name: "CancelTask", count, prepare: () => demo.sendForTask("ask"), work: ({ id }) => demo.cancelTask(id) },
    { name: "ListTasks, a page of 50", count, work: () => demo.call("ListTasks", { pageSize: 50 }) },
    { name: "SendStreamingMessage: a task of 4 events", count, work: async () => (await sendStreaming(demo.endpoint, "hello")).rest() },
    { name: "a task of 10 steps", count, work: () => faults.sendForTask(`steps 10 ${effectsUrl}`) },
    { name: "a task of 10 steps, recovered", count, work: () => faults.sendForTask(`steps 10 ${effectsUrl} panic 5`) },
    { name: "a task of 503 events, 1 stream", count: 1, work: () => counting(1) },
    { name: "a task of 503 events, 10 streams", count: 1, work: () => counting(10) },
    { name: "a task of 4 events with a webhook", count, work: () => notified("/quick") },
    { name: "100 webhooks that get 13 events each", count: 1, isLong: true, work: () => flood(demo, sink, "/good", false) },
    { name: "the same, failing receiver", count: 1, isLong: true, work: () => flood(demo, sink, "/bad", true) },
  ];
}

/**
 * Makes 100 webhooks of 10 tasks send 13 events each, until nothing more is sent. A failing receiver answers 503 to one
 * request in ten, hangs up on one in thirty, and after 600 requests on all.
 */
export async function flood(agent: Agent, sink: Sink, path: string, fails: boolean): Promise<void> {
  interface Config {
    taskId: string;
    id: string;
  }
  let calls = 0;
  sink.otherwise = (arrival) => {
    if (!fails || !arrival.path.startsWith(path)) return {};
    calls += 1;
    if (calls > 600 || calls % 30 === 7) return "drop";
    return calls % 10 === 3 ? { status: 503 } : {};
  };
  const tasks = await Promise.all(Array.from({ length: 10 }, () => agent.sendForTask("count 10 every 1")));
  const configs: Config[] = [];
  for (const { id: taskId } of tasks) {
    for (let nth = 0; nth < 10; nth++) {
      configs.push(await agent.call<Config>("CreateTaskPushNotificationConfig", { taskId, url: `${sink.url}${path}/${taskId}/${nth}` }));
    }
  }
  await Promise.all(configs.map((config) => agent.call("RedeliverTaskPushNotifications", { taskId: config.taskId, id: config.id, fromGeneration: 1 })));
  const isDone = async ({ taskId, id }: Config): Promise<boolean> => {
    interface Deliveries {
      health: string;
      deliveredGeneration: number;
      attempts: { generation: number }[];
    }
    const told = await agent.call<Deliveries>("ListTaskPushNotificationDeliveries", { taskId, id });
    return told.deliveredGeneration === 13 || (told.health === "suspended" && told.attempts.at(-1)?.generation === 13);
  };
  let left = configs;
  const look = async (): Promise<number> => {
    const done = await Promise.all(left.map(isDone));
    left = left.filter((_, index) => done[index] !== true);
    if (left.length > 0) await new Promise((resolve) => setTimeout(resolve, 200));
    return left.length;
  };
  // A busy machine needs longer than `until` waits for all of them, but not for some of them.
  for (let before = left.length; before > 0; before = left.length) await until(look, (count) => count < before);
}

function figures(counts: Counts): string[] {
  const { objectRequests, webSocketMessages, alarms, objectRowsWritten, statements, rowsRead, rowsWritten } = counts;
  const small = [
    objectRequests, webSocketMessages + alarms, objectRowsWritten, counts.alarmsSet, statements, rowsRead, rowsWritten,
  ];
  const { queueMessages, attempts } = counts;
  const perAttempt = attempts === 0 ? "" : digits(queueMessages / attempts);
  return [...small.map(digits), digits(queueMessages), digits(attempts), perAttempt, grouped(counts.bytesCopied)];
}
