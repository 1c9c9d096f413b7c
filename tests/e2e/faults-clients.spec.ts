// Client requests for an interrupted run: cancels, messages and repeated sends before, during and after a kill.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { Agent, followUp, message, textOf, until, untilEnded } from "./client.ts";
import {
  assertWhole, begin, faults, freshPath, killAndRestart, sink, STEPS, untilListedAsEnded, withWorker, type Run,
} from "./runs.ts";
import { doneBy, logOf, tell, undisturbed, wrongLog, wrongSteps } from "./steps.ts";

describe("a task that is canceled during a step", () => {
  withWorker({});

  test("is canceled at once, and nothing follows, not even after a kill (§3.1.5)", async () => {
    const run = await begin({ held: [3] });
    const other = await begin({ held: [3] });
    const [held] = [await sink.arrival(`${run.path}/3`), await sink.arrival(`${other.path}/3`)];
    const canceled = await faults.cancelTask(run.id);
    assert.equal(canceled.status.state, "TASK_STATE_CANCELED");
    await held.answer({ body: "late" });
    assert.deepEqual(await faults.getTask(run.id), canceled);
    await killAndRestart();
    // If the canceled run continued, it would have shown an effect before the end of the other run.
    await untilListedAsEnded([other.id]);
    assert.deepEqual(await faults.getTask(run.id), canceled);
    assert.deepEqual(doneBy(sink.arrivals(run.path)), ["1@1", "2@1", "3@1"]);
    const log = await logOf(faults.endpoint, run.id);
    assert.deepEqual(log.map(tell), [...undisturbed(STEPS).slice(0, 6), "CANCELED"]);
    await assertWhole(other);
  });

  test("after a kill is canceled, too (§3.1.5)", async () => {
    const path = freshPath();
    sink.plan(`${path}/3`, "hold", "hold");
    const { id } = await faults.sendForTask(`steps ${STEPS} ${sink.url}${path}`, { returnImmediately: true });
    await sink.arrival(`${path}/3`);
    await killAndRestart();
    const canceled = await faults.cancelTask(id);
    assert.equal(canceled.status.state, "TASK_STATE_CANCELED");
    await killAndRestart();
    assert.deepEqual(await faults.getTask(id), canceled);
    assert.equal(sink.count(`${path}/4`), 0);
    assert.deepEqual(wrongLog(await logOf(faults.endpoint, id)), []);
  });
});

describe("two clients and a kill", () => {
  withWorker({});

  /** A run of three steps that then asks a question, held at its second step. */
  async function beginAsking(): Promise<Run> {
    const path = freshPath();
    sink.plan(`${path}/2`, "hold");
    const { id } = await faults.sendForTask(`ask after 3 ${sink.url}${path}`, { returnImmediately: true });
    await sink.arrival(`${path}/2`);
    return { id, path };
  }

  test("lose no message that the working task has taken (§3.4.3)", async () => {
    const run = await beginAsking();
    const task = await faults.getTask(run.id);
    const said = followUp(task, "blue");
    await faults.sendForTask(said, { returnImmediately: true });
    await killAndRestart();
    const ended = await untilEnded(faults, run.id);
    assert.equal(ended.status.state, "TASK_STATE_COMPLETED");
    assert.equal(textOf(ended.artifacts?.find(({ artifactId }) => artifactId === "answer")), "blue");
    assert.deepEqual(ended.history?.filter(({ messageId }) => messageId === said.messageId).length, 1);
    assert.deepEqual(wrongSteps(sink.arrivals(run.path), 3), []);
    assert.deepEqual(await faults.sendForTask(said), ended, "repeating it changes nothing");
  });

  test("take a message that is repeated after the kill once (§3.3.1)", async () => {
    const run = await beginAsking();
    const said = followUp(await faults.getTask(run.id), "green");
    const outcomes = Promise.allSettled([faults.sendForTask(said), faults.sendForTask(said)]);
    await until(() => faults.getTask(run.id), ({ history }) => history?.some(({ messageId }) => messageId === said.messageId) ?? false);
    await killAndRestart();
    await outcomes;
    const [one, other] = await Promise.all([faults.sendForTask(said), faults.sendForTask(said)]);
    assert.deepEqual(one, other);
    assert.equal(one.status.state, "TASK_STATE_COMPLETED");
    assert.deepEqual(one.history?.filter(({ messageId }) => messageId === said.messageId).length, 1);
    assert.equal(textOf(one.artifacts?.find(({ artifactId }) => artifactId === "answer")), "green");
  });

  test("find one task under one Idempotency-Key", async () => {
    const path = freshPath();
    sink.plan(`${path}/5`, "hold");
    const keyed = new Agent(faults.endpoint, { "idempotency-key": `key ${path} ${Date.now()}` });
    const said = message(`steps ${STEPS} ${sink.url}${path}`);
    const sends = Promise.allSettled([keyed.send(said), keyed.send(said)]);
    const { task: id } = (await sink.arrival(`${path}/5`)).json<{ task: string }>();
    await killAndRestart();
    await sends;
    const tasks = await Promise.all([keyed.sendForTask(said), keyed.sendForTask(said)]);
    assert.deepEqual(tasks.map((task) => task.id), [id, id]);
    await assertWhole({ id, path });
  });
});
