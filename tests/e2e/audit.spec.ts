// Audit lines: caller, act and outcome in one form, without secrets and without message contents.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { KEYS, KEY_SCHEME, withAccess } from "./tables.ts";
import { Agent, message, until } from "./client.ts";
import { startWorker, type Worker } from "./harness.ts";

interface Line {
  event: string;
  agent: string;
  caller: string | null;
  task: string | null;
  operation: string | null;
  config: string | null;
  request: string | null;
  trace: string | null;
  outcome: string;
}

const MEMBERS = ["event", "agent", "caller", "task", "operation", "config", "request", "trace", "outcome"];
const CONFIDENTIAL = "what was said is confidential";

let worker: Worker;
before(async () => {
  worker = await startWorker({ vars: { ...KEYS, AGENTS: withAccess({ locked: { schemes: { key: KEY_SCHEME } } }) } });
});
after(() => worker.stop());

const TRACE = "4bf92f3577b34da6a3ce929d0e0e4736";
const headers = (key: string, request: string): Record<string, string> => ({ "x-api-key": key, "cf-ray": request, traceparent: `00-${TRACE}-00f067aa0ba902b7-01` });
const as = (key: string, request: string): Agent => new Agent(`${worker.url}/locked`, headers(key, request));

/** The audit lines about a request. */
const linesOf = (request: string, of: Worker = worker): Line[] =>
  of.logs.filter(({ message }) => message.startsWith('{"event":"') && message.includes(`"request":"${request}"`)).map(({ message }) => JSON.parse(message) as Line);

/** The only audit line about a request, after waiting for it. */
async function lineOf(request: string): Promise<Line> {
  const lines = await until(async () => linesOf(request), ({ length }) => length > 0);
  assert.equal(lines.length, 1, JSON.stringify(lines));
  const [line] = lines as [Line];
  assert.deepEqual(Object.keys(line), MEMBERS);
  return line;
}

const newId = (): string => crypto.randomUUID();

describe("one line says what was done", () => {
  test("a task was created, by a send or by a stream", async () => {
    const [sent, streamed] = [newId(), newId()];
    const task = await as(KEYS.ALICE_KEY, sent).sendForTask(CONFIDENTIAL);
    const expected = { event: "task created", agent: "locked", caller: "key:alice", operation: null, config: null, trace: TRACE, outcome: "done" };
    assert.deepEqual(await lineOf(sent), { ...expected, task: task.id, request: sent });
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "SendStreamingMessage", params: { message: message("hello") } });
    const all = { "content-type": "application/json", "a2a-version": "1.0", ...headers(KEYS.BOB_KEY, streamed) };
    assert.match(await (await fetch(`${worker.url}/locked`, { method: "POST", headers: all, body })).text(), /TASK_STATE_COMPLETED/);
    const { caller, event } = await lineOf(streamed);
    assert.deepEqual([caller, event], ["key:bob", "task created"]);
  });

  test("a task was canceled, or could not be", async () => {
    const { id } = await as(KEYS.ALICE_KEY, newId()).sendForTask("ask");
    const done = await as(KEYS.ALICE_KEY, newId()).sendForTask("hello");
    const [canceled, refused] = [newId(), newId()];
    await as(KEYS.ALICE_KEY, canceled).cancelTask(id);
    await assert.rejects(as(KEYS.ALICE_KEY, refused).cancelTask(done.id));
    const line = await lineOf(canceled);
    assert.deepEqual([line.event, line.caller, line.task, line.outcome], ["task canceled", "key:alice", id, "done"]);
    assert.equal((await lineOf(refused)).outcome, "TASK_NOT_CANCELABLE");
  });

  test("a webhook was registered, by itself or with a message, and deleted", async () => {
    const { id } = await as(KEYS.ALICE_KEY, newId()).sendForTask("ask");
    const [registered, deleted, inline] = [newId(), newId(), newId()];
    const webhook = { taskId: id, id: "w-1", url: "http://127.0.0.1:65500/hook", token: "token-of-a-webhook" };
    await as(KEYS.ALICE_KEY, registered).call("CreateTaskPushNotificationConfig", webhook);
    await as(KEYS.ALICE_KEY, deleted).call("DeleteTaskPushNotificationConfig", { taskId: id, id: "w-1" });
    for (const [request, event] of [[registered, "webhook registered"], [deleted, "webhook deleted"]] as const) {
      const line = await lineOf(request);
      assert.deepEqual([line.event, line.task, line.config, line.outcome], [event, id, "w-1", "done"]);
    }
    await as(KEYS.ALICE_KEY, inline).call("SendMessage", { message: message("ask"), configuration: { taskPushNotificationConfig: { ...webhook, taskId: undefined, id: "w-2" } } });
    const lines = await until(async () => linesOf(inline), ({ length }) => length >= 2);
    assert.deepEqual(lines.map(({ event }) => event).sort(), ["task created", "webhook registered"]);
  });

  test("reading leaves no line", async () => {
    const { id } = await as(KEYS.ALICE_KEY, newId()).sendForTask("hello");
    const [got, listed] = [newId(), newId()];
    await as(KEYS.ALICE_KEY, got).getTask(id);
    await as(KEYS.ALICE_KEY, listed).listTasks();
    const after = newId();
    await as(KEYS.ALICE_KEY, after).sendForTask("hello");
    await lineOf(after);
    assert.deepEqual([...linesOf(got), ...linesOf(listed)], []);
  });
});

