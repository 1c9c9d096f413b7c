// Streams whose object cannot store its events, or dies before storing them: the answer reports this.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { Agent, followUp, message, RpcError, type Task } from "./client.ts";
import { startWorker, type Worker } from "./harness.ts";
import { blockObject, editObject, failCommits } from "./sabotage.ts";
import { EventStream, kindOf, NoStream, sendStreaming, subscribe } from "./stream.ts";

const storage = mkdtempSync(join(tmpdir(), "a2a-edge-test-"));
let worker: Worker;
let demo: Agent;
before(async () => {
  worker = await startWorker({ persist: storage });
  demo = new Agent(`${worker.url}/demo`);
});
after(async () => {
  await worker.stop();
  rmSync(storage, { recursive: true, force: true });
});

/** Stops the Worker, changes its storage, and starts it again. */
async function sabotage(work: () => void): Promise<void> {
  await worker.kill9();
  work();
  await worker.restart();
}

/** The texts of the client's messages in a task. */
function said(task: Task): (string | undefined)[] {
  return (task.history ?? []).filter(({ role }) => role === "ROLE_USER").map(({ parts }) => parts[0]?.text);
}

test("a message that cannot be stored is refused by a stream as by a plain send, and leaves nothing", async () => {
  const task = await demo.sendForTask("ask");
  await sabotage(() => editObject(storage, task.id, (database) => failCommits(database, "log", "NEW.lines LIKE '%unstorable%'")));
  await assert.rejects(demo.send(followUp(task, "unstorable")), (error: RpcError) => error.code === -32603);
  const streamed = sendStreaming(demo.endpoint, followUp(task, "unstorable"));
  await assert.rejects(streamed, (error: NoStream) => error.code === -32603);
  assert.deepEqual(said(await demo.getTask(task.id)), ["ask"]);
  const answered = await (await sendStreaming(demo.endpoint, followUp(task, "red"))).rest();
  assert.equal(kindOf(answered.at(-1)!), "status:COMPLETED");
});

test("a message that dies with its object before it is stored is delivered again, once", async () => {
  const task = await demo.sendForTask("ask");
  // A new instance of the object has a new connection to its database, with hardly any changes yet.
  const condition = "NEW.lines LIKE '%second%' AND total_changes() > 2";
  await sabotage(() => editObject(storage, task.id, (database) => failCommits(database, "log", condition)));
  await demo.send(followUp(task, "first"));
  const events = await (await sendStreaming(demo.endpoint, followUp(task, "second"))).rest();
  assert.equal(kindOf(events.at(-1)!), "status:COMPLETED");
  assert.deepEqual(said(await demo.getTask(task.id)), ["ask", "first", "second"]);
});

test("a stream for a new task whose first row cannot be stored is refused, and no task is left", async () => {
  const [key, begins] = [randomUUID(), message("hello")];
  const headers = { "idempotency-key": key };
  const configuration = { taskPushNotificationConfig: { url: "http://127.0.0.1:9999/hook" } };
  const params = { message: begins, configuration };
  const { task } = await new Agent(demo.endpoint, headers).call<{ task: Task }>("SendMessage", params);
  await sabotage(() => editObject(storage, task.id, (database) => {
    database.exec("DROP TABLE log; DELETE FROM webhook;");
    failCommits(database, "webhook", "TRUE");
  }));
  const streamed = EventStream.open(demo.endpoint, "SendStreamingMessage", params, headers);
  await assert.rejects(streamed, (error: NoStream) => error.code === -32603);
  await assert.rejects(demo.getTask(task.id), (error: RpcError) => error.code === -32001);
});

test("a stream whose object cannot start is refused before a send of fifteen seconds is over", async () => {
  const [key, begins] = [randomUUID(), message("ask")];
  const headers = { "idempotency-key": key };
  const { task } = await new Agent(demo.endpoint, headers).call<{ task: Task }>("SendMessage", { message: begins });
  await sabotage(() => blockObject(storage, task.id));
  const code = (opened: Promise<EventStream>): Promise<number | undefined> => opened.then(() => 0, (error: NoStream) => error.code);
  const refusals = Promise.all([
    code(EventStream.open(demo.endpoint, "SendStreamingMessage", { message: begins }, headers)),
    code(sendStreaming(demo.endpoint, followUp(task, "red"))),
    code(subscribe(demo.endpoint, task.id)),
  ]);
  const first = await Promise.race([refusals, demo.send("hold 15000")]);
  assert.deepEqual(first, [-32603, -32603, -32603]);
});
