// Clients of A2A 0.1 over JSON-RPC: the family of `tasks/send`, at every path that such clients use.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { Agent } from "./client.ts";
import { EarlyClient, EarlyError, freshId, speakingEarly, type EarlyEvent } from "./early-client.ts";
import { asTaskOfStatuses, type EarlyPart } from "./early-shapes.ts";
import { startWorker, type Worker } from "./harness.ts";

let worker: Worker;
let demo: EarlyClient;
/** The same agent for a client of 1.0. */
let today: Agent;
before(async () => {
  worker = await startWorker({ vars: speakingEarly() });
  demo = new EarlyClient(`${worker.url}/demo`);
  today = new Agent(`${worker.url}/demo`);
});
after(() => worker.stop());

const texts = (holder: { parts: EarlyPart[] } | undefined) => holder?.parts.map(({ type, text }) => text ?? type);

async function all(stream: AsyncGenerator<EarlyEvent, void>): Promise<EarlyEvent[]> {
  const events = [];
  for await (const event of stream) events.push(event);
  return events;
}

/** A summary of a stream's events. */
const told = (events: EarlyEvent[]) =>
  events.map((told) =>
    told.kind === "status"
      ? `${told.event.status.state}${told.event.final ? "!" : ""}`
      : `${told.event.artifact.index}${told.event.artifact.append === true ? "+" : "="}${texts(told.event.artifact)?.join() ?? ""}`,
  );

const refusal = (code: number, message: RegExp) => (error: unknown) => {
  assert.ok(error instanceof EarlyError, String(error));
  assert.deepEqual([error.code, error.status], [code, 200]);
  assert.match(error.text, message);
  return true;
};

describe("a client of 0.1", () => {
  test("begins a task under an id of its own, and gets it again", async () => {
    const id = freshId();
    const task = await demo.send("hello", { id, sessionId: "s-1", metadata: { purpose: "test" } });
    assert.deepEqual([task.id, task.sessionId, task.status.state, task.metadata], [id, "s-1", "completed", { purpose: "test" }]);
    assert.deepEqual(task.artifacts?.map((artifact) => [artifact.index, ...(texts(artifact) ?? [])]), [[0, "hello"]]);
    assert.deepEqual(task.history?.map(({ role, parts }) => [role, parts]), [["user", [{ type: "text", text: "hello" }]]]);
    assert.deepEqual(await demo.get(id), task);
  });

  test("gets as much history as it asks for", async () => {
    const id = freshId();
    assert.equal((await demo.send("ask", { id })).status.state, "input-required");
    assert.equal((await demo.send("red", { id, historyLength: 1 })).history?.length, 1);
    assert.equal((await demo.get(id, 0)).history, undefined);
    const { history } = await demo.get(id);
    assert.deepEqual(history?.map((said) => [said.role, ...(texts(said) ?? [])]), [["user", "ask"], ["agent", "Which colour?"], ["user", "red"]]);
  });

  test("goes on with its task by the same id, also with the same words twice", async () => {
    const id = freshId();
    const asked = await demo.send("guess", { id });
    assert.deepEqual(texts(asked.status.message), ["Which number?"]);
    for (const _ of [1, 2]) {
      const again = await demo.send("5", { id, sessionId: asked.sessionId });
      assert.deepEqual(texts(again.status.message), ["No, not 5."], "it is another message");
    }
    const done = await demo.send("7", { id });
    assert.deepEqual([done.status.state, done.sessionId], ["completed", asked.sessionId]);
    await assert.rejects(demo.send("more", { id }), refusal(-32002, /completed, which is final/));
  });

  test("gets a task where the agent answers with a message", async () => {
    const id = freshId();
    const task = await demo.send("message", { id });
    assert.deepEqual([task.status.state, texts(task.status.message)], ["completed", ["A message instead of a task."]]);
    assert.deepEqual(await demo.get(id), task);
  });

  test("follows a task in frames, and its turns", async () => {
    const id = freshId();
    assert.deepEqual(told(await all(demo.sendSubscribe("chunks", { id }))), ["submitted", "working", "0=one ", "0+two ", "0+three", "completed!"]);
    assert.deepEqual(told(await all(demo.resubscribe(id))), ["completed!"], "what has ended is told in one frame");
    const asked = freshId();
    assert.deepEqual(told(await all(demo.subscribe("ask", { id: asked }))), ["submitted", "working", "input-required!"]);
    const answered = told(await all(demo.sendSubscribe("red", { id: asked })));
    assert.deepEqual([answered[0], answered.slice(-2)], ["working", ["0=red", "completed!"]]);
  });

  test("comes back to a stream that it has lost, and has its artifacts by their numbers", async () => {
    const id = freshId();
    const first = demo.sendSubscribe("count 40 every 150", { id });
    const seen = [];
    for await (const event of first) {
      seen.push(event);
      if (seen.length === 4) break;
    }
    const events = told(await all(demo.resubscribe(id)));
    assert.deepEqual([events[0], events.at(-1)], ["working", "completed!"]);
    assert.match(events[1] ?? "", /^0=tick /);
    assert.ok(events.slice(2, -1).every((event) => event === "0+tick "), String(events));
    const ticks = events.join("").split("tick ").length - 1;
    assert.equal(ticks, 40, "nothing is missing");
  });

  test("cancels, and is told what cannot be done", async () => {
    const id = freshId();
    const stream = demo.sendSubscribe("hold 60000", { id });
    await stream.next();
    assert.equal((await demo.cancel(id)).status.state, "canceled");
    const rest = await all(stream);
    assert.equal(told(rest).at(-1), "canceled!");
    const done = freshId();
    await demo.send("hello", { id: done });
    await assert.rejects(demo.cancel(done), refusal(-32002, /cannot be canceled/));
    const unknown = freshId();
    await assert.rejects(demo.get(unknown), refusal(-32001, /task not found/));
    await assert.rejects(demo.get(unknown), { message: "Task not found" });
    await assert.rejects(demo.cancel(done), { message: "Task cannot be canceled" });
    await assert.rejects(demo.cancel(unknown), refusal(-32001, /task not found/));
    await assert.rejects(all(demo.resubscribe(unknown)), refusal(-32001, /task not found/));
    await assert.rejects(demo.call("tasks/send", { message: { role: "user", parts: [{ type: "text", text: "x" }] } }), refusal(-32602, /id is required/));
    await assert.rejects(demo.send([], { id: freshId() }), refusal(-32602, /message\.parts needs|message\.parts is required/));
    await assert.rejects(demo.call("tasks/sent", { id: "x" }), refusal(-32601, /no method/));
    await assert.rejects(demo.send("hello", { historyLength: -1 }), refusal(-32602, /historyLength/));
    const elsewhere = await demo.send("ask", { sessionId: "s-1" });
    await assert.rejects(demo.send("red", { id: elsewhere.id, sessionId: "s-2" }), refusal(-32602, /sessionId must be the context of the task, s-1/));
  });

  test("sees declined tasks as failed, and files and data as its version has them", async () => {
    const rejected = await demo.send("reject");
    assert.deepEqual([rejected.status.state, texts(rejected.status.message)], ["failed", ["I would rather not."]]);
    const parts: EarlyPart[] = [
      { type: "text", text: "hello", metadata: { a: 1 } },
      { type: "file", file: { name: "a.bin", mimeType: "application/octet-stream", bytes: "AAEC" } },
      { type: "file", file: { uri: "https://example.com/a" } },
      { type: "data", data: { n: [1, null] } },
    ];
    const task = await demo.send(parts);
    assert.deepEqual(task.history?.[0]?.parts, parts);
  });

  test("asks at each of the paths where it may look", async () => {
    for (const path of ["/demo", "/demo/", "/demo/a2a", "/demo/a2a/", "/", "/a2a", "//a2a"]) {
      const task = await new EarlyClient(worker.url + path).send("hello");
      assert.equal(task.status.state, "completed", path);
    }
    assert.equal(told(await all(new EarlyClient(worker.url).subscribe("hello"))).at(-1), "completed!");
  });
});

