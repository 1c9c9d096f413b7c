// SendStreamingMessage and SubscribeToTask (spec §3.1.2, §3.1.6).
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { after, before, test } from "node:test";
import { Agent, followUp, message, textOf, until, untilEnded } from "./client.ts";
import { startWorker, type Worker } from "./harness.ts";
import { contents, EventStream, kindOf, type NoStream, sendStreaming, subscribe } from "./stream.ts";

let worker: Worker;
let demo: Agent;
before(async () => {
  worker = await startWorker({ notes: true });
  demo = new Agent(`${worker.url}/demo`);
});
after(() => worker.stop());

test("a stream opens with the task and ends with its last state (§3.1.2)", async () => {
  const stream = await sendStreaming(demo.endpoint, "chunks");
  const events = await stream.rest();
  assert.deepEqual(events.map(kindOf), [
    "task:SUBMITTED", "status:WORKING", "artifact", "artifact", "artifact", "status:COMPLETED",
  ]);
  assert.deepEqual(events.map(({ id }) => id), [1, 2, 3, 4, 5, 6]);
  const chunks = events.flatMap(({ data }) => data.result?.artifactUpdate ?? []);
  assert.deepEqual(chunks.map(({ artifact }) => textOf(artifact)), ["one ", "two ", "three"]);
  assert.deepEqual(chunks.map(({ append }) => append ?? false), [false, true, true]);
  assert.deepEqual(chunks.map(({ lastChunk }) => lastChunk ?? false), [false, false, true]);
});

test("every event answers the request it belongs to (§9.4.2)", async () => {
  const stream = await sendStreaming(demo.endpoint, "hello");
  assert.match(stream.response.headers["cache-control"] ?? "", /no-cache/);
  assert.equal(stream.response.headers["access-control-allow-origin"], "*");
  const ids = new Set((await stream.rest()).map(({ data }) => data.id));
  assert.equal(ids.size, 1);
});

test("a message instead of a task is the only event (§3.1.2)", async () => {
  const events = await (await sendStreaming(demo.endpoint, "message")).rest();
  assert.deepEqual(events.map(kindOf), ["message"]);
});

test("a send stream ends when the task asks, and the answer is a stream of its own (§3.1.2)", async () => {
  const asked = await (await sendStreaming(demo.endpoint, "ask")).rest();
  assert.deepEqual(asked.map(kindOf), ["task:SUBMITTED", "status:WORKING", "status:INPUT_REQUIRED"]);
  const task = asked[0]?.data.result?.task;
  assert.ok(task);
  const answered = await (await sendStreaming(demo.endpoint, followUp(task, "red"))).rest();
  assert.deepEqual(answered.map(kindOf), ["task:WORKING", "artifact", "status:COMPLETED"]);
  assert.deepEqual(answered.map(({ id }) => id), [4, 5, 6]);
});

test("a message of any length and script begins a stream (§3.1.2)", async () => {
  for (const text of ["ä€\u{1f600}\u007f", "ä".repeat(3_000), "x".repeat(8_000), "x".repeat(300_000)]) {
    const events = await (await sendStreaming(demo.endpoint, { parts: [{ text }] })).rest();
    assert.deepEqual(events[0]?.data.result?.task?.history?.[0]?.parts, [{ text }]);
    assert.equal(kindOf(events.at(-1)!), "status:COMPLETED");
  }
});

test("a subscription goes on through a question to the end (§3.1.6)", async () => {
  const task = await demo.sendForTask("ask");
  const stream = await subscribe(demo.endpoint, task.id);
  const first = await stream.next();
  assert.deepEqual(first.data.result?.task, task);
  await demo.send(followUp(task, "red"));
  assert.deepEqual((await stream.rest()).map(kindOf), ["status:WORKING", "artifact", "status:COMPLETED"]);
});

test("nothing is lost between the snapshot and the events (§3.1.6)", async () => {
  const task = await demo.sendForTask("hold 3000", { returnImmediately: true });
  const streams = await Promise.all(Array.from({ length: 10 }, () => subscribe(demo.endpoint, task.id)));
  const all = await Promise.all(streams.map((stream) => stream.rest()));
  for (const events of all) {
    const [snapshot, ...rest] = events;
    assert.ok(snapshot?.data.result?.task);
    assert.deepEqual(rest.map(({ id }) => id), rest.map((_, index) => (snapshot.id ?? 0) + 1 + index));
    assert.equal(events.at(-1)?.id, 4);
    assert.equal(kindOf(events.at(-1)!), "status:COMPLETED");
  }
});

