// Streams under loss: connections cut after every event, objects evicted with their sockets, the process killed. The
// events that the client has collected must equal the log, each event once.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { randomUUID } from "node:crypto";
import { Agent, followUp, message, textOf } from "./client.ts";
import { startWorker, type Worker } from "./harness.ts";
import { cutsOf, Speaker, speakingAll, type Version } from "./speech.ts";
import { tell } from "./steps.ts";
import { contents, kindOf, sendStreaming, subscribe, type EventStream, type StreamEvent } from "./stream.ts";

let worker: Worker;
let demo: Agent;
before(async () => {
  worker = await startWorker({ vars: { AGENTS: speakingAll() } });
  demo = new Agent(`${worker.url}/demo`);
});
after(() => worker.stop());

/** Reads up to `count` events. */
async function read(stream: EventStream, count: number): Promise<StreamEvent[]> {
  const events: StreamEvent[] = [];
  for await (const event of stream) {
    events.push(event);
    if (events.length === count) break;
  }
  return events;
}

/** The whole log of an ended task. */
async function logOf(id: string): Promise<StreamEvent[]> {
  return (await subscribe(demo.endpoint, id, 0)).rest();
}

function taskId(events: StreamEvent[]): string {
  const id = events[0]?.data.result?.task?.id;
  assert.ok(id, "the first event is the task");
  return id;
}

const CUTS = [1, 2, 3, 4, 5];
const speaker = (version: Version) => new Speaker(demo.endpoint, version);
const begin = (version: Version, text: string, taskId?: string) =>
  speaker(version).stream("SendStreamingMessage", { message: message({ parts: [{ text }], ...(taskId === undefined ? {} : { taskId }) }) });
const follow = (version: Version, id: string, after?: number) => speaker(version).stream("SubscribeToTask", { id }, after);

/** The contents of events; in an older version, only the members that are the same in each stream. */
const said = (version: Version, events: StreamEvent[]): unknown[] => (version === "1.0" ? contents(events) : events.map((event) => [event.id, tell(event)]));

for (const version of ["1.0", "0.3"] as const) {
  test(`a transcript put together from cut connections is the log, wherever the cuts are, in ${version}`, async () => {
    for (const cut of cutsOf(version, CUTS)) {
      const first = await begin(version, "chunks");
      const transcript = await read(first, cut);
      first.leave();
      const id = taskId(transcript);
      for (;;) {
        const stream = await follow(version, id, transcript.at(-1)?.id);
        const more = await read(stream, 1);
        stream.leave();
        if (more.length === 0) break;
        transcript.push(...more);
      }
      assert.deepEqual(said(version, transcript), said(version, await logOf(id)), `cut after ${cut}`);
      assert.equal(transcript.length, 6);
    }
  });

  test(`a transcript that goes on after a crash is the log, wherever the crash is, in ${version}`, async () => {
    for (const cut of cutsOf(version, CUTS)) {
      const first = await begin(version, "count 4 every 200");
      const transcript = await read(first, cut);
      await worker.kill9();
      first.leave();
      await worker.restart();
      const id = taskId(transcript);
      const rest = await (await follow(version, id, transcript.at(-1)?.id)).rest();
      transcript.push(...rest);
      assert.deepEqual(said(version, transcript), said(version, await logOf(id)), `crash after ${cut}`);
      assert.deepEqual(transcript.map((event) => event.id), transcript.map((_, index) => index + 1), "no gap");
      assert.match(kindOf(transcript.at(-1)!), /^status:(COMPLETED|FAILED)$/);
    }
  });
}

// Streams of 0.1 have no event ids, so each begins with the current task.
test("a client of 0.1 comes to the end of its task, wherever connections are cut and the process is killed", async () => {
  for (const cut of cutsOf("0.1", CUTS)) {
    for (const crashes of [false, true]) {
      const id = randomUUID();
      const first = await begin("0.1", "count 4 every 200", id);
      assert.equal((await read(first, cut)).length, cut);
      if (crashes) await worker.kill9();
      first.leave();
      if (crashes) await worker.restart();
      const rest = await (await follow("0.1", id)).rest();
      assert.match(kindOf(rest.at(-1)!), crashes ? /^status:(COMPLETED|FAILED)$/ : /^status:COMPLETED$/);
      const task = await speaker("0.1").getTask(id);
      const [stored, last] = [await demo.getTask(id), rest.at(-1)?.data.result?.statusUpdate];
      assert.deepEqual([task.id, task.status.state], [id, last?.status.state]);
      assert.equal(textOf(task.artifacts?.[0]), textOf(stored.artifacts?.[0]));
      const pieces = rest.flatMap(({ data }) => data.result?.artifactUpdate ?? []);
      const seen = pieces.reduce((text, { artifact, append }) => (append === true ? text : "") + textOf(artifact), "");
      if (rest.length > 1) assert.equal(seen, textOf(stored.artifacts?.[0]), "what the stream tells is the whole artifact");
    }
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
