// The process is killed at every step of a run. Afterwards, a client must see the same as after an undisturbed run, and no
// finished step may be repeated.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { untilEnded } from "./client.ts";
import {
  assertWhole, begin, faults, freshPath, killAndRestart, numbers, sink, STEPS, untilListedAsEnded, withWorker, type Run,
} from "./runs.ts";
import { cutsOf, VERSIONS } from "./speech.ts";
import { Follower, attemptOf, doneBy, undisturbed } from "./steps.ts";

const paces: [string, Record<string, string>][] = [
  ["with events stored one by one", { EVENT_INTERVAL_MS: "0" }],
  ["with events stored in batches", { EVENT_INTERVAL_MS: "200" }],
];

for (const [pace, vars] of paces) {
  describe(`a killed process, ${pace}`, () => {
    withWorker(vars);

    for (const step of numbers) {
      test(`at step ${step} loses nothing and repeats no step that was done`, async () => {
        // Four runs whose step is under way at the kill, four whose step was just answered; of each, two are read afterwards
        // and two are not. At a third of the steps, there is also one run of each for an older version.
        const older = VERSIONS.slice(1).filter((version) => cutsOf(version, numbers).includes(step));
        const begun = () => [...[0, 1, 2, 3].map(() => begin({ held: [step] })), ...older.map((version) => begin({ held: [step], version }))];
        const [held, answered] = [begun(), begun()];
        const interrupted = await Promise.all(held);
        const answering = await Promise.all(answered);
        const runs = [...interrupted, ...answering];
        const witnesses = new Map(runs.map((run) => [run, Follower.fleeting(faults.endpoint, run.id, run.version === "0.3" ? "0.3" : "1.0")]));
        const arrivals = await Promise.all(runs.map(({ path }) => sink.arrival(`${path}/${step}`)));
        await Promise.all(arrivals.slice(interrupted.length).map((arrival) => arrival.answer()));
        await killAndRestart();

        const isAsked = (_: Run, index: number) => index % 2 === 0;
        await Promise.all(runs.filter(isAsked).map(({ id }) => untilEnded(faults, id)));
        await untilListedAsEnded(runs.map(({ id }) => id));
        for (const run of runs) {
          const witness = witnesses.get(run);
          await witness?.done;
          const task = await assertWhole(run, witness?.seen ?? []);
          const done = doneBy(sink.arrivals(run.path));
          if (interrupted.includes(run)) {
            assert.equal(attemptOf(task), 2);
            const expected = [...numbers.slice(0, step).map((number) => `${number}@1`), ...numbers.slice(step - 1).map((number) => `${number}@2`)];
            assert.deepEqual(done, expected, "the step that was under way is done twice, all others once");
          } else {
            assert.ok(done.length <= STEPS + 1, `at most one step is done twice: ${done.join(" ")}`);
            assert.ok(attemptOf(task) <= 2);
          }
        }
      });
    }
  });
}

describe("a process that is killed again and again", () => {
  withWorker({ MAX_ATTEMPTS: "100" });

  test("shows a client that follows each event once", async () => {
    const run = await begin({ held: numbers });
    const followers = [Follower.persistent(faults.endpoint, run.id), Follower.persistent(faults.endpoint, run.id)];
    for (const step of numbers) {
      await sink.arrival(`${run.path}/${step}`);
      await killAndRestart();
    }
    await Promise.all(followers.map(({ done }) => done));
    const task = await assertWhole(run, ...followers.map(({ seen }) => seen));
    for (const { seen, streams } of followers) {
      assert.deepEqual(seen.map(({ id }) => id), undisturbed(STEPS).map((_, index) => index + 1));
      assert.ok(streams > 1);
    }
    assert.equal(attemptOf(task), 1 + STEPS);
    assert.deepEqual(numbers.map((step) => sink.count(`${run.path}/${step}`)), numbers.map(() => 2));
  });

  test("at the same step does no other one twice", async () => {
    const path = freshPath();
    sink.plan(`${path}/4`, "hold", "hold", "hold");
    const { id } = await faults.sendForTask(`steps ${STEPS} ${sink.url}${path}`, { returnImmediately: true });
    for (const nth of [1, 2, 3]) {
      // Without a request, the alarm continues the task.
      await sink.arrival(`${path}/4`, nth);
      await killAndRestart();
    }
    await untilListedAsEnded([id]);
    const task = await assertWhole({ id, path });
    assert.equal(attemptOf(task), 4);
    assert.deepEqual(numbers.map((step) => sink.count(`${path}/${step}`)), [1, 1, 1, 4, 1, 1, 1, 1, 1, 1]);
  });
});
