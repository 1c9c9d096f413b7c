// An agent that panics at any step of its run: its run goes on there, and nothing else is disturbed.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { until, type Task } from "./client.ts";
import { assertWhole, faults, freshPath, numbers, sink, STEPS, untilListedAsEnded, withWorker } from "./runs.ts";
import { Follower, attemptOf, doneBy, undisturbed } from "./steps.ts";

describe("an agent that panics", () => {
  withWorker({ MAX_ATTEMPTS: "100" });
  const look = (id: string) => faults.call<Task>("GetTask", { id });

  for (const step of numbers) {
    test(`before step ${step} goes on there, with no step done twice that was done`, async () => {
      const path = freshPath();
      sink.plan(`${path}/${step - 1}`, "hold");
      const { id } = await faults.sendForTask(`steps ${STEPS} ${sink.url}${path} panic ${step}`, { returnImmediately: true });
      const follower = Follower.persistent(faults.endpoint, id);
      if (step > 1) {
        const held = await sink.arrival(`${path}/${step - 1}`);
        await until(async () => follower.seen.length, (count) => count > 0);
        await held.answer();
      }
      const ended = await until(() => look(id), (task) => task.status.state === "TASK_STATE_COMPLETED");
      await follower.done;
      const task = await assertWhole({ id, path }, follower.seen);
      assert.deepEqual(ended, task);
      assert.equal(attemptOf(task), 2);
      const first = numbers.slice(0, step - 1).map((number) => `${number}@1`);
      const second = numbers.slice(step - 1).map((number) => `${number}@2`);
      assert.deepEqual(doneBy(sink.arrivals(path)), [...first, ...second]);
      assert.deepEqual(follower.seen.map(({ id }) => id), undisturbed(STEPS).map((_, index) => index + 1));
    });
  }

  test("in several tasks at once, with others at work and nobody asking, stops none of them", async () => {
    const path = freshPath();
    const runs = await Promise.all(
      [0, ...numbers, 0].map(async (step, index) => {
        const text = `steps ${STEPS} ${sink.url}${path}/${index}${step === 0 ? "" : ` panic ${step}`}`;
        const { id } = await faults.sendForTask(text, { returnImmediately: true });
        return { path: `${path}/${index}`, id };
      }),
    );
    await untilListedAsEnded(runs.map(({ id }) => id));
    for (const run of runs) await assertWhole(run);
  });
});
