// Events larger than the limit of a stored value (2 MB): stored over several rows, or refused with the reason.
import assert from "node:assert/strict";
import { once } from "node:events";
import { request, type IncomingMessage } from "node:http";
import { json } from "node:stream/consumers";
import { after, before, test } from "node:test";
import { Agent, message, textOf, type Reply } from "./client.ts";
import { startWorker, type Worker } from "./harness.ts";
import { contents, sendStreaming, subscribe } from "./stream.ts";

let worker: Worker;
let demo: Agent;
before(async () => {
  worker = await startWorker({ vars: { MAX_EVENT_BYTES: "3500000" } });
  demo = new Agent(`${worker.url}/demo`);
});
after(() => worker.stop());

/** A text with this number of characters of one to four bytes each, so that cuts fall within characters. */
function long(characters: number): string {
  return "aé€𝄞".repeat(characters / 4);
}

test("a task with an event of more than 2 MB outlives a crash (§3.1.3)", async () => {
  const text = long(1_000_000);
  const task = await demo.sendForTask(text);
  assert.equal(textOf(task.artifacts?.[0]), text);
  await worker.kill9();
  await worker.restart();
  assert.deepEqual(await demo.getTask(task.id), task);
});

test("an event of more than 2 MB is streamed and replayed whole (§3.1.6)", async () => {
  const text = long(1_000_000);
  const events = await (await sendStreaming(demo.endpoint, text)).rest();
  const id = events[0]?.data.result?.task?.id ?? "";
  const replayed = await (await subscribe(demo.endpoint, id, 0)).rest();
  assert.deepEqual(contents(replayed), contents(events));
});

test("an event beyond the limit fails the task with the reason (§4.1.3)", async () => {
  const task = await demo.sendForTask(long(1_450_000));
  assert.equal(task.status.state, "TASK_STATE_FAILED");
  assert.match(textOf(task.status.message), /the limit is 3500000/);
});

test("a message beyond the limit is refused (§3.1.1)", async () => {
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "SendMessage", params: { message: message(long(1_800_000)) } });
  const headers = { "content-type": "application/json", "content-length": String(Buffer.byteLength(body)) };
  const upload = request(demo.endpoint, { method: "POST", headers });
  // The body is refused by its length alone. If it were sent, the connection could be reset before the answer is read.
  upload.flushHeaders();
  const [response] = (await once(upload, "response")) as [IncomingMessage];
  assert.equal(response.statusCode, 413);
  assert.equal(((await json(response)) as Reply).error?.code, -32600);
  upload.on("error", () => {}).destroy();
});
