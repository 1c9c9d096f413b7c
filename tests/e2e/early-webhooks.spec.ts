// Webhooks of A2A 0.1: the bodies posted to them, and the events.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Agent } from "./client.ts";
import { EarlyClient, EarlyError, freshId, speakingEarly } from "./early-client.ts";
import { asNotification, type EarlyNotification, type EarlyWebhook } from "./early-shapes.ts";
import { secret, startWorker, type Worker } from "./harness.ts";
import { Sink, type Arrival } from "./sink.ts";

let sink: Sink;
let worker: Worker;
let demo: EarlyClient;
before(async () => {
  sink = await Sink.open();
  worker = await startWorker({ vars: speakingEarly() });
  demo = new EarlyClient(`${worker.url}/demo`);
});
after(async () => {
  await worker.stop();
  sink.close();
});

let paths = 0;

/** The URL of an unused path, and the path. */
function freshHook(): { url: string; path: string } {
  paths += 1;
  const path = `/early-${paths}`;
  return { url: sink.url + path, path };
}

/** All notifications at a path up to the end of its task. */
async function arrivals(path: string): Promise<{ arrival: Arrival; told: EarlyNotification }[]> {
  for (let nth = 1; ; nth += 1) {
    const told = asNotification((await sink.arrival(path, nth)).json());
    if (["completed", "failed", "canceled"].includes(told.status.state)) break;
  }
  return sink.arrivals(path).map((arrival) => ({ arrival, told: asNotification(arrival.json()) }));
}

const inShort = ({ told }: { told: EarlyNotification }) => `${told.eventType} ${told.status.state} ${told.artifacts?.[0]?.parts.length ?? 0}`;

test("a webhook that comes with a send gets the task as it was after each event", async () => {
  const { url, path } = freshHook();
  const id = freshId();
  await demo.send("chunks", { id, sessionId: "s", pushNotification: { url, token: secret("token", "the-early-token") } });
  const came = await arrivals(path);
  assert.deepEqual(came.map(inShort), [
    "status submitted 0", "status working 0", "artifact working 1", "artifact working 2", "artifact working 3", "status completed 3",
  ]);
  for (const { arrival, told } of came) {
    assert.deepEqual([told.id, told.taskId, told.sessionId], [id, id, "s"]);
    assert.ok(Date.parse(told.timestamp) > 0);
    assert.match(String(arrival.headers["content-type"]), /^application\/json\b/);
    assert.equal(arrival.headers["x-a2a-notification-token"], "the-early-token");
    assert.equal(arrival.headers.authorization, "Bearer the-early-token", "receivers of that time look for it there");
  }
  const { eventType: _, taskId: __, timestamp: ___, ...last } = came.at(-1)?.told ?? ({} as EarlyNotification);
  assert.deepEqual(last, await demo.get(id));
});

test("a webhook that says how to authenticate gets that instead of its token", async () => {
  const { url, path } = freshHook();
  const credentials = secret("credentials", "the-early-credentials");
  await demo.send("hello", { pushNotification: { url, token: "t-1", authentication: { schemes: ["basic", "bearer"], credentials } } });
  const [first] = await arrivals(path);
  assert.deepEqual([first?.arrival.headers.authorization, first?.arrival.headers["x-a2a-notification-token"]], [`Basic ${credentials}`, "t-1"]);
});

test("a webhook gets the kind of events that it wants", async () => {
  for (const [events, expected] of [
    [["status"], ["status submitted 0", "status working 0", "status completed 1"]],
    [["artifact"], ["artifact working 1"]],
    [["status", "artifact"], ["status submitted 0", "status working 0", "artifact working 1", "status completed 1"]],
  ] as const) {
    const { url, path } = freshHook();
    await demo.send("hello", { pushNotification: { url, events: [...events] } });
    await sink.arrival(path, expected.length);
    // Waits for all events of another task: further events of the first task would have arrived earlier.
    const later = freshHook();
    await demo.send("chunks", { pushNotification: { url: later.url } });
    await arrivals(later.path);
    const came = sink.arrivals(path).map((arrival) => inShort({ told: asNotification(arrival.json()) }));
    assert.deepEqual(came, expected);
  }
});

test("a webhook is set and got without an id, and the next one takes its place", async () => {
  const id = freshId();
  await demo.send("ask", { id });
  const config: EarlyWebhook = { url: freshHook().url, authentication: { schemes: ["Bearer"] } };
  assert.deepEqual(await demo.setPushNotification(id, config), config);
  assert.deepEqual(await demo.getPushNotification(id), config);
  const { url, path } = freshHook();
  const next: EarlyWebhook = { url, events: ["status"] };
  assert.deepEqual(await demo.setPushNotification(id, next), next);
  assert.deepEqual(await demo.getPushNotification(id), next);
  await demo.send("red", { id });
  const came = await arrivals(path);
  assert.deepEqual(came.map(inShort), ["status working 0", "status completed 1"]);
  const webhooks = await new Agent(`${worker.url}/demo`).call<{ configs: unknown[] }>("ListTaskPushNotificationConfigs", { taskId: id });
  assert.equal(webhooks.configs.length, 1);
});

test("what is wrong with a webhook has a code that its clients know", async () => {
  const refusal = (code: number, message: RegExp) => (error: unknown) => {
    assert.ok(error instanceof EarlyError, String(error));
    assert.equal(error.code, code);
    assert.match(error.text, message);
    return true;
  };
  const id = freshId();
  await demo.send("ask", { id });
  await assert.rejects(demo.getPushNotification(id), refusal(-32001, /./), "it has none");
  await assert.rejects(demo.setPushNotification(freshId(), { url: freshHook().url }), refusal(-32001, /task not found/));
  await assert.rejects(demo.call("tasks/pushNotification/set", { id }), refusal(-32602, /pushNotificationConfig is required/));
  const strict = await startWorker({ vars: { ...speakingEarly(), DEVELOPMENT: "false" } });
  try {
    const client = new EarlyClient(`${strict.url}/demo`);
    const pushNotification = { url: "http://example.com/hook" };
    await assert.rejects(client.send("hello", { pushNotification }), refusal(-32004, /pushNotification\.url .*https/));
    await client.send("ask", { id });
    await assert.rejects(client.setPushNotification(id, pushNotification), refusal(-32004, /pushNotificationConfig\.url .*https/));
  } finally {
    await strict.stop();
  }
});
