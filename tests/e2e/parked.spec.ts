// Parked runs, which wait outside of memory: their tasks meanwhile, and the events that continue them.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { Role, TaskState } from "@a2a-js/sdk";
import { ClientFactory } from "@a2a-js/sdk/client";
import { alarmOf } from "../upgrade/fixture.ts";
import { Agent, followUp, isTerminal, message, textOf, until, untilEnded, type Task } from "./client.ts";
import { startWorker, type Worker } from "./harness.ts";
import { Sink } from "./sink.ts";
import { Follower, attemptOf, doneBy, logOf, tell, wrongLog } from "./steps.ts";

const DAY_MS = 86_400_000;

let worker: Worker;
let sink: Sink;
let patient: Agent;
let storage: string;
before(async () => {
  sink = await Sink.open();
  storage = mkdtempSync(join(tmpdir(), "a2a-edge-parked-"));
  worker = await startWorker({ persist: storage, vars: { KEEP_ALIVE_MS: "60000", BLOCKING_LIMIT_MS: "600000" } });
  patient = new Agent(`${worker.url}/patient`);
});
after(async () => {
  await worker.stop();
  sink.close();
  rmSync(storage, { recursive: true, force: true });
});

/** Begins a task, and waits for the message of its wait. */
async function begin(text: string): Promise<Task> {
  const { id } = await patient.sendForTask(text, { returnImmediately: true });
  return until(() => patient.getTask(id), ({ status }) => textOf(status.message) === "waiting");
}

/** Waits until a task is listed as ended; listing does not call its object. */
async function untilListedAsEnded({ id }: { id: string }): Promise<void> {
  const list = () => patient.listTasks({ pageSize: 100 });
  await until(list, ({ tasks }) => tasks.some((task) => task.id === id && isTerminal(task.status.state)));
}

const msBetween = (earlier: Task, later: Task): number => Date.parse(later.status.timestamp) - Date.parse(earlier.status.timestamp);

describe("a parked run", () => {
  test("lets its object be evicted, and goes on by its alarm alone", async () => {
    const begun = await begin("park 4000");
    const follower = Follower.fleeting(patient.endpoint, begun.id);
    await until(async () => follower.seen.length, (count) => count === 2);
    // `evict` waits until the object has no work; a parked run is no work.
    await worker.evict(begun.id);
    await untilListedAsEnded(begun);
    const ended = await patient.getTask(begun.id);
    assert.equal(textOf(ended.status.message), "waited");
    assert.ok(msBetween(begun, ended) >= 4_000);
    assert.equal(attemptOf(ended), 1);
    await follower.done;
    assert.equal(follower.streams, 1, "its socket stays open");
    assert.deepEqual(follower.seen.map(tell), ["SUBMITTED", "WORKING waiting", "COMPLETED waited"]);
  });

  for (const [loss, lose] of [
    ["is killed", () => worker.kill9().then(() => worker.restart())],
    ["is restarted, as a deploy does it", () => worker.restart()],
  ] as const) {
    test(`goes on when the process ${loss} meanwhile, with no step done twice`, async () => {
      const path = `/${randomUUID()}`;
      const { id } = await patient.sendForTask(`steps around 4000 ${sink.url}${path}`, { returnImmediately: true });
      await sink.arrival(`${path}/before/2`);
      await until(() => patient.getTask(id), ({ artifacts }) => textOf(artifacts?.[0]) === "1 ok\n2 ok\n");
      await lose();
      await untilListedAsEnded({ id });
      const ended = await patient.getTask(id);
      assert.equal(ended.status.state, "TASK_STATE_COMPLETED");
      assert.deepEqual(doneBy(sink.arrivals(path)), ["1@1", "2@1", "1@1", "2@1"]);
      const log = await logOf(patient.endpoint, id);
      assert.deepEqual(wrongLog(log), []);
      assert.equal(log.length, 10);
    });
  }

  test("goes on exactly once, whenever the process is killed", async () => {
    const tasks = await Promise.all([100, 400, 700, 1_000].map((ms) => patient.sendForTask(`park ${ms} times ${1_100 - ms}`, { returnImmediately: true })));
    const followers = tasks.map(({ id }) => Follower.persistent(patient.endpoint, id));
    for (const pause of [0, 150, 90, 200]) {
      await new Promise((resolve) => setTimeout(resolve, pause));
      await worker.kill9();
      await worker.restart();
    }
    for (const [index, { id }] of tasks.entries()) {
      await untilListedAsEnded({ id });
      const log = await logOf(patient.endpoint, id);
      assert.deepEqual(log.map(tell), ["SUBMITTED", "WORKING one", "WORKING two", "WORKING three", "COMPLETED waited"]);
      await followers[index]?.done;
      assert.deepEqual(wrongLog(log, followers[index]?.seen ?? []), []);
    }
  });
});