test("the path for streams takes nothing else", async () => {
  const post = (body: string, method = "POST") =>
    fetch(`${worker.url}/demo/subscribe`, { method, headers: { "content-type": "application/json" }, ...(method === "POST" ? { body } : {}) });
  const request = (method: string) => JSON.stringify({ jsonrpc: "2.0", id: 7, method, params: { id: "t" } });
  for (const body of [request("tasks/send"), request("tasks/get"), request("SendStreamingMessage"), "{", "[]", "{}"]) {
    const response = await post(body);
    assert.equal(response.status, 400, body);
    assert.ok(((await response.json()) as { error?: { code: number } }).error?.code, body);
  }
  assert.equal((await post("", "GET")).status, 405);
});

test("clients of 1.0 and of 0.1 see the same task", async () => {
  const id = freshId();
  const { sessionId } = await demo.send("ask", { id });
  const task = await today.getTask(id);
  assert.deepEqual([task.id, task.contextId, task.status.state], [id, sessionId, "TASK_STATE_INPUT_REQUIRED"]);
  assert.ok(task.history?.every(({ messageId }) => messageId.length > 10), "messages have ids");
  await today.send({ taskId: id, parts: [{ text: "blue" }] });
  assert.deepEqual((await demo.get(id)).artifacts?.map(texts), [["blue"]]);
  const own = await today.sendForTask("hello");
  // The id was made by the server, so clients of 0.3 may use it, too; only the methods that exist solely in 0.1
  // identify the version.
  await assert.rejects(demo.send("more", { id: own.id }), refusal(-32002, /completed, which is final/));
});

describe("an agent whose history is statuses", () => {
  let other: Worker;
  before(async () => {
    other = await startWorker({ vars: speakingEarly({ history: "statuses" }) });
  });
  after(() => other.stop());

  test("shows them with their instants", async () => {
    const client = new EarlyClient(`${other.url}/demo`);
    const id = freshId();
    const asked = asTaskOfStatuses(await client.call("tasks/send", { id, message: { role: "user", parts: [{ type: "text", text: "ask" }] } }));
    assert.deepEqual(asked.history?.map(({ state }) => state), ["submitted", "working", "input-required"]);
    await client.call("tasks/cancel", { id });
    const { history } = asTaskOfStatuses(await client.call("tasks/get", { id, historyLength: 2 }));
    assert.deepEqual(history?.map(({ state, message: said }) => [state, texts(said)]), [["input-required", ["Which colour?"]], ["canceled", undefined]]);
    assert.ok(history?.every(({ timestamp }) => timestamp !== undefined));
    const plain = await new Agent(`${other.url}/demo`).getTask(id);
    assert.deepEqual(plain.history?.map(({ role }) => role), ["ROLE_USER", "ROLE_AGENT"], "clients of 1.0 have messages");
  });
});
