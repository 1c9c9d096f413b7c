// Streams without events (spec §3.1.6).
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { Agent, followUp, until } from "./client.ts";
import { startWorker, type Worker } from "./harness.ts";
import { kindOf, NoStream, subscribe, type EventStream } from "./stream.ts";

let worker: Worker;
let demo: Agent;
before(async () => {
  worker = await startWorker({ vars: { MAX_STREAMS: "2" } });
  demo = new Agent(`${worker.url}/demo`);
});
after(() => worker.stop());

// Both tests wait for a heartbeat, so they run at the same time.
describe("while nothing happens", { concurrency: true }, () => {
  test("a silent stream shows that it is alive, and goes on with the next event (§3.1.6)", async () => {
    const task = await demo.sendForTask("ask");
    const stream = await subscribe(demo.endpoint, task.id);
    await stream.next();
    const rest = stream.rest();
    await until(() => Promise.resolve(stream.comments.length), (count) => count > 0);
    await demo.send(followUp(task, "red"));
    assert.deepEqual((await rest).map(kindOf), ["status:WORKING", "artifact", "status:COMPLETED"]);
  });

  test("a follower that has left is forgotten, and makes room for another (§3.1.6)", async () => {
    const task = await demo.sendForTask("ask");
    const [one, two] = [await subscribe(demo.endpoint, task.id), await subscribe(demo.endpoint, task.id)];
    await assert.rejects(subscribe(demo.endpoint, task.id), (error: NoStream) => {
      assert.match(error.body.error?.message ?? "", /followed by 2 streams, which is the limit/);
      return true;
    });
    one.leave();
    const third = await until<EventStream | undefined>(
      () => subscribe(demo.endpoint, task.id).catch(() => undefined),
      (stream) => stream !== undefined,
    );
    const rests = [two, third].map((stream) => stream?.rest());
    await demo.send(followUp(task, "red"));
    for (const rest of rests) assert.equal(kindOf((await rest)!.at(-1)!), "status:COMPLETED");
  });
});
