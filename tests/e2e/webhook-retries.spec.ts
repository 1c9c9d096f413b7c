// Failing notifications (spec §4.3): which are sent again and when, which are given up, and when a webhook is suspended.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { until, untilEnded } from "./client.ts";
import {
  assertComplete, begin, configsOf, deliveries, demo, firstConfig, freshPath, generationOf, generations, redeliver,
  register, sink, withWorker, worker, type Deliveries,
} from "./notifications.ts";

/** Waits for all events of another task: notifications to earlier webhooks would have arrived before them. */
async function quiet(): Promise<void> {
  const path = freshPath();
  await assertComplete(await begin("chunks", path), path);
}

describe("notifications", () => {
  withWorker({ WEBHOOK_TIMEOUT_MS: "2500", WEBHOOK_ATTEMPTS: "3" });

  test("that fail are sent again, and nothing before them (§4.3)", async () => {
    for (const [deed, error] of [
      [{ status: 500 }, /500/],
      [{ status: 503 }, /503/],
      [{ status: 408 }, /408/],
      [{ status: 425 }, /425/],
      [{ status: 429, headers: { "retry-after": "0" } }, /429/],
      ["drop", /./],
      ["hold", /no answer within 2500 ms/],
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
      await quiet();
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
    await quiet();
    assert.equal(sink.count(path), 1);
  });
});
