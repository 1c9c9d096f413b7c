// Webhooks of A2A 0.1: what is posted to them, and which events.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { EarlyClient, EarlyError, freshId, speakingEarly } from "./early-client.ts";
import { asNotification, type EarlyNotification, type EarlyWebhook } from "./early-shapes.ts";
import { secret, startWorker, type Worker } from "./harness.ts";
import { Sink, type Arrival } from "./sink.ts";

let sink: Sink;
let worker: Worker;
let demo: EarlyClient;
before(async () => {
  sink = await Sink.open();
  worker = await startWorker({ vars: { ...speakingEarly(), WEBHOOK_ALLOW_HTTP: "true", WEBHOOK_ALLOW_PRIVATE: "true" } });
  demo = new EarlyClient(`${worker.url}/demo`);
});
after(async () => {
  await worker.stop();
  sink.close();
});
