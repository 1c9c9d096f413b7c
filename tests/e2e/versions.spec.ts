// Two versions at the same time: data of a newer version is refused with a clear error, left unchanged, and used again when a
// version that reads it is back (docs/upgrades.md).
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, afterEach, before, describe, test } from "node:test";
import { alarmOf, readFixture, releases, removeAlarm, restoreFixture, rowsOf } from "../upgrade/fixture.ts";
import { sceneVars, type Answers, type Shown } from "../upgrade/scenes.ts";
import { wrapBuild } from "../upgrade/wrapped.ts";
import { Agent, RpcError, followUp, message, until, untilEnded, type Reply, type Task } from "./client.ts";
import { buildDir, startWorker as start, type Worker, type WorkerOptions } from "./harness.ts";
import { editObject } from "./sabotage.ts";
import { Sink } from "./sink.ts";
import { NoStream, contents, kindOf, sendStreaming, subscribe } from "./stream.ts";

const skewed = await wrapBuild(buildDir, "skewed.js");
after(() => rmSync(skewed, { recursive: true, force: true }));
const startWorker = (options: WorkerOptions = {}): Promise<Worker> => start({ build: skewed, ...options });

const isRefused = (error: RpcError): boolean => error.code === -32603 && error.reason === "UNAVAILABLE" && /try again later/.test(error.message);
const isNoStream = ({ status, code, body }: NoStream): boolean => status === 200 && code === -32603 && /try again later/.test(body.error?.message ?? "");

/** All operations on a task are refused while this version cannot read it. */
async function assertRefused(agent: Agent, task: Task): Promise<void> {
  const hook = { taskId: task.id, url: "http://127.0.0.1:9999/hook" };
  await assert.rejects(agent.getTask(task.id), isRefused);
  await assert.rejects(agent.send(followUp(task, "green")), isRefused);
  await assert.rejects(agent.cancelTask(task.id), isRefused);
  await assert.rejects(agent.call("CreateTaskPushNotificationConfig", hook), isRefused);
  await assert.rejects(agent.call("ListTaskPushNotificationConfigs", { taskId: task.id }), isRefused);
  await assert.rejects(subscribe(agent.endpoint, task.id), isNoStream);
  await assert.rejects(sendStreaming(agent.endpoint, followUp(task, "green")), isNoStream);

  const headers = { "a2a-version": "1.0", "content-type": "application/json" };
  const rest = await fetch(`${agent.endpoint}/tasks/${task.id}`, { headers });
  assert.deepEqual([rest.status, rest.headers.get("retry-after")], [503, "5"]);
  assert.match(await rest.text(), /UNAVAILABLE/);
  const stream = await fetch(`${agent.endpoint}/tasks/${task.id}:subscribe`, { headers });
  assert.deepEqual([stream.status, stream.headers.get("retry-after")], [503, "5"]);
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "GetTask", params: { id: task.id } });
  const rpc = await fetch(agent.endpoint, { method: "POST", headers, body });
  assert.deepEqual([rpc.status, rpc.headers.get("retry-after")], [200, "5"]);
  assert.equal(((await rpc.json()) as Reply).error?.code, -32603);
}