describe("a task whose run is parked for days", () => {
  test("is shown, followed and listed, and has one alarm, at the end of the wait (§3.1.3, §3.1.6)", async () => {
    // A blocking send does not wait for the park: the limit is longer than a test may take.
    const begun = await patient.sendForTask("park 3 days");
    assert.equal(begun.status.state, "TASK_STATE_WORKING");
    await worker.evict(begun.id);
    assert.deepEqual(await patient.getTask(begun.id), begun);
    const terms = new Agent(patient.endpoint, { "after-generation": "2", prefer: "wait=1" });
    assert.deepEqual(await terms.getTask(begun.id), begun);
    const follower = Follower.persistent(patient.endpoint, begun.id);
    await until(async () => follower.seen.length, (count) => count === 2);
    await worker.evict(begun.id);
    const { tasks } = await patient.listTasks({ contextId: begun.contextId, status: "TASK_STATE_WORKING" });
    assert.deepEqual(tasks.map(({ id }) => id), [begun.id]);

    await worker.stop();
    const late = Math.round(alarmOf(storage, begun.id)) - (Date.parse(begun.status.timestamp) + 3 * DAY_MS);
    assert.ok(late >= 0 && late < 10_000, `the alarm is ${late} ms late`);
    await worker.restart();
    assert.deepEqual(await patient.getTask(begun.id), begun);
    const canceled = await patient.cancelTask(begun.id);
    assert.equal(canceled.status.state, "TASK_STATE_CANCELED");
    await follower.done;
    assert.deepEqual(follower.seen.map(tell), ["SUBMITTED", "WORKING waiting", "CANCELED"]);
    await assert.rejects(patient.send(followUp(begun, "more")), { code: -32004 });
  });

  test("tells its webhooks when it goes on (§4.3)", async () => {
    const path = `/${randomUUID()}`;
    const configuration = { returnImmediately: true, taskPushNotificationConfig: { url: `${sink.url}${path}` } };
    const { task } = await patient.call<{ task: Task }>("SendMessage", { message: message("park 3000"), configuration });
    await sink.arrival(path, 2);
    await worker.evict(task.id);
    const last = await sink.arrival(path, 3);
    assert.match(last.body, /TASK_STATE_COMPLETED/);
    assert.deepEqual(sink.arrivals(path).map(({ headers }) => headers["a2a-generation"]), ["1", "2", "3"]);
  });
});

describe("a message to a task whose run is parked", () => {
  test("wakes a run that waits for one (§3.4.3)", async () => {
    const begun = await begin(`park ${DAY_MS} or message`);
    await worker.evict(begun.id);
    const ended = await patient.sendForTask(followUp(begun, "go on"));
    assert.equal(ended.status.state, "TASK_STATE_COMPLETED");
    assert.deepEqual(ended.history?.map(textOf), [`park ${DAY_MS} or message`, "go on", "waiting"]);
  });

  test("is kept for a run that does not, once, and is not waited for (§3.4.3)", async () => {
    const begun = await begin("park 4 days");
    await worker.evict(begun.id);
    const said = followUp(begun, "are you there?");
    const [once, twice] = [await patient.sendForTask(said), await patient.sendForTask(said)];
    assert.equal(once.status.state, "TASK_STATE_WORKING");
    assert.deepEqual(once, twice);
    await worker.kill9();
    await worker.restart();
    const found = await patient.getTask(begun.id);
    assert.deepEqual(found, once);
    assert.equal(found.history?.filter((kept) => textOf(kept) === "are you there?").length, 1);
    await patient.cancelTask(begun.id);
  });

  test("does not keep it from going on at its time", async () => {
    const begun = await begin("park 4000");
    await patient.send(followUp(begun, "well?"), { returnImmediately: true });
    const ended = await untilEnded(patient, begun.id);
    assert.equal(textOf(ended.status.message), "waited");
    assert.ok(msBetween(begun, ended) >= 3_900);
  });
});

describe("a client", () => {
  test("that sends and waits gets the end of a short wait (§3.1.1)", async () => {
    const ended = await patient.sendForTask("park 1200");
    assert.equal(textOf(ended.status.message), "waited");
  });

  test("the official one, follows a run through its wait (§3.1.2)", async () => {
    const client = await new ClientFactory().createFromUrl(`${worker.url}/patient/`, ".well-known/agent-card.json");
    const part = { content: { $case: "text" as const, value: "park 2000" }, metadata: undefined, filename: "", mediaType: "" };
    const sent = {
      messageId: randomUUID(), contextId: "", taskId: "", role: Role.ROLE_USER, metadata: undefined, extensions: [], referenceTaskIds: [], parts: [part],
    };
    const states = [];
    let id = "";
    for await (const { payload } of client.sendMessageStream({ tenant: "", message: sent, configuration: undefined, metadata: undefined })) {
      if (payload?.$case === "task") id = payload.value.id;
      if (payload?.$case === "task" || payload?.$case === "statusUpdate") states.push(payload.value.status?.state);
      if (states.length === 2) await worker.evict(id);
    }
    assert.deepEqual(states, [TaskState.TASK_STATE_SUBMITTED, TaskState.TASK_STATE_WORKING, TaskState.TASK_STATE_COMPLETED]);
  });
});

test("a parked task counts for the quota, and is never cleaned up", async () => {
  const strict = await startWorker({ vars: { MAX_ACTIVE_TASKS: "1", RETENTION_MS: "1", MAX_FINISHED_TASKS: "1" } });
  try {
    const agent = new Agent(`${strict.url}/patient`);
    const finished = [await agent.sendForTask("park 1"), await agent.sendForTask("park 1")];
    const begun = await agent.sendForTask("park 3 days");
    await assert.rejects(agent.send("hello"), { reason: "TOO_MANY_TASKS" });
    await strict.cron();
    // The clean-up has finished by now.
    await until(async () => (await agent.listTasks()).tasks.map(({ id }) => id), (ids) => !finished.some(({ id }) => ids.includes(id)));
    assert.deepEqual(await agent.getTask(begun.id), begun);
    await agent.cancelTask(begun.id);
    await until(() => agent.send("hello").catch(() => undefined), (answer) => answer !== undefined);
  } finally {
    await strict.stop();
  }
});
