// Notifications to webhooks (spec §4.3): in order, at least once, retried, visible, and never in the way of a task.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { Agent, followUp, message, textOf, until, untilEnded, type Task } from "./client.ts";
import { startWorker, type Worker } from "./harness.ts";
import { Sink, type Arrival } from "./sink.ts";
import { subscribe } from "./stream.ts";

interface Config {
  id: string;
  taskId: string;
  url: string;
}

interface Attempt {
  generation: number;
  attempt: number;
  status?: number;
  outcome: "delivered" | "retry" | "givenUp";
  error?: string;
  durationMs: number;
}

interface Deliveries {
  health: "active" | "failing" | "suspended";
  deliveredGeneration: number;
  lastError: string | null;
  attempts: Attempt[];
}

let sink: Sink;
let worker: Worker;
let demo: Agent;
let paths = 0;

/** Starts a Worker for the tests of a block. */
function withWorker(vars: Record<string, string>): void {
  before(async () => {
    sink = await Sink.open();
    worker = await startWorker({ vars: { KEEP_ALIVE_MS: "1000", WEBHOOK_RETRY_MS: "100", ...vars } });
    demo = new Agent(`${worker.url}/demo`);
  });
  after(async () => {
    await worker.stop();
    sink.close();
  });
}

function freshPath(): string {
  paths += 1;
  return `/hook-${paths}`;
}

const target = (path: string, rest: object = {}): object => ({ url: `${sink.url}${path}`, ...rest });

/** A task whose first webhook is registered with the message that begins it. */
async function begin(text: string, path: string, rest: object = {}): Promise<Task> {
  const configuration = { returnImmediately: true, taskPushNotificationConfig: target(path, rest) };
  const { task } = await demo.call<{ task: Task }>("SendMessage", { message: message(text), configuration });
  return task;
}

const register = (taskId: string, path: string, rest: object = {}): Promise<Config> =>
  demo.call("CreateTaskPushNotificationConfig", { taskId, ...target(path, rest) });
const configsOf = async (taskId: string): Promise<Config[]> =>
  (await demo.call<{ configs: Config[] }>("ListTaskPushNotificationConfigs", { taskId })).configs;
const deliveries = ({ taskId, id }: Config): Promise<Deliveries> => demo.call("ListTaskPushNotificationDeliveries", { taskId, id });
const redeliver = ({ taskId, id }: Config, fromGeneration: number): Promise<Config> =>
  demo.call("RedeliverTaskPushNotifications", { taskId, id, fromGeneration });

async function firstConfig(task: Task): Promise<Config> {
  const [config] = await configsOf(task.id);
  assert.ok(config);
  return config;
}

const generationOf = (arrival: Arrival): number => Number(arrival.headers["a2a-generation"]);
const generations = (path: string): number[] => sink.arrivals(path).map(generationOf);

/** Each event once: what a receiver that knows deliveries by their ids has seen. */
function once(path: string): Arrival[] {
  const seen = new Map<string, Arrival>();
  for (const arrival of sink.arrivals(path)) {
    const id = String(arrival.headers["webhook-id"]);
    const known = seen.get(id);
    if (known === undefined) seen.set(id, arrival);
    else assert.equal(arrival.body, known.body, "the same delivery is the same event");
  }
  return [...seen.values()];
}

/** Waits until the newest event of the task has arrived, and checks that all have, in order. */
async function assertComplete(task: Task, path: string, from = 1): Promise<Arrival[]> {
  const ended = await untilEnded(demo, task.id);
  const log = await (await subscribe(demo.endpoint, task.id, 0)).rest();
  const expected = log.filter(({ id }) => (id ?? 0) >= from);
  const arrived = await until(async () => once(path), (list) => list.length >= expected.length);
  assert.deepEqual(arrived.map(generationOf), expected.map(({ id }) => id), "every event, in order");
  for (const [index, arrival] of arrived.entries()) assert.deepEqual(arrival.json(), expected[index]?.data.result);
  const last = arrived.at(-1)?.json<{ statusUpdate?: { status: Task["status"] } }>();
  assert.deepEqual(last?.statusUpdate?.status, ended.status);
  return arrived;
}

