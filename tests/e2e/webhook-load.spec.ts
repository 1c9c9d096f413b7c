// Many webhooks: silent receivers do not delay others, and the queue is not flooded (spec §4.3).
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { Agent, message, until, type Task } from "./client.ts";
import { startWorker, type Worker } from "./harness.ts";
import { Sink } from "./sink.ts";
import { flood } from "../../bench/costs.ts";
import { settled, startCounting } from "../../bench/counted.ts";

let sink: Sink;
let worker: Worker;
let demo: Agent;

function withWorker(vars: Record<string, string>): void {
  before(async () => {
    sink = await Sink.open();
    worker = await startWorker({ vars });
    demo = new Agent(`${worker.url}/demo`);
  });
  after(async () => {
    await worker.stop();
    sink.close();
  });
}

const hook = (path: string): object => ({ url: `${sink.url}${path}` });

async function begin(text: string, path: string): Promise<Task> {
  const configuration = { returnImmediately: true, taskPushNotificationConfig: hook(path) };
  const { task } = await demo.call<{ task: Task }>("SendMessage", { message: message(text), configuration });
  return task;
}

/** Registers a number of webhooks on finished tasks, ten each, and requests the delivery of every event. */
async function owe(count: number, path: (nth: number) => string, text: string): Promise<Config[]> {
  const tasks = await inTurn(Math.ceil(count / 10), () => demo.sendForTask(text));
  const configs = await inTurn(count, (nth) =>
    demo.call<Config>("CreateTaskPushNotificationConfig", { taskId: tasks[Math.floor(nth / 10)]?.id, ...hook(path(nth)) }),
  );
  await Promise.all(configs.map(({ taskId, id }) => demo.call("RedeliverTaskPushNotifications", { taskId, id, fromGeneration: 1 })));
  return configs;
}

interface Config {
  id: string;
  taskId: string;
}

/** Makes this number of values, one after the other. */
async function inTurn<Value>(count: number, make: (nth: number) => Promise<Value>): Promise<Value[]> {
  const made: Value[] = [];
  for (let nth = 0; nth < count; nth += 1) made.push(await make(nth));
  return made;
}

describe("receivers that are silent", () => {
  // The time limit of a receiver is that of production: 10 s.
  withWorker({});

  /** Runs 60 tasks with a webhook each, until all notifications have arrived. */
  async function healthy(root: string): Promise<void> {
    await Promise.all(Array.from({ length: 60 }, (_, nth) => begin("hello", `${root}/${nth}`)));
    await until(async () => sink.arrivals(root).length, (count) => count >= 60 * 4);
  }

  // If 200 silent receivers were waited for, six at a time for at least 2 s each, this would take longer than `until` waits; the
  // same holds for 40 receivers with 10 s each.
  test("hold up no others, be they 1, 40 or 200 (§4.3)", async () => {
    sink.otherwise = ({ path }) => (path.startsWith("/silent") ? "hold" : {});
    for (const count of [1, 40, 200]) {
      const path = `/silent-${count}`;
      await owe(count, (nth) => `${path}/${nth}`, "hello");
      await healthy(`/healthy-${count}`);
      assert.ok(sink.arrivals(path).length >= Math.min(count, 40), "they were called");
    }
  });
});

describe("a receiver that was silent", () => {
  withWorker({ WEBHOOK_TIMEOUT_MS: "2500", WEBHOOK_RETRY_MS: "100", KEEP_ALIVE_MS: "1000" });

  test("has 2 s the next time, and is remembered by that after a crash (§4.3)", async () => {
    sink.otherwise = ({ path }) => (path.startsWith("/mute") ? "hold" : {});
    const task = await begin("hello", "/mute");
    const errors = async (): Promise<string[]> => {
      const { configs } = await demo.call<{ configs: Config[] }>("ListTaskPushNotificationConfigs", { taskId: task.id });
      const id = configs[0]?.id;
      const { attempts } = await demo.call<{ attempts: { error?: string }[] }>("ListTaskPushNotificationDeliveries", { taskId: task.id, id });
      return attempts.map(({ error }) => error ?? "");
    };
    await until(errors, (list) => list.length >= 1);
    await worker.kill9();
    await worker.restart();
    const [first, second] = await until(errors, (list) => list.length >= 2);
    assert.match(first ?? "", /no answer within 2500 ms/);
    assert.match(second ?? "", /no answer within 2000 ms/);
  });
});

describe("the queue", () => {
  before(async () => {
    sink = await Sink.open();
    worker = await startCounting({ WEBHOOK_RETRY_MS: "100", WEBHOOK_ATTEMPTS: "3", KEEP_ALIVE_MS: "1000" });
    demo = new Agent(`${worker.url}/demo`);
  });
  after(async () => {
    await worker.stop();
    sink.close();
  });

  test("gets a message for an attempt and hardly more, of 100 webhooks whose receiver fails and is gone (§4.3)", async () => {
    await flood(demo, sink, "/bad", true);
    const { queueMessages, attempts } = await settled(worker);
    const told = `${queueMessages} messages for ${attempts} attempts`;
    assert.ok(attempts >= 1_300, told);
    assert.ok(queueMessages <= 1.2 * attempts, told);
    if (process.env["A2A_TELL"]) console.log(told);
  });
});
