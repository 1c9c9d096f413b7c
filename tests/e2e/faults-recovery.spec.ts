// Where an interrupted run continues: after a stop like in a deploy, after an eviction, and as often as `MAX_ATTEMPTS` and
// the `recovery` of its agent allow.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { Agent, followUp, textOf, until, untilEnded } from "./client.ts";
import {
  assertWhole, begin, faults, freshPath, killAndRestart, numbers, sink, STEPS, untilListedAsEnded, withWorker, worker,
} from "./runs.ts";
import { Follower, artifactOf, attemptOf, doneBy, logOf, tell, undisturbed, wrongLog } from "./steps.ts";

describe("a process that is stopped and started again", () => {
  withWorker({});

  test("at any step, as a deploy does it, lets every run go on where it was", async () => {
    const runs = await Promise.all(numbers.map((step) => begin({ held: [step] })));
    const followers = runs.map(({ id }) => Follower.persistent(faults.endpoint, id));
    await Promise.all(runs.map(({ path }, index) => sink.arrival(`${path}/${numbers[index]}`)));
    await worker.restart();
    await untilListedAsEnded(runs.map(({ id }) => id));
    for (const [index, run] of runs.entries()) {
      const follower = followers[index];
      await follower?.done;
      const task = await assertWhole(run, follower?.seen ?? []);
      assert.equal(follower?.seen.length, undisturbed(STEPS).length);
      assert.equal(attemptOf(task), 2);
      assert.equal(sink.arrivals(run.path).length, STEPS + 1);
    }
  });
});

// An object with a run under way cannot be evicted here: `evict` waits for the end of the run.
describe("an object that is evicted", () => {
  withWorker({});

  for (const webSockets of ["hibernate", "close"] as const) {
    test(`between two turns goes on there, its sockets ${webSockets === "close" ? "closed" : "open"} (§3.4.3)`, async () => {
      const path = freshPath();
      const asked = await faults.sendForTask(`ask after 3 ${sink.url}${path}`);
      assert.equal(asked.status.state, "TASK_STATE_INPUT_REQUIRED");
      const follower = Follower.persistent(faults.endpoint, asked.id);
      await until(async () => follower.seen.length, (count) => count === 8);
      await worker.evict(asked.id, webSockets);
      const ended = await faults.sendForTask(followUp(asked, "blue"));
      assert.equal(ended.status.state, "TASK_STATE_COMPLETED");
      assert.equal(textOf(ended.artifacts?.[1]), "blue");
      await follower.done;
      const log = await logOf(faults.endpoint, asked.id);
      assert.deepEqual(wrongLog(log, follower.seen), []);
      assert.equal(follower.seen.length, log.length);
      assert.deepEqual(doneBy(sink.arrivals(path)), ["1@1", "2@1", "3@1"]);
      assert.equal(attemptOf(ended), 1);
    });
  }
});

describe("a run that must not go on", () => {
  withWorker({ MAX_ATTEMPTS: "3" });

  test("after its last attempt fails and says so", async () => {
    const path = freshPath();
    sink.plan(`${path}/2`, "hold", "hold", "hold", "hold");
    const { id } = await faults.sendForTask(`steps ${STEPS} ${sink.url}${path}`, { returnImmediately: true });
    for (const nth of [1, 2, 3]) {
      await sink.arrival(`${path}/2`, nth);
      await killAndRestart();
    }
    await untilListedAsEnded([id]);
    const task = await faults.getTask(id);
    assert.equal(task.status.state, "TASK_STATE_FAILED");
    assert.match(textOf(task.status.message), /^interrupted: .*, in each of 3 attempts$/);
    assert.equal(attemptOf(task), 3);
    assert.deepEqual(doneBy(sink.arrivals(path)), ["1@1", "2@1", "2@2", "2@3"]);
    const log = await logOf(faults.endpoint, id);
    assert.deepEqual(log.map(tell).slice(0, -1), undisturbed(STEPS).slice(0, 4), "what was said before stays");
    assert.deepEqual(wrongLog(log), []);
  });

  test("whose agent says recovery = fail, fails at once", async () => {
    const fragile = new Agent(`${worker.url}/fragile`);
    const [asked, unasked] = [await begin({ held: [3], agent: fragile }), await begin({ held: [3], agent: fragile })];
    for (const { path } of [asked, unasked]) await sink.arrival(`${path}/3`);
    await killAndRestart();
    await untilEnded(fragile, asked.id);
    await untilListedAsEnded([asked.id, unasked.id], fragile);
    for (const { id, path } of [asked, unasked]) {
      const task = await fragile.getTask(id);
      assert.equal(task.status.state, "TASK_STATE_FAILED");
      assert.match(textOf(task.status.message), /^interrupted: /);
      assert.equal(textOf(task.artifacts?.[0]), artifactOf(2), "what was done before stays");
      assert.deepEqual(doneBy(sink.arrivals(path)), ["1@1", "2@1", "3@1"]);
    }
  });

  test("whose agent says recovery = restart, is done again from its start", async () => {
    const stubborn = new Agent(`${worker.url}/stubborn`);
    const run = await begin({ held: [3], agent: stubborn });
    const follower = Follower.persistent(stubborn.endpoint, run.id);
    await sink.arrival(`${run.path}/3`);
    await killAndRestart();
    await follower.done;
    const task = await stubborn.getTask(run.id);
    assert.equal(task.status.state, "TASK_STATE_COMPLETED");
    assert.equal(attemptOf(task), 2);
    assert.equal(textOf(task.artifacts?.[0]), artifactOf(STEPS), "the second attempt replaces what the first one gave");
    assert.deepEqual(doneBy(sink.arrivals(run.path)), ["1@1", "2@1", "3@1", ...numbers.map((number) => `${number}@2`)]);
    const log = await logOf(stubborn.endpoint, run.id);
    assert.deepEqual(log.map(tell), [...undisturbed(STEPS).slice(0, 6), ...undisturbed(STEPS).slice(1)]);
    assert.deepEqual(wrongLog(log, follower.seen), []);
    assert.equal(follower.seen.length, log.length);
  });
});