describe("notifications", () => {
  withWorker({ WEBHOOK_TIMEOUT_MS: "400", WEBHOOK_ATTEMPTS: "3" });

  test("come for every event, as it is on a stream, with what was configured (§4.3.3)", async () => {
    const path = freshPath();
    const task = await begin("chunks", path, { token: "the-token", authentication: { scheme: "bearer", credentials: "the-credentials" } });
    const [first] = await assertComplete(task, path);
    assert.equal(first?.method, "POST");
    const { headers } = first as Arrival;
    assert.equal(headers["content-type"], "application/a2a+json");
    assert.equal(headers.authorization, "Bearer the-credentials");
    assert.equal(headers["x-a2a-notification-token"], "the-token");
    assert.equal(headers["a2a-notification-token"], "the-token");
    assert.match(String(headers["webhook-id"]), new RegExp(`^${task.id}\\..+\\.1$`));
    assert.match(String(headers["webhook-signature"]), /^v1,/);
  });

  test("are in order for each webhook, of 20 tasks with 50 events and 2 webhooks each (§4.3)", async () => {
    const runs = await Promise.all(
      Array.from({ length: 20 }, async () => {
        const [one, two] = [freshPath(), freshPath()];
        const task = await begin("count 47 every 5", one);
        await register(task.id, two);
        return { task, one, two };
      }),
    );
    for (const { task, one, two } of runs) {
      assert.equal((await assertComplete(task, one)).length, 50);
      const [begun] = await until(async () => generations(two), (list) => list.length > 0);
      await assertComplete(task, two, begun);
    }
  });

  test("to one webhook do not wait for those to another, nor does the task (§4.3)", async () => {
    const [held, free] = [freshPath(), freshPath()];
    sink.plan(held, "hold");
    const task = await begin("count 30 every 50", held);
    await sink.arrival(held);
    await register(task.id, free);
    const stream = await subscribe(demo.endpoint, task.id, 0);
    assert.equal((await stream.rest()).at(-1)?.data.result?.statusUpdate?.status.state, "TASK_STATE_COMPLETED");
    const [begun] = await until(async () => generations(free), (list) => list.length > 0);
    await assertComplete(task, free, begun);
    await assertComplete(task, held);
  });

  test("that fail are sent again, and nothing before them (§4.3)", async () => {
    for (const [deed, error] of [
      [{ status: 500 }, /500/],
      [{ status: 503 }, /503/],
      [{ status: 408 }, /408/],
      [{ status: 425 }, /425/],
      [{ status: 429, headers: { "retry-after": "0" } }, /429/],
      ["drop", /./],
      ["hold", /no answer within 400 ms/],
    ] as const) {
      const path = freshPath();
      sink.plan(path, {}, deed, deed, {});
      const task = await begin("chunks", path);
      await assertComplete(task, path);
      assert.deepEqual(generations(path).slice(0, 5), [1, 2, 2, 2, 3]);
      const { attempts, health } = await deliveries(await firstConfig(task));
      assert.equal(health, "active");
      assert.deepEqual(attempts.slice(0, 4).map(({ outcome }) => outcome), ["delivered", "retry", "retry", "delivered"]);
      assert.deepEqual(attempts.slice(0, 4).map(({ attempt }) => attempt), [1, 1, 2, 3]);
      assert.match(attempts[1]?.error ?? "", error);
    }
  });

  test("wait as long as the receiver wants them to (RFC 9110 §10.2.3)", async () => {
    const path = freshPath();
    sink.plan(path, { status: 429, headers: { "retry-after": "3600" } });
    const task = await untilEnded(demo, (await begin("hello", path)).id);
    const config = await firstConfig(task);
    const { health, nextAttemptAt } = (await until(() => deliveries(config), ({ attempts }) => attempts.length > 0)) as Deliveries & {
      nextAttemptAt: number;
    };
    assert.equal(health, "failing");
    assert.ok(nextAttemptAt > Date.parse(task.status.timestamp ?? "") + 3_000_000);
    assert.equal(sink.count(path), 1);
  });

  for (const [wanted, least_ms] of [
    ["9223372036854775807", 3_000_000],
    ["9223372036854775808", 3_000_000],
    ["18446744073709551615", 3_000_000],
    ["18446744073709551616", 3_000_000],
    [new Date(Date.now() + 1_800_000).toUTCString(), 1_000_000],
    ["-9223372036854775808", 0],
    [new Date(0).toUTCString(), 0],
  ] as const) {
    test(`are counted, and wait an hour at most, for a receiver that wants ${wanted} (RFC 9110 §10.2.3)`, async () => {
      const path = freshPath();
      sink.plan(path, { status: 503, headers: { "retry-after": wanted } });
      const task = await untilEnded(demo, (await begin("hello", path)).id);
      const config = await firstConfig(task);
      const { attempts, nextAttemptAt } = (await until(() => deliveries(config), ({ attempts }) => attempts.length > 0)) as Deliveries & {
        nextAttemptAt: number | null;
      };
      assert.deepEqual([attempts[0]?.status, attempts[0]?.outcome], [503, "retry"]);
      if (least_ms === 0) return void (await assertComplete(task, path));
      const left = (nextAttemptAt ?? 0) - Date.now();
      assert.ok(left > least_ms && left <= 3_600_000, String(left));
    });
  }

  test("that the receiver refuses are given up one by one, and the end comes all the same (§4.3)", async () => {
    const path = freshPath();
    sink.plan(path, { status: 400 }, { status: 401 }, { status: 403 }, { status: 404 }, { status: 422 }, {});
    const task = await begin("chunks", path);
    await untilEnded(demo, task.id);
    const config = await firstConfig(task);
    const told = await until(() => deliveries(config), ({ deliveredGeneration }) => deliveredGeneration === 6);
    assert.deepEqual(told.attempts.map(({ generation, outcome }) => [generation, outcome]), [
      [1, "givenUp"], [2, "givenUp"], [3, "givenUp"], [4, "givenUp"], [5, "givenUp"], [6, "delivered"],
    ]);
    assert.equal(told.health, "active");
    await until(async () => worker.logs.filter(({ message }) => message.includes("dead letter") && message.includes(task.id)), (lines) => lines.length === 5);
  });

  test("to a receiver that fails are given up, and then it is suspended until it is asked for, but for the end of the task (§4.3)", async () => {
    for (const [deed, outcome] of [[{}, "delivered"], [{ status: 500 }, "givenUp"]] as const) {
      const path = freshPath();
      const failing = Array.from({ length: 9 }, () => ({ status: 503 }));
      sink.plan(path, ...failing, deed);
      const task = await begin("chunks", path);
      await untilEnded(demo, task.id);
      const config = await firstConfig(task);
      const suspended = await until(() => deliveries(config), ({ attempts }) => attempts.length === 10);
      assert.deepEqual(suspended.attempts.slice(2, 9).filter(({ outcome }) => outcome === "givenUp").map(({ generation }) => generation), [1, 2, 3]);
      assert.deepEqual([suspended.attempts[9]?.generation, suspended.attempts[9]?.outcome], [6, outcome]);
      assert.deepEqual([suspended.health, suspended.deliveredGeneration], ["suspended", 3], "what is between stays owed");
      await sink.next(500);
      assert.equal(sink.count(path), 10, "nothing more is sent");

      await redeliver(config, 4);
      const arrived = await until(async () => sink.arrivals(path).slice(10), (list) => list.length >= 3);
      assert.deepEqual(arrived.map(generationOf), [4, 5, 6]);
      assert.equal((await until(() => deliveries(config), ({ deliveredGeneration }) => deliveredGeneration === 6)).health, "active");
    }
  });

  test("that a webhook is owed go to the one that replaces it, which stands in its place (§3.1.7)", async () => {
    const [old, fresh] = [freshPath(), freshPath()];
    sink.plan(old, {}, {}, { status: 410 });
    const task = await begin("chunks", old, { id: "first" });
    await register(task.id, freshPath(), { id: "second" });
    await until(() => deliveries({ taskId: task.id, id: "first", url: "" }), ({ health }) => health === "suspended");
    await untilEnded(demo, task.id);
    await register(task.id, fresh, { id: "first" });
    await until(async () => generations(fresh), (list) => list.length >= 3);
    assert.deepEqual(generations(fresh), [4, 5, 6]);
    assert.deepEqual((await configsOf(task.id)).map(({ id }) => id), ["first", "second"]);
  });

  test("go on behind an event that was given up (§4.3)", async () => {
    const path = freshPath();
    sink.plan(path, {}, { status: 422 });
    const task = await begin("chunks", path);
    await untilEnded(demo, task.id);
    await until(async () => generations(path), (list) => list.length >= 6);
    assert.deepEqual(generations(path), [1, 2, 3, 4, 5, 6]);
    const { attempts } = await deliveries(await firstConfig(task));
    assert.equal(attempts.find(({ generation }) => generation === 2)?.outcome, "givenUp");
  });

  test("stop for good for a receiver that is gone (410)", async () => {
    const path = freshPath();
    sink.plan(path, { status: 410 });
    const task = await begin("chunks", path);
    await untilEnded(demo, task.id);
    const config = await firstConfig(task);
    await until(() => deliveries(config), ({ health }) => health === "suspended");
    assert.equal(sink.count(path), 1);
  });

  test("do not follow redirects, and do not read what receivers answer (§4.3)", async () => {
    const [path, elsewhere] = [freshPath(), freshPath()];
    sink.plan(path, { status: 307, headers: { location: `${sink.url}${elsewhere}` } }, { body: "x".repeat(10_000_000) });
    const task = await begin("chunks", path);
    await untilEnded(demo, task.id);
    await until(async () => generations(path), (list) => list.length >= 6);
    assert.equal(sink.count(elsewhere), 0);
    const { attempts, health } = await deliveries(await firstConfig(task));
    assert.deepEqual(attempts.slice(0, 2).map(({ status, outcome }) => [status, outcome]), [[307, "givenUp"], [200, "delivered"]]);
    assert.equal(health, "active");
  });

  test("stop at once when the webhook is deleted (§3.1.10)", async () => {
    const path = freshPath();
    sink.plan(path, {}, "hold");
    const task = await begin("count 20 every 5", path);
    const held = await sink.arrival(path, 2);
    const config = await firstConfig(task);
    await demo.call("DeleteTaskPushNotificationConfig", { taskId: task.id, id: config.id });
    await held.answer();
    await untilEnded(demo, task.id);
    await sink.next(500);
    assert.equal(sink.count(path), 2);
    assert.deepEqual(await configsOf(task.id), []);
  });

  test("can be of some events only (extension)", async () => {
    const [status, artifacts] = [freshPath(), freshPath()];
    const task = await begin("chunks", status, { events: "status" });
    await register(task.id, artifacts, { events: "artifacts" });
    await untilEnded(demo, task.id);
    await until(async () => generations(status), (list) => list.at(-1) === 6);
    assert.deepEqual(generations(status), [1, 2, 6]);
    for (const arrival of sink.arrivals(artifacts)) assert.ok("artifactUpdate" in arrival.json<object>());
    await redeliver((await configsOf(task.id))[1] as Config, 1);
    await until(async () => generations(artifacts).slice(-3), (list) => list.join() === "3,4,5");
  });

  test("of a finished task are none, unless they are asked for (§3.1.7)", async () => {
    const path = freshPath();
    const task = await demo.sendForTask("hello");
    const config = await register(task.id, path);
    assert.equal((await deliveries(config)).deliveredGeneration, 4);
    assert.equal(sink.count(path), 0);
    await redeliver(config, 3);
    await until(async () => generations(path), (list) => list.length >= 2);
    assert.deepEqual(generations(path), [3, 4]);
    await assert.rejects(redeliver(config, 5), { code: -32602 });
    await assert.rejects(redeliver({ ...config, id: "other" }, 1), { code: -32001 });
    await assert.rejects(deliveries({ ...config, id: "other" }), { code: -32001 });
  });

  test("follow a task that is continued, from the message on that registers the webhook (§3.2.2)", async () => {
    const path = freshPath();
    const asked = await demo.sendForTask("ask");
    const configuration = { taskPushNotificationConfig: target(path) };
    const { task } = await demo.call<{ task: Task }>("SendMessage", { message: followUp(asked, "red"), configuration });
    assert.equal(textOf(task.artifacts?.[0]), "red");
    await assertComplete(task, path, 4);
  });

  test("with other messages in the queue go on as ever", async () => {
    await worker.enqueue("WEBHOOKS", "not json");
    await worker.enqueue("WEBHOOKS", JSON.stringify({ agent: "demo", task: "nonsense", configId: "x" }));
    const path = freshPath();
    const task = await begin("chunks", path);
    await worker.enqueue("WEBHOOKS", JSON.stringify({ agent: "demo", task: task.id, configId: "nobody" }));
    const config = await firstConfig(task);
    for (let index = 0; index < 5; index += 1) {
      await worker.enqueue("WEBHOOKS", JSON.stringify({ agent: "demo", task: task.id, configId: config.id }));
    }
    await assertComplete(task, path);
    assert.deepEqual(generations(path), [1, 2, 3, 4, 5, 6], "and nothing twice");
    assert.ok(worker.logs.some(({ message }) => message.includes("cannot be read, and is dropped")));
  });

  test("are limited to so many webhooks of a task", async () => {
    const task = await demo.sendForTask("hello");
    for (let index = 0; index < 20; index += 1) await register(task.id, freshPath());
    await assert.rejects(register(task.id, freshPath()), { code: -32004 });
    const [{ id }] = (await configsOf(task.id)) as [Config];
    await register(task.id, freshPath(), { id });
  });

  test("leave no secret in the log (§4.3.2)", async () => {
    const path = freshPath();
    sink.plan(path, { status: 500 }, { status: 404 });
    const secret = "hush-hush";
    const task = await begin("chunks", `${path}?key=${secret}-query`, {
      token: `${secret}-token`,
      authentication: { scheme: "Bearer", credentials: `${secret}-credentials` },
    });
    await untilEnded(demo, task.id);
    await until(async () => worker.logs.filter(({ message }) => message.includes(task.id)), (lines) => lines.length >= 6);
    assert.ok(!worker.logs.some(({ message }) => message.includes(secret) || message.includes("whsec_")));
  });
});