test("a client that comes back gets what it missed, each event once (§3.1.6)", async () => {
  const whole = await (await sendStreaming(demo.endpoint, "chunks")).rest();
  const id = whole[0]?.data.result?.task?.id ?? "";
  for (let seen = 0; seen <= whole.length; seen += 1) {
    const missed = await (await subscribe(demo.endpoint, id, seen)).rest();
    assert.deepEqual(contents(missed), contents(whole.slice(seen)), `after ${seen}`);
  }
});

test("a client that has every event of a task that goes on gets an open stream at once (§3.1.6)", async () => {
  const task = await demo.sendForTask("ask");
  const stream = await subscribe(demo.endpoint, task.id, 3);
  assert.equal(stream.response.statusCode, 200);
  await demo.send(followUp(task, "red"));
  assert.deepEqual((await stream.rest()).map(({ id }) => id), [4, 5, 6]);
});

test("a client that has every event of a task that has ended is told that there is nothing to come back for (§3.1.6)", async () => {
  const whole = await (await sendStreaming(demo.endpoint, "hello")).rest();
  const id = whole[0]?.data.result?.task?.id ?? "";
  const stream = await subscribe(demo.endpoint, id, whole.length);
  assert.equal(stream.response.statusCode, 204);
  const response = await fetch(`${demo.endpoint}/tasks/${id}:subscribe`, { headers: { "last-event-id": String(whole.length), "a2a-version": "1.0" } });
  assert.deepEqual([response.status, await response.text()], [204, ""]);
});

test("an EventSource stops connecting when the task has ended", async () => {
  const task = await demo.sendForTask("ask");
  const script = `
    setInterval(() => {}, 1000); // The pause before it connects again keeps no process alive.
    const source = new EventSource(process.argv[1]);
    source.onmessage = ({ lastEventId }) => console.log(lastEventId);
    source.onerror = () => source.readyState === EventSource.CLOSED && console.log("closed");
  `;
  const page = spawn(process.execPath, ["--experimental-eventsource", "--no-warnings", "-e", script, `${demo.endpoint}/tasks/${task.id}:subscribe`]);
  let seen = "";
  page.stdout.setEncoding("utf8").on("data", (text: string) => (seen += text));
  await until(() => Promise.resolve(seen), (text) => text === "3\n");
  await demo.send(followUp(task, "red"));
  await until(() => Promise.resolve(seen), (text) => text.endsWith("closed\n"));
  page.kill();
  assert.deepEqual(seen.trim().split("\n"), ["3", "4", "5", "6", "closed"]);
});

test("a position that is none, or lies in the future, is refused (§3.1.6)", async () => {
  const task = await demo.sendForTask("ask");
  for (const position of ["99", "-1", "1.5", "x", String(2n ** 63n - 1n), String(2n ** 63n), String(2n ** 64n - 1n), String(2n ** 64n)]) {
    const headers = { "last-event-id": position };
    const refused = { code: -32602, message: /Last-Event-ID/ };
    await assert.rejects(EventStream.open(demo.endpoint, "SubscribeToTask", { id: task.id }, headers), refused, position);
  }
});

test("of many streams that answer a task at once, those that come after its end are refused with the reason (§3.1.2)", async () => {
  const codes = new Map<string, number>();
  for (const [name, headers] of [["any generation", {}], ["one generation", { "if-generation-match": "3" }]] as const) {
    for (let round = 0; round < 15; round += 1) {
      const task = await demo.sendForTask("ask");
      const answers = Array.from({ length: 6 }, async () => {
        const opened = EventStream.open(demo.endpoint, "SendStreamingMessage", { message: followUp(task, "red") }, headers);
        const outcome = await opened.then((stream) => stream.rest().then(() => "taken"), (error: NoStream) => error.code);
        codes.set(`${name}: ${outcome}`, (codes.get(`${name}: ${outcome}`) ?? 0) + 1);
      });
      await Promise.all(answers);
    }
  }
  const allowed = ["any generation: taken", "any generation: -32004", "one generation: taken", "one generation: -32010"];
  assert.deepEqual([...codes.keys()].filter((outcome) => !allowed.includes(outcome)), []);
  assert.equal(codes.get("one generation: taken"), 15, "one of six is taken");
});

