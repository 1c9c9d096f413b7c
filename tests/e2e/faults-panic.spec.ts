// An agent that panics at any step of its run. Without unwinding, the panic ends the isolate with all work in it.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { until, type Task } from "./client.ts";
import { buildKind } from "./harness.ts";
import { assertWhole, faults, freshPath, numbers, sink, STEPS, untilListedAsEnded, withWorker, type Run } from "./runs.ts";
import { Follower, attemptOf, doneBy, undisturbed } from "./steps.ts";

// On the stable build a panic ends its isolate: open requests are never answered, and a dead stream is only noticed at its
// next heartbeat.
describe("an agent that panics", () => {
  withWorker({ MAX_ATTEMPTS: "100" });
  const endsIsolate = buildKind !== "unwind";
  const soon = () => AbortSignal.timeout(endsIsolate ? 2_000 : 20_000);
  const look = (id: string) => faults.call<Task>("GetTask", { id }, soon()).catch(() => undefined);

  for (const step of numbers) {
    // In the stable build, a task that ends its isolate before its first step leaves no trace.
    test(`before step ${step} goes on there, with no step done twice that was done`, { skip: endsIsolate && step === 1 }, async () => {
      const path = freshPath();
      sink.plan(`${path}/${step - 1}`, "hold");
      const { id } = await faults.sendForTask(`steps ${STEPS} ${sink.url}${path} panic ${step}`, { returnImmediately: true });
      const follower = endsIsolate ? Follower.fleeting(faults.endpoint, id) : Follower.persistent(faults.endpoint, id);
      if (step > 1) {
        const held = await sink.arrival(`${path}/${step - 1}`);
        await until(async () => follower.seen.length, (count) => count > 0);
        await held.answer();
      }
      const ended = await until(() => look(id), (task) => task?.status.state === "TASK_STATE_COMPLETED");
      if (endsIsolate) follower.leave();
      await follower.done;
      const task = await assertWhole({ id, path }, follower.seen);
      assert.deepEqual(ended, task);
      assert.equal(attemptOf(task), 2);
      const first = numbers.slice(0, step - 1).map((number) => `${number}@1`);
      const second = numbers.slice(step - 1).map((number) => `${number}@2`);
      assert.deepEqual(doneBy(sink.arrivals(path)), [...first, ...second]);
      if (!endsIsolate) assert.deepEqual(follower.seen.map(({ id }) => id), undisturbed(STEPS).map((_, index) => index + 1));
    });
  }

  test("in several tasks at once, with others at work and nobody asking, stops none of them", async () => {
    const path = freshPath();
    const runs = await Promise.all(
      [0, ...numbers, 0].map(async (step, index) => {
        const text = `steps ${STEPS} ${sink.url}${path}/${index}${step === 0 ? "" : ` panic ${step}`}`;
        const answered = await faults.send(text, { returnImmediately: true }, soon()).catch(() => undefined);
        // A send whose isolate ended may have left no task, or a task whose id its client does not know.
        const first = sink.arrivals(`${path}/${index}`)[0];
        return { path: `${path}/${index}`, id: answered?.task?.id ?? first?.json<{ task: string }>().task };
      }),
    );
    const begun = runs.filter((run): run is Run => run.id !== undefined);
    assert.ok(begun.length >= (endsIsolate ? 1 : runs.length));
    await untilListedAsEnded(begun.map(({ id }) => id));
    for (const run of begun) await assertWhole(run);
  });
});
