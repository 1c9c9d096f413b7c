// Notifications have the version of A2A in which their webhook was registered (spec §4.3.3; A2A 0.3 §9.5; protocol of
// 0.1).
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, before, describe, test } from "node:test";
import { Agent, followUp, message } from "./client.ts";
import { startWorker, type Worker } from "./harness.ts";
import { Sink, type Arrival } from "./sink.ts";
import { Speaker, speakingAll, VERSIONS, type Version } from "./speech.ts";

let worker: Worker;
let sink: Sink;
before(async () => {
  sink = await Sink.open();
  worker = await startWorker({ vars: { AGENTS: speakingAll(), KEEP_ALIVE_MS: "1000", WEBHOOK_RETRY_MS: "100" } });
});
after(async () => {
  await worker.stop();
  sink.close();
});

const speaker = (version: Version) => new Speaker(`${worker.url}/demo`, version);
const older = (method: string, params: object): Promise<Record<string, unknown>> => new Agent(`${worker.url}/demo`, { "a2a-version": "" }).call(method, params);

/** Sends a text that makes a task of four events, with a webhook. Returns the notifications. */
async function notified(version: Version, webhook: object, events: number): Promise<Arrival[]> {
  const path = `/${randomUUID()}`;
  const taskPushNotificationConfig = { url: sink.url + path, ...webhook };
  await speaker(version).call("SendMessage", { message: message("hello"), configuration: { taskPushNotificationConfig } });
  await sink.arrival(path, events);
  return sink.arrivals(path);
}

const states = (arrivals: Arrival[]) => arrivals.map((arrival) => arrival.json<{ status: { state: string } }>().status.state);

for (const version of VERSIONS) {
  test(`a webhook of ${version} gets each event in its form`, async () => {
    const arrivals = await notified(version, { token: "k" }, 4);
    const type = version === "1.0" ? "application/a2a+json" : "application/json";
    for (const { headers } of arrivals) {
      assert.equal(headers["content-type"], type);
      assert.deepEqual([headers["x-a2a-notification-token"], headers["a2a-notification-token"]], ["k", "k"]);
      assert.equal(headers["authorization"], version === "0.1" ? "Bearer k" : undefined);
      assert.match(String(headers["webhook-id"]), /^[0-9a-f]{64}\.[0-9a-zA-Z-]+\.\d+$/);
    }
    assert.equal(new Set(arrivals.map(({ headers }) => headers["webhook-id"])).size, 4);
    if (version === "1.0") return assert.ok("task" in arrivals[0]!.json<object>());
    assert.deepEqual(states(arrivals), ["submitted", "working", "working", "completed"]);
    const bodies = arrivals.map((arrival) => arrival.json<{ kind?: string; id: string; taskId?: string; eventType?: string; artifacts?: unknown[] }>());
    assert.deepEqual(bodies.map(({ artifacts }) => artifacts?.length ?? 0), [0, 0, 1, 1], "the task as it was after each event");
    if (version === "0.3") assert.ok(bodies.every(({ kind }) => kind === "task"));
    else {
      assert.deepEqual(bodies.map(({ eventType }) => eventType), ["status", "status", "artifact", "status"]);
      assert.ok(bodies.every(({ id, taskId }) => id === taskId));
    }
  });
}

test("the oldest webhooks may want one kind of event", async () => {
  const [first] = await notified("0.1", { events: ["artifact"] }, 1);
  // Waits for all events of another task: further events of the first task would have arrived earlier.
  await notified("0.1", {}, 4);
  assert.deepEqual(states(sink.arrivals(first?.path ?? "")), ["working"]);
  assert.deepEqual(states(await notified("0.1", { events: ["status"] }, 3)), ["submitted", "working", "completed"]);
});

test("credentials that are configured go before a token", async () => {
  const authentication = { schemes: ["bearer"], credentials: "abc" };
  for (const version of ["0.3", "0.1"] as const) {
    const [first] = await notified(version, { token: "k", authentication }, 1);
    assert.equal(first?.headers["authorization"], "Bearer abc", version);
  }
});

describe("the one webhook of a task that has no id", () => {
  const methods = {
    "0.3": ["tasks/pushNotificationConfig/set", "tasks/pushNotificationConfig/get", "taskId"],
    "0.1": ["tasks/pushNotification/set", "tasks/pushNotification/get", "id"],
  } as const;

  for (const [version, [set, get, member]] of Object.entries(methods)) {
    test(`is registered, replaced and found without one in ${version}`, async () => {
      const [path, other] = [`/${randomUUID()}`, `/${randomUUID()}`];
      const task = await speaker(version as Version).sendForTask(message({ taskId: version === "0.1" ? `mine ${randomUUID()}` : undefined!, parts: [{ text: "ask" }] }));
      for (const hook of [other, path]) await older(set, { [member]: task.id, pushNotificationConfig: { url: sink.url + hook } });
      const got = await older(get, { id: task.id });
      assert.equal((got["pushNotificationConfig"] as { url: string }).url, sink.url + path);
      await speaker(version as Version).send(followUp(task, "red"));
      await sink.arrival(path, 2);
      assert.equal(sink.count(other), 0);
      const ids = sink.arrivals(path).map((arrival) => arrival.json<{ id: string }>().id);
      assert.ok(ids.every((id) => id === task.id));
    });
  }
});
