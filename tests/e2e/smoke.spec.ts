// One test of each feature: the card, both bindings, a stream that is cut and resumed, a listing, a cancel, a notification.
// The details are in the other specs.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { rest, rpc, type Answer } from "./answers.ts";
import { followUp, message, textOf, type Task, type TaskList } from "./client.ts";
import { startWorker, type Worker } from "./harness.ts";
import { Sink } from "./sink.ts";
import { contents, kindOf, sendStreaming, subscribe } from "./stream.ts";

let worker: Worker;
let demo: string;
before(async () => {
  worker = await startWorker();
  demo = `${worker.url}/demo`;
});
after(() => worker.stop());

/** The operations on tasks in the form of a binding. */
interface Binding {
  send(params: object): Promise<Answer>;
  get(id: string): Promise<Answer>;
  cancel(id: string): Promise<Answer>;
  list(contextId: string): Promise<Answer>;
}

const bindings: Record<string, Binding> = {
  "JSON-RPC": {
    send: (params) => rpc(demo, "SendMessage", params),
    get: (id) => rpc(demo, "GetTask", { id }),
    cancel: (id) => rpc(demo, "CancelTask", { id }),
    list: (contextId) => rpc(demo, "ListTasks", { contextId }),
  },
  "HTTP+JSON": {
    send: (params) => rest(`${demo}/message:send`, "POST", params),
    get: (id) => rest(`${demo}/tasks/${id}`, "GET"),
    cancel: (id) => rest(`${demo}/tasks/${id}:cancel`, "POST", {}),
    list: (contextId) => rest(`${demo}/tasks?contextId=${contextId}`, "GET"),
  },
};

test("an agent has a card and a page (§8.2)", async () => {
  const card = (await (await fetch(`${demo}/.well-known/agent-card.json`)).json()) as { supportedInterfaces: { url: string }[] };
  assert.equal(card.supportedInterfaces.length, 4, "1.0 and 0.3, over two bindings each");
  const page = await fetch(demo, { headers: { accept: "text/html" } });
  assert.match(page.headers.get("content-type") ?? "", /^text\/html\b/);
});

for (const [name, binding] of Object.entries(bindings)) {
  test(`a task is begun, continued, got, listed and canceled over ${name} (§3.1)`, async () => {
    const asked = ((await binding.send({ message: message("ask") })).result as { task: Task }).task;
    assert.equal(asked.status.state, "TASK_STATE_INPUT_REQUIRED");
    const { task } = (await binding.send({ message: followUp(asked, "red") })).result as { task: Task };
    assert.equal(task.status.state, "TASK_STATE_COMPLETED");
    assert.equal(textOf(task.artifacts?.[0]), "red");
    assert.deepEqual((await binding.get(task.id)).result, task);
    assert.equal((await binding.cancel(task.id)).reason, "TASK_NOT_CANCELABLE");

    const other = ((await binding.send({ message: message({ contextId: task.contextId, parts: [{ text: "ask" }] }) })).result as { task: Task }).task;
    const canceled = (await binding.cancel(other.id)).result as Task;
    assert.equal(canceled.status.state, "TASK_STATE_CANCELED");
    const { tasks } = (await binding.list(task.contextId)).result as TaskList;
    assert.deepEqual(new Set(tasks.map(({ id }) => id)), new Set([task.id, other.id]));
  });
}

test("a stream that is cut goes on behind its last event (§3.1.2, §3.1.6)", async () => {
  const stream = await sendStreaming(demo, "chunks");
  const [first, second] = [await stream.next(), await stream.next()];
  stream.leave();
  const id = first.data.result?.task?.id ?? "";
  const left = await (await subscribe(demo, id, second.id)).rest();
  assert.deepEqual([first, second, ...left].map(kindOf), ["task:SUBMITTED", "status:WORKING", "artifact", "artifact", "artifact", "status:COMPLETED"]);
  assert.deepEqual(contents([first, second, ...left]), contents(await (await subscribe(demo, id, 0)).rest()));
});

test("every event of a task is notified to its webhook (§4.3)", async () => {
  const sink = await Sink.open();
  try {
    const configuration = { taskPushNotificationConfig: { url: `${sink.url}/hook` } };
    await rpc(demo, "SendMessage", { message: message("chunks"), configuration });
    for (const nth of [1, 2, 3, 4, 5, 6]) assert.equal((await sink.arrival("/hook", nth)).headers["a2a-generation"], String(nth));
  } finally {
    sink.close();
  }
});
