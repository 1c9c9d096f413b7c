// The plain pair of A2A 0.1: `POST /a2a/tasks/send` and `GET /a2a/tasks/{id}`.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { Agent, until } from "./client.ts";
import { EarlyClient, freshId, speakingEarly } from "./early-client.ts";
import { startWorker, type Worker } from "./harness.ts";

interface PlainTask {
  id: string;
  state: "submitted" | "working" | "completed" | "failed" | "input-required" | "auth-required";
  messages: { role: string; parts: { text?: string; data?: unknown; file?: unknown }[] }[];
  sessionId: string;
  createdAt: string;
  updatedAt: string;
}

let worker: Worker;
before(async () => {
  worker = await startWorker({ vars: speakingEarly() });
});
after(() => worker.stop());

const post = (body: unknown, agent = "/demo", headers: Record<string, string> = {}): Promise<Response> =>
  fetch(`${worker.url}${agent}/a2a/tasks/send`, {
    method: "POST", headers: { "content-type": "application/json", ...headers }, body: typeof body === "string" ? body : JSON.stringify(body),
  });

/** The task in an answer; it must have exactly the members of the pair. */
async function taskIn(response: Response): Promise<PlainTask> {
  const text = await response.text();
  assert.equal(response.status, 200, text);
  assert.match(response.headers.get("content-type") ?? "", /^application\/json\b/);
  const task = JSON.parse(text) as PlainTask;
  assert.deepEqual(Object.keys(task).sort(), ["createdAt", "id", "messages", "sessionId", "state", "updatedAt"]);
  assert.ok(task.messages.every(({ parts }) => parts.every((part) => !("type" in part))), "parts have no type");
  assert.ok(Date.parse(task.createdAt) <= Date.parse(task.updatedAt));
  return task;
}

const send = async (body: unknown, agent?: string): Promise<PlainTask> => taskIn(await post(body, agent));
const get = async (id: string): Promise<PlainTask> => taskIn(await fetch(`${worker.url}/demo/a2a/tasks/${encodeURIComponent(id)}`));
const ended = (id: string) => until(() => get(id), ({ state }) => !["submitted", "working"].includes(state));

/** The agent's result: the last message. */
function result({ messages }: PlainTask): (string | undefined)[] {
  const last = messages.at(-1);
  assert.equal(last?.role, "agent");
  return last?.parts.map(({ text }) => text) ?? [];
}

/** The error in an answer: its only member. */
async function errorIn(response: Response, status: number): Promise<string> {
  const body = (await response.json()) as { error: string };
  assert.deepEqual([response.status, Object.keys(body), typeof body.error], [status, ["error"], "string"]);
  return body.error;
}

describe("the plain pair", () => {
  test("answers a quick task with its end", async () => {
    // On a busy machine the task may not be quick enough: then it is sent again.
    const task = await until(() => send({ message: "hello", sessionId: "s-1", skill: "repeat" }), ({ state }) => state === "completed");
    assert.deepEqual([task.state, task.sessionId, result(task)], ["completed", "s-1", ["hello"]]);
    assert.deepEqual(task.messages[0], { role: "user", parts: [{ text: "hello" }] });
    assert.deepEqual(await get(task.id), task);
    const known = await new Agent(`${worker.url}/demo`).getTask(task.id);
    assert.deepEqual(known.metadata, { skill: "repeat" }, "agents learn which skill is meant");
  });

  test("answers a slow one at once, and has its end later", async () => {
    const task = await send({ message: { parts: [{ text: "hold 4000" }] } });
    assert.ok(["submitted", "working"].includes(task.state), task.state);
    assert.deepEqual(task.messages.map(({ role }) => role), ["user"]);
    const done = await ended(task.id);
    assert.deepEqual([done.state, result(done), done.createdAt], ["completed", ["hold 4000"], task.createdAt]);
    assert.ok(Date.parse(done.updatedAt) - Date.parse(done.createdAt) >= 1000);
  });

  test("fails a task that takes longer than it may", async () => {
    const task = await send({ message: "hold 60000", timeoutMs: 400 });
    const late = await ended(task.id);
    assert.deepEqual([late.state, result(late)], ["failed", ["Task timed out"]]);
  });

  test("says why a task was declined, has failed, was canceled, or waits", async () => {
    for (const [text, state, said] of [
      ["reject", "failed", "I would rather not."],
      ["fail", "failed", "It did not work, as you wished."],
      ["ask", "input-required", "Which colour?"],
    ] as const) {
      const task = await ended((await send({ message: text })).id);
      assert.deepEqual([task.state, result(task)], [state, [said]], text);
    }
    const task = await send({ message: "hold 60000" });
    await new Agent(`${worker.url}/demo`).cancelTask(task.id);
    assert.deepEqual([(await get(task.id)).state, result(await get(task.id))], ["failed", ["the task was canceled"]]);
  });

  test("gives a message of the agent as a result", async () => {
    const task = await ended((await send({ message: "message" })).id);
    assert.deepEqual([task.state, result(task)], ["completed", ["A message instead of a task."]]);
    assert.deepEqual(await get(task.id), task);
  });

  test("shows tasks that were begun in other ways, by ids that clients chose, too", async () => {
    const id = `${freshId()}/ü`;
    await new EarlyClient(`${worker.url}/demo`).send("hello", { id });
    assert.deepEqual(result(await get(id)), ["hello"]);
    await until(() => send({ message: "hello" }, ""), ({ state }) => state === "completed");
  });

  test("says what is wrong in one sentence", async () => {
    const unknown = await fetch(`${worker.url}/demo/a2a/tasks/${freshId()}`);
    assert.equal(await errorIn(unknown, 404), "Task not found");
    for (const [body, status, told] of [
      [{}, 400, /message is required/],
      [{ message: 5 }, 400, /message must be an object, got 5/],
      [{ message: "x", timeoutMs: 0 }, 400, /timeoutMs must be milliseconds, 1 or more/],
      ["{", 400, /not valid JSON/],
      ["[]", 400, /must be a JSON object/],
    ] as const) {
      assert.match(await errorIn(await post(body), status), told);
    }
    assert.match(await errorIn(await post({ message: "x" }, "/demo", { "content-type": "text/plain" }), 415), /text\/plain|application\/json/);
    const gone = await fetch(`${worker.url}/demo/a2a/tasks/t`, { method: "DELETE" });
    assert.match(await errorIn(gone, 405), /it takes GET/);
    assert.match(await errorIn(await fetch(`${worker.url}/demo/a2a/other`), 404), /nothing is served at/);
  });
});

test("an agent that does not speak A2A 0.1 says so, and knows no ids that clients chose", async () => {
  const other = await startWorker({ vars: speakingEarly({ enabled: false }) });
  try {
    const headers = { "content-type": "application/json" };
    const body = JSON.stringify({ message: "hello" });
    const sent = await fetch(`${other.url}/demo/a2a/tasks/send`, { method: "POST", headers, body });
    assert.match(await errorIn(sent, 400), /A2A 0\.1, which this agent does not support/);
    const asked = await fetch(`${other.url}/demo/a2a/tasks/t`);
    assert.match(await errorIn(asked, 400), /A2A 0\.1/);
    const client = new EarlyClient(`${other.url}/demo`);
    await assert.rejects(client.send("hello"), { code: -32601 });
    await assert.rejects(new EarlyClient(other.url).subscribe("hello").next(), { code: -32601 });
    await assert.rejects(client.get("t"), { code: -32001 }, "a task of 0.3");
  } finally {
    await other.stop();
  }
});
