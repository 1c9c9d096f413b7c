// The operations of the HTTP+JSON binding (spec §11.3): the parameters, answers and refusals of each.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { message, textOf, type Message, type Task } from "./client.ts";
import { startWorker, type Worker } from "./harness.ts";
import { call, failure, getTask, JSON_TYPE, send } from "./rest.ts";

let worker: Worker;
let demo: string;
before(async () => {
  worker = await startWorker();
  demo = `${worker.url}/demo`;
});
after(() => worker.stop());

/** The events of a stream until it ends. */
async function eventsOf(response: Response): Promise<Record<string, unknown>[]> {
  const blocks = (await response.text()).split("\n\n");
  const data = blocks.flatMap((block) => block.split("\n").filter((line) => line.startsWith("data: ")));
  return data.map((line) => JSON.parse(line.slice("data: ".length)) as Record<string, unknown>);
}

describe("operations", () => {
  test("POST message:send gives the task (§11.3.1)", async () => {
    const said = message("hello");
    const response = await call("POST", `${demo}/message:send`, { message: said });
    assert.equal(response.status, 200);
    assert.equal(response.headers.get("content-type"), JSON_TYPE);
    const body = (await response.json()) as { task: Task };
    assert.deepEqual(Object.keys(body), ["task"]);
    assert.equal(body.task.status.state, "TASK_STATE_COMPLETED");
    assert.equal(textOf(body.task.artifacts?.[0]), "hello");
    assert.equal(body.task.history?.[0]?.messageId, said.messageId);
  });

  test("POST message:send gives a direct message (§11.3.1)", async () => {
    const response = await call("POST", `${demo}/message:send`, { message: message("message") });
    const body = (await response.json()) as { message: Message };
    assert.deepEqual(Object.keys(body), ["message"]);
    assert.equal(textOf(body.message), "A message instead of a task.");
  });

  test("POST message:send goes on with a task (§3.4.3)", async () => {
    const asked = await send(demo, "ask");
    const said = message({ taskId: asked.id, parts: [{ text: "red" }] });
    const response = await call("POST", `${demo}/message:send`, { message: said });
    const { task } = (await response.json()) as { task: Task };
    assert.equal(task.id, asked.id);
    assert.equal(task.status.state, "TASK_STATE_COMPLETED");
  });

  test("GET tasks/{id} gives the bare task, with as much history as the query says (§11.3.2)", async () => {
    const { id } = await send(demo, "ask");
    await call("POST", `${demo}/message:send`, { message: message({ taskId: id, parts: [{ text: "red" }] }) });
    for (const [query, count] of [["", 3], ["?historyLength=2", 2], ["?history_length=2", 2], ["?historyLength=0", undefined], ["?surprise=1&=", 3]] as const) {
      const response = await call("GET", `${demo}/tasks/${id}${query}`);
      assert.equal(response.status, 200);
      const task = (await response.json()) as Task;
      assert.equal(task.id, id);
      assert.equal(task.history?.length, count, query);
    }
  });

  for (const [what, body, headers] of [
    ["no body and no content type", undefined, {}],
    ["a content type and no body", "", {}],
    ["an empty object", "{}", {}],
    ["null", "null", {}],
    ["metadata", '{"metadata":{"k":"v"}}', {}],
    ["other ids in the body", '{"id":"x","tenant":"x"}', {}],
  ] as const) {
    test(`POST tasks/{id}:cancel with ${what} cancels the task (§11.3.2)`, async () => {
      const { id } = await send(demo, "ask");
      const response = await call("POST", `${demo}/tasks/${id}:cancel`, body, headers);
      assert.equal(response.status, 200);
      const task = (await response.json()) as Task;
      assert.equal(task.id, id);
      assert.equal(task.status.state, "TASK_STATE_CANCELED");
      assert.deepEqual(await getTask(demo, id), task);
    });
  }

  test("POST message:stream gives bare events (§11.7)", async () => {
    const response = await call("POST", `${demo}/message:stream`, { message: message("chunks") }, { accept: "text/event-stream" });
    assert.equal(response.status, 200);
    assert.match(response.headers.get("content-type") ?? "", /^text\/event-stream\b/);
    const events = await eventsOf(response);
    assert.deepEqual(Object.keys(events[0] ?? {}), ["task"]);
    assert.ok(events.some((event) => "artifactUpdate" in event));
    const last = events.at(-1)?.["statusUpdate"] as { status: { state: string } };
    assert.equal(last.status.state, "TASK_STATE_COMPLETED");
  });

  for (const [verb, body] of [["GET", undefined], ["POST", undefined], ["POST", "{}"]] as const) {
    test(`${verb} tasks/{id}:subscribe with ${body ?? "no body"} follows the task (§11.7)`, async () => {
      const { id } = await send(demo, "ask");
      const response = await call(verb, `${demo}/tasks/${id}:subscribe`, body, { accept: "text/event-stream" });
      assert.equal(response.status, 200);
      await call("POST", `${demo}/tasks/${id}:cancel`);
      const events = await eventsOf(response);
      assert.equal((events[0]?.["task"] as Task).id, id);
      const last = events.at(-1)?.["statusUpdate"] as { status: { state: string } };
      assert.equal(last.status.state, "TASK_STATE_CANCELED");
    });
  }

  test("a stream that cannot begin is refused as any other call (§11.7)", async () => {
    const { id } = await send(demo, "hello");
    await failure(await call("POST", `${demo}/tasks/${id}:subscribe`), 400, "FAILED_PRECONDITION", "UNSUPPORTED_OPERATION");
    await failure(await call("GET", `${demo}/tasks/unknown:subscribe`), 404, "NOT_FOUND", "TASK_NOT_FOUND");
    await failure(await call("POST", `${demo}/message:stream`, {}), 400, "INVALID_ARGUMENT", "INVALID_PARAMS");
  });

  for (const [verb, path] of [
    ["POST", "tasks/unknown/pushNotificationConfigs"],
    ["GET", "tasks/unknown/pushNotificationConfigs"],
    ["GET", "tasks/unknown/pushNotificationConfigs/c"],
    ["DELETE", "tasks/unknown/pushNotificationConfigs/c"],
    ["GET", "tasks/unknown/pushNotificationConfigs/c/deliveries"],
    ["POST", "tasks/unknown/pushNotificationConfigs/c:redeliver"],
    ["POST", "tasks/unknown/pushNotificationConfigs/c:test"],
    ["POST", "tasks/unknown/pushNotificationConfigs/c:verify"],
  ] as const) {
    test(`${verb} ${path} is refused where the card does not declare webhooks, before the task is looked for (§3.3.4)`, async () => {
      const response = await call(verb, `${worker.url}/picky/${path}`, verb === "POST" ? { url: "https://a.example" } : undefined);
      await failure(response, 400, "FAILED_PRECONDITION", "PUSH_NOTIFICATION_NOT_SUPPORTED");
    });
  }

  test("GET extendedAgentCard is refused while the card does not declare it (§3.3.4)", async (t) => {
    if (await declares("extendedAgentCard")) return t.skip("the card declares it");
    await failure(await call("GET", `${demo}/extendedAgentCard`), 400, "FAILED_PRECONDITION", "UNSUPPORTED_OPERATION");
  });

  test("a task is the same through both bindings (§5.1)", async () => {
    const task = await send(demo, "hello");
    const body = { jsonrpc: "2.0", id: 1, method: "GetTask", params: { id: task.id } };
    const { result } = (await (await call("POST", demo, body)).json()) as { result: Task };
    assert.deepEqual(result, task);
    assert.deepEqual(await getTask(demo, task.id), task);
  });
});

async function declares(capability: string): Promise<boolean> {
  const response = await fetch(`${demo}/.well-known/agent-card.json`);
  return ((await response.json()) as { capabilities: Record<string, unknown> }).capabilities[capability] === true;
}