describe("notifications through crashes", () => {
  withWorker({ MAX_ATTEMPTS: "100" });

  test("that were on their way or owed when the process died come, in order (§4.3)", async () => {
    const runs = await Promise.all(
      [1, 2, 3, 4].map(async (nth) => {
        const path = freshPath();
        sink.plan(path, ...Array.from({ length: nth - 1 }, () => ({})), "hold");
        return { path, nth, task: await begin("chunks", path) };
      }),
    );
    await Promise.all(runs.map(({ path, nth }) => sink.arrival(path, nth)));
    await worker.kill9();
    await worker.restart();
    for (const { path, task } of runs) await assertComplete(task, path);
  });

  test("of a run that was interrupted come once for each event, and nobody need ask (§4.3)", async () => {
    const path = freshPath();
    const faults = new Agent(`${worker.url}/faults`);
    const steps = freshPath();
    sink.plan(`${steps}/4`, "hold");
    const configuration = { returnImmediately: true, taskPushNotificationConfig: target(path) };
    const { task } = await faults.call<{ task: Task }>("SendMessage", { message: message(`steps 6 ${sink.url}${steps}`), configuration });
    await sink.arrival(`${steps}/4`);
    await worker.kill9();
    await worker.restart();
    const arrived = await until(async () => once(path), (list) => list.at(-1)?.body.includes("TASK_STATE_COMPLETED") ?? false);
    assert.deepEqual(arrived.map(generationOf), arrived.map((_, index) => index + 1));
    assert.equal((await faults.getTask(task.id)).status.state, "TASK_STATE_COMPLETED");
  });

  test("to a receiver that is down come when it is back, also after a restart (§4.3)", async () => {
    const path = freshPath();
    let isDown = true;
    sink.otherwise = (arrival) => (isDown && arrival.path === path ? "drop" : {});
    const task = await begin("chunks", path);
    await sink.arrival(path, 2);
    await worker.restart();
    await sink.arrival(path, 4);
    isDown = false;
    await assertComplete(task, path);
  });

  test("are known after a restart, and so are webhooks and what is secret of them (§3.1.8)", async () => {
    const path = freshPath();
    const task = await begin("chunks", path, { id: "mine", token: "t" });
    await assertComplete(task, path);
    const config = await firstConfig(task);
    const known = await until(() => deliveries(config), ({ deliveredGeneration }) => deliveredGeneration === 6);
    await worker.kill9();
    await worker.restart();
    assert.deepEqual(await firstConfig(task), config);
    assert.deepEqual(await deliveries(config), known);
    await sink.next(1_500);
    assert.equal(once(path).length, 6);
    await redeliver(config, 6);
    const again = await sink.arrival(path, 7);
    assert.equal(again.headers["a2a-notification-token"], "t");
  });
});