test("what cannot be followed is refused without a stream (§3.1.6)", async () => {
  const ended = await demo.sendForTask("hello");
  await assert.rejects(subscribe(demo.endpoint, ended.id), { code: -32004 });
  await assert.rejects(subscribe(demo.endpoint, "nobody"), { code: -32001 });
  await assert.rejects(subscribe(worker.url, ended.id, 0), { code: -32001 }, "the task of another agent");
  await assert.rejects(sendStreaming(demo.endpoint, followUp(ended, "more")), { code: -32004 });
  await assert.rejects(sendStreaming(demo.endpoint, { parts: [] }), { code: -32602 });
  await assert.rejects(sendStreaming(demo.endpoint, { taskId: "nobody" }), { code: -32001 });
});

test("a refused message reaches no agent (§3.1.2)", async () => {
  const refused = message({ parts: [{ text: "a", url: "b" }] });
  await assert.rejects(sendStreaming(demo.endpoint, refused), { code: -32602 });
  assert.ok(!(await worker.given()).includes(refused.messageId));
});

test("leaving a stream does not cancel its task, nor end other streams (§3.1.2)", async () => {
  const stream = await sendStreaming(demo.endpoint, "hold 3000");
  const id = (await stream.next()).data.result?.task?.id ?? "";
  const other = await subscribe(demo.endpoint, id);
  stream.leave();
  assert.equal(kindOf((await other.rest()).at(-1)!), "status:COMPLETED");
  assert.equal((await demo.getTask(id)).status.state, "TASK_STATE_COMPLETED");
});

test("a cancel ends the streams of the task (§3.1.5)", async () => {
  const stream = await sendStreaming(demo.endpoint, "hold 60000");
  const id = (await stream.next()).data.result?.task?.id ?? "";
  await demo.cancelTask(id);
  assert.equal(kindOf((await stream.rest()).at(-1)!), "status:CANCELED");
});

test("the history of the first event is as long as was asked for (§3.2.4)", async () => {
  const task = await demo.sendForTask("ask");
  const stream = await sendStreaming(demo.endpoint, followUp(task, "red"), { historyLength: 1 });
  const events = await stream.rest();
  assert.deepEqual(events[0]?.data.result?.task?.history?.map(textOf), ["red"]);
});

test("an object that nobody works in is evicted, and its followers get the next event all the same", async () => {
  const task = await demo.sendForTask("ask");
  const streams = await Promise.all(Array.from({ length: 100 }, () => subscribe(demo.endpoint, task.id)));
  await Promise.all(streams.map((stream) => stream.next()));
  await worker.evict(task.id);
  await demo.send(followUp(task, "blue"));
  for (const events of await Promise.all(streams.map((stream) => stream.rest()))) {
    assert.deepEqual(events.map(kindOf), ["status:WORKING", "artifact", "status:COMPLETED"]);
  }
});

test("a panic ends a stream with the failed state ", async () => {
  const events = await (await sendStreaming(`${worker.url}/faults`, "panic later")).rest();
  assert.deepEqual(events.map(kindOf), ["task:SUBMITTED", "status:WORKING", "status:FAILED"]);
});

test("a task that ends while nobody looks is complete in the replay (§3.1.6)", async () => {
  const stream = await sendStreaming(demo.endpoint, "hold 300");
  const first = await stream.next();
  stream.leave();
  const id = first.data.result?.task?.id ?? "";
  await untilEnded(demo, id);
  const missed = await (await subscribe(demo.endpoint, id, first.id)).rest();
  assert.deepEqual(missed.map(kindOf), ["status:WORKING", "artifact", "status:COMPLETED"]);
});

test("a thousand clients that come and go leave the task as it was", async () => {
  const task = await demo.sendForTask("ask");
  for (let round = 0; round < 20; round += 1) {
    const streams = await Promise.all(Array.from({ length: 50 }, () => subscribe(demo.endpoint, task.id)));
    for (const stream of streams) stream.leave();
  }
  const last = await subscribe(demo.endpoint, task.id);
  await last.next();
  await demo.send(followUp(task, "green"));
  assert.deepEqual((await last.rest()).map(kindOf), ["status:WORKING", "artifact", "status:COMPLETED"]);
  await until(() => demo.getTask(task.id), ({ status }) => status.state === "TASK_STATE_COMPLETED");
});
