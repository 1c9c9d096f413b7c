// The npm package `eventsource` follows a task by GET, as a page would, while the Worker is killed.

import assert from "node:assert/strict";
import { EventSource } from "eventsource";
import { Agent, untilEnded } from "../e2e/client.ts";
import { startWorker } from "../e2e/harness.ts";
import { Sink } from "../e2e/sink.ts";
import { artifactOf, undisturbed } from "../e2e/steps.ts";

const STEPS = 6;

/** Its stream breaks as the process is killed; it comes back by itself with `Last-Event-ID`, and stays away after the end. */
export async function resumes(): Promise<void> {
  const sink = await Sink.open();
  const worker = await startWorker({ vars: { KEEP_ALIVE_MS: "1000" } });
  try {
    sink.plan("/run/3", "hold");
    const faults = new Agent(`${worker.url}/faults`);
    const { id } = await faults.sendForTask(`steps ${STEPS} ${sink.url}/run`, { returnImmediately: true });
    await sink.arrival("/run/3");

    const seen: { id: number; text: string }[] = [];
    const source = new EventSource(`${faults.endpoint}/tasks/${id}:subscribe`);
    let opened = 0;
    source.addEventListener("open", () => (opened += 1));
    source.addEventListener("message", ({ lastEventId, data }) => void seen.push({ id: Number(lastEventId), text: String(data) }));
    const refused = new Promise<number | undefined>((resolve) => {
      source.addEventListener("error", ({ code }) => {
        if (source.readyState === source.CLOSED) resolve(code);
      });
    });
    while (seen.length === 0) await new Promise((resolve) => setTimeout(resolve, 20));
    await worker.kill9();
    await worker.restart();

    assert.equal(await refused, 204, "the end of the task is the end of the stream");
    assert.ok(opened > 1, "it came back");
    const first = seen[0]?.id ?? 0;
    assert.ok(first > 1, "it began in the middle");
    assert.deepEqual(seen.map(({ id }) => id), seen.map((_, index) => first + index), "every event, once and in order");
    assert.equal(seen.at(-1)?.id, undisturbed(STEPS).length);
    const ended = await untilEnded(faults, id);
    assert.equal(ended.artifacts?.[0]?.parts.map(({ text }) => text).join(""), artifactOf(STEPS));
    assert.deepEqual(JSON.parse(seen.at(-1)?.text ?? "").statusUpdate.status, ended.status);
  } finally {
    await worker.stop();
    sink.close();
  }
}