describe("what a newer version has stored", () => {
  const release = releases.at(-1) ?? "";
  const vars = { ...sceneVars, KEEP_ALIVE_MS: "1000", WEBHOOK_RETRY_MS: "100", WEBHOOK_TIMEOUT_MS: "20000", INDEX_WAIT_MS: "30000" };
  let worker: Worker;
  let sink: Sink;
  let storage: string;
  let answers: Answers;
  const agentOf = ({ agent }: { agent: string }): Agent => new Agent(`${worker.url}/${agent}`);
  const scene = (name: string): Shown => {
    const shown = answers.tasks[name];
    assert.ok(shown !== undefined, name);
    return shown;
  };

  /** Sets the number of a form to one that no version has yet, and back. */
  const number: [string, string] = ["UPDATE log SET schema = schema + 1000000 WHERE seq = 1", "UPDATE log SET schema = schema - 1000000 WHERE seq = 1"];
  /** The change to each object, and its reversal. */
  const changes: Record<string, [string, string]> = {
    finished: number,
    working: number,
    workingToCancel: number,
    input: [`INSERT INTO log (seq, generation, more, marks, times, lines) VALUES (1000, 3, 0, '-', '0', '{"dream":{}}\n')`, "DELETE FROM log WHERE seq = 1000"],
    webhooks: [`UPDATE webhook SET body = replace(body, '{"config"', '{"dream"')`, `UPDATE webhook SET body = replace(body, '{"dream"', '{"config"')`],
  };
  const change = (which: 0 | 1): void => {
    for (const [name, statements] of Object.entries(changes)) editObject(storage, scene(name).task.id, (database) => database.exec(statements[which]));
  };
  const stored = (): string[] => Object.keys(changes).map((name) => rowsOf(storage, scene(name).task.id));
  let untouched: string[];

  before(async () => {
    sink = await Sink.open();
    storage = mkdtempSync(join(tmpdir(), "a2a-edge-versions-"));
    await (await startWorker({ persist: storage, vars })).stop();
    restoreFixture(release, storage, sink.url);
    answers = readFixture<Answers>(release, sink.url).answers;
    removeAlarm(storage, scene("webhooks").task.id);
    change(0);
    untouched = stored();
    worker = await startWorker({ persist: storage, vars });
  });
  after(async () => {
    await worker.stop();
    sink.close();
    rmSync(storage, { recursive: true, force: true });
  });

  test("is refused politely, and asked for later by alarms and the queue", async () => {
    for (const name of ["finished", "working", "input", "webhooks"]) await assertRefused(agentOf(scene(name)), scene(name).task);

    const listing = { contextId: scene("finished").task.contextId };
    const { tasks } = await agentOf(scene("finished")).listTasks(listing);
    assert.deepEqual(tasks.map(({ id }) => id), [scene("finished").task.id]);
    await assert.rejects(agentOf(scene("finished")).listTasks({ ...listing, includeArtifacts: true }), { code: -32603, reason: "UNAVAILABLE" });

    const { task, agent } = scene("webhooks");
    const config = answers.webhooks.find(({ config }) => config.url.endsWith("/failing"))?.config;
    await worker.enqueue("WEBHOOKS", JSON.stringify({ agent, task: task.id, configId: config?.id }));
    await worker.enqueue("WEBHOOKS", JSON.stringify({ format: 1000000, dream: task.id }));
    await until(async () => worker.logs.filter(({ message: line }) => line === "retried after 60 s").length, (count) => count >= 2);

    // No client calls this object, but its alarm has been due since the release was stopped.
    const { id } = scene("workingToCancel").task;
    await until(async () => worker.logs, (logs) => logs.some(({ message: line }) => line.includes(`${id}: opening failed`)));
    // The alarm is set right after that log line, and before the answer to a later request.
    await agentOf(scene("failed")).getTask(scene("failed").task.id);
    const begun = Date.now();
    await worker.stop();
    assert.ok(alarmOf(storage, id) > begun, "the alarm is set again");
    assert.deepEqual(stored(), untouched);
    assert.deepEqual(["/working", "/workingToCancel", "/failing", "/silent"].map((path) => sink.arrivals(path).length), [0, 0, 0, 0]);
  });

  test("is as it was when a version is back that knows it", async () => {
    change(1);
    worker = await startWorker({ persist: storage, vars });
    const { task, log, ...shown } = scene("finished");
    assert.deepEqual(await agentOf(shown).getTask(task.id), task);
    assert.deepEqual(contents(await (await subscribe(agentOf(shown).endpoint, task.id, 0)).rest()), log);
    const ended = await agentOf(scene("input")).sendForTask(followUp(scene("input").task, "green"));
    assert.equal(ended.status.state, "TASK_STATE_COMPLETED");
    for (const name of ["working", "workingToCancel"]) {
      assert.equal((await untilEnded(agentOf(scene(name)), scene(name).task.id)).status.state, "TASK_STATE_COMPLETED");
    }
    assert.deepEqual(await agentOf(scene("webhooks")).getTask(scene("webhooks").task.id), scene("webhooks").task);
    await sink.arrival("/failing", 2);
  });
});