describe("one line says what was refused", () => {
  test("credentials, over every way that a request takes", async () => {
    for (const body of ["hello", "x".repeat(70_000)]) {
      const request = newId();
      const response = await fetch(`${worker.url}/locked`, {
        method: "POST",
        headers: { "content-type": "application/json", "a2a-version": "1.0", ...headers("wrong-key-of-somebody", request) },
        body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "SendMessage", params: { message: message(body) } }),
      });
      assert.equal(response.status, 401);
      assert.equal(response.headers.get("x-request-id"), request, "the answer names the request");
      await response.text();
      const line = await lineOf(request);
      assert.deepEqual([line.event, line.agent, line.caller, line.task, line.trace], ["authentication failed", "locked", null, null, TRACE]);
      assert.ok(line.outcome.length > 5 && !line.outcome.includes("wrong-key"), line.outcome);
    }
  });

  test("another caller's task, in memory or not", async () => {
    const { id } = await as(KEYS.ALICE_KEY, newId()).sendForTask("ask");
    for (const evicts of [false, true]) {
      if (evicts) await worker.evict(id);
      const [got, canceled] = [newId(), newId()];
      await assert.rejects(as(KEYS.BOB_KEY, got).getTask(id));
      await assert.rejects(as(KEYS.BOB_KEY, canceled).cancelTask(id));
      for (const request of [got, canceled]) {
        const line = await lineOf(request);
        assert.deepEqual([line.event, line.caller, line.task, line.outcome], ["access denied", "key:bob", id, "another caller's task"]);
      }
    }
  });
});

test("what was said, and with which credentials, is in no line", () => {
  const log = worker.logs.map(({ message }) => message).join("\n");
  for (const text of [CONFIDENTIAL, "token-of-a-webhook", "wrong-key-of-somebody", ...Object.values(KEYS)]) assert.ok(!log.includes(text), text);
});

test("with AUDIT = refusals only refusals are written down", async (t) => {
  const quiet = await startWorker({ vars: { ...KEYS, AUDIT: "refusals", AGENTS: withAccess({ locked: { schemes: { key: KEY_SCHEME } } }) } });
  t.after(() => quiet.stop());
  const [created, denied] = [newId(), newId()];
  const { id } = await new Agent(`${quiet.url}/locked`, headers(KEYS.ALICE_KEY, created)).sendForTask("hello");
  await assert.rejects(new Agent(`${quiet.url}/locked`, headers(KEYS.BOB_KEY, denied)).getTask(id));
  const lines = await until(async () => linesOf(denied, quiet), ({ length }) => length > 0);
  assert.equal(lines[0]?.event, "access denied");
  assert.deepEqual(linesOf(created, quiet), []);
});
