// Runs that are interrupted: the process killed at every boundary of a run, the agent panicking, the object evicted. What
// a client sees afterwards must be what it would have seen of an undisturbed run, and what was done must not be done again.
import assert from "node:assert/strict";
import { after, afterEach, before, describe, test } from "node:test";
import { Agent, followUp, isTerminal, message, textOf, until, untilEnded, type Task } from "./client.ts";
import { buildKind, startWorker, type Worker } from "./harness.ts";
import { Sink } from "./sink.ts";
import { Follower, artifactOf, attemptOf, doneBy, logOf, tell, undisturbed, wrongLog, wrongSteps } from "./steps.ts";
import type { StreamEvent } from "./stream.ts";

const STEPS = 10;
const numbers = Array.from({ length: STEPS }, (_, index) => index + 1);

let sink: Sink;
let worker: Worker;
let faults: Agent;
before(async () => {
  sink = await Sink.open();
});
after(() => sink.close());
afterEach(() => sink.forgetPlans());

/** Runs the tests of a block against a Worker of their own. */
function withWorker(vars: Record<string, string>): void {
  before(async () => {
    worker = await startWorker({ vars: { KEEP_ALIVE_MS: "1000", ...vars } });
    faults = new Agent(`${worker.url}/faults`);
  });
  after(() => worker.stop());
}

async function killAndRestart(): Promise<void> {
  await worker.kill9();
  await worker.restart();
}

let paths = 0;

/** A path of the sink that nobody has used. */
function freshPath(): string {
  paths += 1;
  return `/run-${paths}`;
}

/** A task that works in steps, and where it does. */
interface Run {
  id: string;
  path: string;
}

/** Begins a run of ten steps; `held` are steps that the sink holds, the first time that they come. */
async function begin({ held, agent = faults }: { held: number[]; agent?: Agent }): Promise<Run> {
  const path = freshPath();
  for (const step of held) sink.plan(`${path}/${step}`, "hold");
  const { id } = await agent.sendForTask(`steps ${STEPS} ${sink.url}${path}`, { returnImmediately: true });
  return { id, path };
}

/** Waits until every one of these tasks is listed as ended, which wakes none of them. */
async function untilListedAsEnded(ids: string[], agent = faults): Promise<void> {
  // Where a panic ends the isolate, a request that is open there is never answered.
  const list = () => agent.call<{ tasks: Task[] }>("ListTasks", { pageSize: 100 }, AbortSignal.timeout(2_000));
  const ended = () => list().then(({ tasks }) => tasks.filter(({ status }) => isTerminal(status.state)).map(({ id }) => id), (): string[] => []);
  await until(ended, (found) => ids.every((id) => found.includes(id)));
}

/** Asserts that a run came to what an undisturbed one comes to, and that nothing that was seen of it is lost. */
async function assertWhole({ id, path }: Run, ...seen: StreamEvent[][]): Promise<Task> {
  const task = await faults.getTask(id);
  assert.equal(task.status.state, "TASK_STATE_COMPLETED", textOf(task.status.message));
  assert.equal(textOf(task.artifacts?.[0]), artifactOf(STEPS));
  assert.equal(task.artifacts?.length, 1);
  assert.deepEqual(wrongSteps(sink.arrivals(path), STEPS), []);
  const log = await logOf(faults.endpoint, id);
  assert.deepEqual(log.map(tell), undisturbed(STEPS));
  assert.deepEqual(wrongLog(log, ...seen), []);
  return task;
}

const paces: [string, Record<string, string>][] = [
  ["with events stored one by one", { EVENT_INTERVAL_MS: "0" }],
  ["with events stored in batches", { EVENT_INTERVAL_MS: "200" }],
];

for (const [pace, vars] of paces) {
  describe(`a killed process, ${pace}`, () => {
    withWorker(vars);

    for (const step of numbers) {
      test(`at step ${step} loses nothing and repeats no step that was done`, async () => {
        // Four runs whose step is under way at the kill, four whose step was just answered; of each, two are asked for
        // afterwards and two are not.
        const [held, answered] = [[0, 1, 2, 3], [0, 1, 2, 3]].map((all) => all.map(() => begin({ held: [step] })));
        const interrupted = await Promise.all(held ?? []);
        const answering = await Promise.all(answered ?? []);
        const runs = [...interrupted, ...answering];
        const witnesses = new Map(runs.map((run) => [run, Follower.fleeting(faults.endpoint, run.id)]));
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
      // Without a request, the alarm has the task go on.
      await sink.arrival(`${path}/4`, nth);
      await killAndRestart();
    }
    await untilListedAsEnded([id]);
    const task = await assertWhole({ id, path });
    assert.equal(attemptOf(task), 4);
    assert.deepEqual(numbers.map((step) => sink.count(`${path}/${step}`)), [1, 1, 1, 4, 1, 1, 1, 1, 1, 1]);
  });
});

// On the stable build a panic ends its isolate: requests that are open there are never answered, and a stream is found to be
// dead at its next heartbeat.
describe("an agent that panics", () => {
  withWorker({ MAX_ATTEMPTS: "100" });
  const endsIsolate = buildKind !== "unwind";
  const soon = () => AbortSignal.timeout(2_000);
  const look = (id: string) => faults.call<Task>("GetTask", { id }, soon()).catch(() => undefined);

  for (const step of numbers) {
    // There, no trace is left of a task that ends its isolate before it did anything.
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
        // A send whose isolate ended may have left no task, or one that its client does not know of.
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

// An object whose run is under way cannot be evicted here: `evict` waits for the end of the run.
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
    // What goes on does so by now.
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

  /** A run of three steps that asks something then, held at its second step. */
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
