// Notifications during crashes and restarts, of the Worker and of receivers (spec §4.3).
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { Agent, message, until, type Task } from "./client.ts";
import { assertComplete, begin, deliveries, firstConfig, freshPath, generationOf, generations, once, redeliver, sink, target, withWorker, worker } from "./notifications.ts";

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
    await redeliver(config, 6);
    const again = await sink.arrival(path, 7);
    assert.deepEqual(generations(path), [1, 2, 3, 4, 5, 6, 6], "nothing was sent once more before");
    assert.equal(again.headers["a2a-notification-token"], "t");
  });
});
