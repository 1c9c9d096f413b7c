// Notifications to webhooks (spec §4.3): their events, order and contents; they never delay a task.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { followUp, logged, textOf, until, untilEnded, type Task } from "./client.ts";
import {
  assertComplete, begin, configsOf, deliveries, demo, firstConfig, freshPath, generations, redeliver, register, sink,
  target, withWorker, worker, type Config,
} from "./notifications.ts";
import type { Arrival } from "./sink.ts";
import { subscribe } from "./stream.ts";

describe("notifications", () => {
  withWorker({ WEBHOOK_TIMEOUT_MS: "3000", WEBHOOK_ATTEMPTS: "3" });

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
        const task = await begin("count 47 every 60", one);
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
    const task = await begin("count 30 every 150", held);
    await sink.arrival(held);
    await register(task.id, free);
    const stream = await subscribe(demo.endpoint, task.id, 0);
    assert.equal((await stream.rest()).at(-1)?.data.result?.statusUpdate?.status.state, "TASK_STATE_COMPLETED");
    const [begun] = await until(async () => generations(free), (list) => list.length > 0);
    await assertComplete(task, free, begun);
    await assertComplete(task, held);
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
    // Waits for all events of another task: further events of the first task would have arrived earlier.
    const later = freshPath();
    await assertComplete(await begin("count 20 every 5", later), later);
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
    await logged(worker, "a message of the queue cannot be read");
  });

  test("are limited in number for each task", async () => {
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