describe("an object of another version than the front Worker", () => {
  let worker: Worker;
  let sink: Sink;
  let demo: Agent;
  const skew = async (what: "" | "commands" | "asks" | "frames" | "header"): Promise<void> => void (await fetch(`${worker.url}/_skew?${what}`));

  afterEach(() => skew(""));
  before(async () => {
    sink = await Sink.open();
    worker = await startWorker();
    demo = new Agent(`${worker.url}/demo`);
  });
  after(async () => {
    await worker.stop();
    sink.close();
  });

  test("does not do what it cannot read, and does it when it is asked again", async () => {
    const task = await demo.sendForTask("ask");
    const fresh = { ...message("hello"), contextId: crypto.randomUUID() };
    await skew("commands");
    await assertRefused(demo, task);
    await assert.rejects(demo.send(fresh), isRefused);
    await assert.rejects(sendStreaming(demo.endpoint, fresh), isNoStream);
    await skew("");
    assert.equal((await demo.listTasks({ contextId: fresh.contextId })).totalSize, 0);
    assert.deepEqual(await demo.getTask(task.id), task);
    assert.equal((await demo.sendForTask(followUp(task, "green"))).status.state, "TASK_STATE_COMPLETED");
    assert.equal((await demo.sendForTask(fresh)).status.state, "TASK_STATE_COMPLETED");
  });

  for (const what of ["commands", "frames"] as const) {
    test(`does not end a stream that has begun, when it knows no ${what} of the other: each event comes once`, async () => {
      const task = await demo.sendForTask("ask");
      const stream = await subscribe(demo.endpoint, task.id, 0);
      const seen = [await stream.next(), await stream.next(), await stream.next()];
      await skew(what);
      const isTold = (line: string): boolean => /a (command|frame) could not be read/.test(line);
      const told = worker.logs.filter(({ message: line }) => isTold(line)).length;
      if (what === "commands") await worker.evict(task.id, "close");
      else await demo.sendForTask(followUp(task, "pink"));
      await until(async () => worker.logs.filter(({ message: line }) => isTold(line)).length, (count) => count >= told + 2);
      await skew("");
      await demo.sendForTask(followUp(task, "green"));
      seen.push(...(await stream.rest()));
      assert.deepEqual(seen.map(({ id }) => id), seen.map((_, index) => index + 1));
      assert.equal(kindOf(seen.at(-1) ?? assert.fail()), "status:COMPLETED");
    });
  }

  test("is told by a message what a follower wants, when it does not know the header for that", async () => {
    await skew("header");
    const stream = await sendStreaming(demo.endpoint, "ask");
    const first = await stream.next();
    const task = first.data.result?.task ?? assert.fail();
    const subscribed = await subscribe(demo.endpoint, task.id, 1);
    const [before, rest] = [await stream.rest(), subscribed.rest()];
    await worker.evict(task.id, "close");
    await demo.sendForTask(followUp(task, "green"));
    assert.deepEqual([first, ...before].map(({ id }) => id), [1, 2, 3]);
    assert.deepEqual((await rest).map(({ id }) => id), [2, 3, 4, 5, 6]);
  });

  test("refuses a post to a callback for now, and takes it when it is asked again", async () => {
    const patient = new Agent(`${worker.url}/patient`);
    const { id } = await patient.sendForTask("callback 60000", { returnImmediately: true });
    const { artifacts } = await until(() => patient.getTask(id), (task) => task.artifacts?.length === 1);
    const { url } = artifacts?.[0]?.parts[0]?.data as { url: string };
    const post = async (): Promise<[number, string | null]> => {
      const answer = await fetch(url, { method: "POST", body: "paid" });
      await answer.text();
      return [answer.status, answer.headers.get("retry-after")];
    };
    await skew("commands");
    assert.deepEqual(await post(), [503, "5"]);
    await skew("");
    assert.deepEqual([await post(), await post()], [[202, null], [404, null]]);
  });

  test("lets webhooks wait, and serves them when it is asked again (§4.3)", async () => {
    await skew("asks");
    const configuration = { taskPushNotificationConfig: { url: `${sink.url}/hook` } };
    await demo.call("SendMessage", { message: message("hello"), configuration });
    await until(async () => worker.logs, (logs) => logs.some(({ message: line }) => line === "retried after 60 s"));
    assert.equal(sink.count("/hook"), 0);
    await skew("");
    const last = await sink.arrival("/hook", 4);
    assert.deepEqual(sink.arrivals("/hook").map(({ headers }) => headers["a2a-generation"]), ["1", "2", "3", "4"]);
    assert.ok(last.body.includes("TASK_STATE_COMPLETED"));
  });
});
