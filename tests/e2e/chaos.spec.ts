// Streams under loss: connections cut after every event, objects evicted with their sockets, the process killed.
// What the client put together from the pieces must be the log, each event once.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Agent, followUp } from "./client.ts";
import { startWorker, type Worker } from "./harness.ts";
import { contents, kindOf, sendStreaming, subscribe, type EventStream, type StreamEvent } from "./stream.ts";

let worker: Worker;
let demo: Agent;
before(async () => {
  worker = await startWorker();
  demo = new Agent(`${worker.url}/demo`);
});
after(() => worker.stop());

/** Reads up to `count` events, as many as there are. */
async function read(stream: EventStream, count: number): Promise<StreamEvent[]> {
  const events: StreamEvent[] = [];
  for await (const event of stream) {
    events.push(event);
    if (events.length === count) break;
  }
  return events;
}

/** The whole log of a task that has ended. */
async function logOf(id: string): Promise<StreamEvent[]> {
  return (await subscribe(demo.endpoint, id, 0)).rest();
}

function taskId(events: StreamEvent[]): string {
  const id = events[0]?.data.result?.task?.id;
  assert.ok(id, "the first event is the task");
  return id;
}

test("a transcript put together from cut connections is the log, wherever the cuts are", async () => {
  for (let cut = 1; cut <= 5; cut += 1) {
    const first = await sendStreaming(demo.endpoint, "chunks");
    const transcript = await read(first, cut);
    first.leave();
    const id = taskId(transcript);
    for (;;) {
      const stream = await subscribe(demo.endpoint, id, transcript.at(-1)?.id);
      const more = await read(stream, 1);
      stream.leave();
      if (more.length === 0) break;
      transcript.push(...more);
    }
    assert.deepEqual(contents(transcript), contents(await logOf(id)), `cut after ${cut}`);
    assert.equal(transcript.length, 6);
  }
});

test("a transcript that goes on after a crash is the log, wherever the crash is", async () => {
  for (let cut = 1; cut <= 5; cut += 1) {
    const first = await sendStreaming(demo.endpoint, "count 4 every 200");
    const transcript = await read(first, cut);
    await worker.kill9();
    first.leave();
    await worker.restart();
    const id = taskId(transcript);
    const rest = await (await subscribe(demo.endpoint, id, transcript.at(-1)?.id)).rest();
    transcript.push(...rest);
    assert.deepEqual(contents(transcript), contents(await logOf(id)), `crash after ${cut}`);
    assert.deepEqual(transcript.map((event) => event.id), transcript.map((_, index) => index + 1), "no gap");
    assert.match(kindOf(transcript.at(-1)!), /^status:(COMPLETED|FAILED)$/);
  }
});

test("a client does not notice that the object was evicted and its sockets closed", async () => {
  const task = await demo.sendForTask("ask");
  const stream = await subscribe(demo.endpoint, task.id);
  const transcript = await read(stream, 1);
  await worker.evict(task.id, "close");
  await demo.send(followUp(task, "pink"));
  transcript.push(...(await read(stream, 2)));
  await worker.evict(task.id, "close");
  await demo.send(followUp(task, "anything"));
  transcript.push(...(await stream.rest()));
  const log = await logOf(task.id);
  assert.deepEqual(contents(transcript.slice(1)), contents(log.slice(transcript[0]?.id)));
  assert.equal(kindOf(transcript.at(-1)!), "status:COMPLETED");
});

test("a client that does not read for a while misses nothing, and holds nobody up", async () => {
  const slow = await sendStreaming(demo.endpoint, "count 2000 every 0");
  const first = await read(slow, 1);
  const id = taskId(first);
  slow.response.pause();
  const quick = await (await subscribe(demo.endpoint, id, 0)).rest();
  assert.equal(kindOf(quick.at(-1)!), "status:COMPLETED");
  slow.response.resume();
  assert.deepEqual(contents([...first, ...(await slow.rest())]), contents(quick));
  assert.equal(quick.length, 2003);
});

test("a thousand subscribers of one task all get every event", async () => {
  const task = await demo.sendForTask("ask");
  const streams = [];
  for (let batch = 0; batch < 20; batch += 1) {
    streams.push(...(await Promise.all(Array.from({ length: 50 }, () => subscribe(demo.endpoint, task.id)))));
  }
  await Promise.all(streams.map((stream) => stream.next()));
  await demo.send(followUp(task, "red"));
  const kinds = ["status:WORKING", "artifact", "status:COMPLETED"];
  for (const events of await Promise.all(streams.map((stream) => stream.rest()))) {
    assert.deepEqual(events.map(kindOf), kinds);
  }
});
