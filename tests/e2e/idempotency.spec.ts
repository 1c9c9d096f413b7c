// Sends with an Idempotency-Key: a repetition begins nothing new.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, before, test } from "node:test";
import { message, type Message, type Reply, type Task } from "./client.ts";
import { startWorker, type Worker } from "./harness.ts";
import { contents, EventStream, kindOf, NoStream } from "./stream.ts";

let worker: Worker;
before(async () => {
  worker = await startWorker({ notes: true });
});
after(() => worker.stop());

/** Sends a message over JSON-RPC under a key. */
async function send(key: string, said: Message, path = "/demo"): Promise<Reply> {
  const headers = { "content-type": "application/json", "a2a-version": "1.0", "idempotency-key": key };
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "SendMessage", params: { message: said } });
  return (await (await fetch(`${worker.url}${path}`, { method: "POST", headers, body })).json()) as Reply;
}

function stream(key: string, said: Message, after?: number): Promise<EventStream> {
  const headers: Record<string, string> = { "idempotency-key": key };
  if (after !== undefined) headers["last-event-id"] = String(after);
  return EventStream.open(`${worker.url}/demo`, "SendStreamingMessage", { message: said }, headers);
}

/** How often agents have received a message. */
async function timesGiven({ messageId }: Message): Promise<number> {
  return (await worker.given()).filter((id) => id === messageId).length;
}

const taskOf = ({ result }: Reply) => (result as { task: Task }).task;

test("a send that is repeated gets the answer of the first", async () => {
  const [key, said] = [randomUUID(), message("hello")];
  const first = await send(key, said);
  assert.equal(taskOf(first).status.state, "TASK_STATE_COMPLETED");
  assert.deepEqual(await send(key, said), first);
  assert.equal(await timesGiven(said), 1);
});

test("many at the same time are one", async () => {
  const [key, said] = [randomUUID(), message("hold 300")];
  const answers = await Promise.all(Array.from({ length: 20 }, () => send(key, said)));
  for (const answer of answers) assert.deepEqual(answer, answers[0]);
  assert.equal(await timesGiven(said), 1);
});

test("a send is still known after a crash", async () => {
  const [key, said] = [randomUUID(), message("ask")];
  const first = await send(key, said);
  await worker.kill9();
  await worker.restart();
  assert.deepEqual(await send(key, said), first);
  assert.equal(await timesGiven(said), 0, "the agent was not asked again");
});

test("a key is good for one message", async () => {
  const key = randomUUID();
  const first = await send(key, message("hello"));
  const { error } = await send(key, message("something else"));
  assert.equal(error?.code, -32602);
  assert.deepEqual(error.data?.flatMap((detail) => detail.fieldViolations ?? []).map(({ field }) => field), ["Idempotency-Key"]);
  assert.equal(taskOf(first).status.state, "TASK_STATE_COMPLETED");
});

test("the same key with another agent is another key", async () => {
  const [key, said] = [randomUUID(), message("hello")];
  assert.notEqual(taskOf(await send(key, said)).id, taskOf(await send(key, said, "/")).id);
});

test("a key has at most 255 characters", async () => {
  // `fetch` and Node treat headers as characters of one byte each; these characters are the bytes of the UTF-8.
  const bytes = (key: string) => Buffer.from(key).toString("latin1");
  for (const letter of ["k", "ü", "✓", "😀"]) {
    const { error } = await send(bytes(letter.repeat(256)), message("hello"));
    assert.deepEqual([error?.code, error?.message], [-32602, "invalid parameters: Idempotency-Key must have 1 to 255 characters"], letter);
    assert.equal(taskOf(await send(bytes(letter.repeat(255)), message("hello"))).status.state, "TASK_STATE_COMPLETED", letter);
  }
});

test("a key that is not UTF-8 is refused, since others would be taken for it", async () => {
  for (const key of ["k\xfc", "k\xfd", "\xf0\x9f"]) {
    const said = message("hello");
    const { error } = await send(key, said);
    assert.deepEqual([error?.code, error?.message], [-32602, "invalid parameters: Idempotency-Key must be UTF-8"]);
    assert.equal(await timesGiven(said), 0);
  }
});

test("a stream that is repeated goes on where the client was, in the same task (§3.1.2)", async () => {
  const [key, said] = [randomUUID(), message("chunks")];
  const first = await stream(key, said);
  const seen = [await first.next(), await first.next(), await first.next()];
  first.leave();
  const rest = await (await stream(key, said, 3)).rest();
  assert.deepEqual(rest.map(({ id }) => id), [4, 5, 6]);
  const whole = await (await stream(key, said, 0)).rest();
  assert.deepEqual(contents([...seen, ...rest]), contents(whole));
  assert.equal(await timesGiven(said), 1);
});

test("a stream that is repeated without a position opens with the task as it stands (§3.1.2)", async () => {
  const [key, said] = [randomUUID(), message("hello")];
  const first = await (await stream(key, said)).rest();
  const again = await (await stream(key, said)).rest();
  assert.deepEqual(again.map(kindOf), ["task:COMPLETED"]);
  assert.equal(again[0]?.id, first.at(-1)?.id);
});

test("a stream that begins its task has no event to come back to (§3.1.2)", async () => {
  for (const position of [1, 99]) {
    const [key, said] = [randomUUID(), message("hello")];
    await assert.rejects(stream(key, said, position), { code: -32602, message: /Last-Event-ID/ });
    assert.equal(await timesGiven(said), 0);
    const events = await (await stream(key, said, 0)).rest();
    assert.deepEqual(events.map(({ id }) => id), [1, 2, 3, 4], "the refusal did not use the key up");
    await assert.rejects(stream(key, said, 5), { code: -32602, message: /Last-Event-ID/ });
  }
});

test("streams and sends at the same time share one task", async () => {
  const [key, said] = [randomUUID(), message("hold 3000")];
  const [one, two, sent] = await Promise.all([stream(key, said), stream(key, said), send(key, said)]);
  const [first, second] = [await one.rest(), await two.rest()];
  const id = taskOf(sent).id;
  for (const events of [first, second]) {
    assert.equal(events[0]?.data.result?.task?.id, id);
    assert.equal(kindOf(events.at(-1)!), "status:COMPLETED");
    assert.deepEqual(events.map((event) => event.id), events.map((_, index) => (events[0]?.id ?? 0) + index));
  }
  assert.equal(await timesGiven(said), 1);
});

test("a stream under a key of another message is refused", async () => {
  const key = randomUUID();
  await send(key, message("hello"));
  await assert.rejects(stream(key, message("something else")), (error: NoStream) => error.code === -32602);
});
