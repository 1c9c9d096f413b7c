// The official client, `@a2a-js/sdk`, over HTTP+JSON: it finds the interface and parses the answers.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, before, test } from "node:test";
import { Role, TaskState, type Message, type SendMessageRequest, type Task } from "@a2a-js/sdk";
import { ClientFactory, ClientFactoryOptions, type Client } from "@a2a-js/sdk/client";
import { RequestMalformedError, TaskNotCancelableError, TaskNotFoundError, UnsupportedOperationError } from "@a2a-js/sdk/errors";
import { startWorker, type Worker } from "./harness.ts";

let worker: Worker;
let demo: Client;
before(async () => {
  worker = await startWorker();
  demo = await connect("/demo/");
});
after(() => worker.stop());

/** A client that prefers HTTP+JSON to the order in the card. */
function connect(path: string): Promise<Client> {
  const options = ClientFactoryOptions.createFrom(ClientFactoryOptions.default, { preferredTransports: ["HTTP+JSON"] });
  return new ClientFactory(options).createFromUrl(worker.url + path, ".well-known/agent-card.json");
}

function saying(text: string, changes: Partial<Message> = {}): SendMessageRequest {
  const message: Message = {
    messageId: randomUUID(), contextId: "", taskId: "", role: Role.ROLE_USER, metadata: undefined, extensions: [], referenceTaskIds: [],
    parts: [{ content: { $case: "text", value: text }, metadata: undefined, filename: "", mediaType: "" }],
    ...changes,
  };
  return { tenant: "", message, configuration: undefined, metadata: undefined };
}

/** Sends and returns the task. */
async function send(client: Client, request: SendMessageRequest): Promise<Task> {
  const answer = await client.sendMessage(request);
  if (!("status" in answer)) throw new Error("the answer is no task");
  return answer;
}

const byId = (id: string) => ({ tenant: "", id });

for (const path of ["/", "/demo/"]) {
  test(`sends and gets what it sent, with the card at ${path} (§11.3)`, async () => {
    const client = await connect(path);
    const task = await send(client, saying("hello"));
    assert.equal(task.status?.state, TaskState.TASK_STATE_COMPLETED);
    assert.deepEqual(await client.getTask(byId(task.id)), task);
    assert.deepEqual((await client.getTask({ ...byId(task.id), historyLength: 0 })).history, []);
  });
}

test("sends with a tenant (§11.3)", async () => {
  const assistant = await connect("/");
  const task = await send(assistant, { ...saying("hello"), tenant: "demo" });
  assert.equal(task.artifacts[0]?.artifactId, "echo");
  assert.deepEqual(await demo.getTask(byId(task.id)), task);
});

test("talks over several turns (§3.4.3)", async () => {
  const asked = await send(demo, saying("ask"));
  const task = await send(demo, saying("red", { taskId: asked.id }));
  assert.equal(task.status?.state, TaskState.TASK_STATE_COMPLETED);
  assert.equal(task.id, asked.id);
});

test("cancels (§3.1.5)", async () => {
  const asked = await send(demo, saying("ask"));
  const canceled = await demo.cancelTask({ ...byId(asked.id), metadata: undefined });
  assert.equal(canceled.status?.state, TaskState.TASK_STATE_CANCELED);
});

test("streams a turn (§11.7)", async () => {
  const kinds = [];
  for await (const { payload } of demo.sendMessageStream(saying("chunks"))) kinds.push(payload?.$case);
  assert.equal(kinds[0], "task");
  assert.equal(kinds.at(-1), "statusUpdate");
  assert.ok(kinds.includes("artifactUpdate"));
});

test("subscribes to a task (§11.7)", async () => {
  const { id } = await send(demo, saying("ask"));
  const kinds = [];
  for await (const { payload } of demo.resubscribeTask(byId(id))) {
    kinds.push(payload?.$case);
    if (kinds.length === 1) await demo.cancelTask({ ...byId(id), metadata: undefined });
  }
  assert.deepEqual(kinds, ["task", "statusUpdate"]);
});

test("throws the errors of the protocol (§5.4)", async () => {
  const { id } = await send(demo, saying("hello"));
  await assert.rejects(demo.getTask(byId("a/b ✓")), TaskNotFoundError);
  await assert.rejects(demo.cancelTask({ ...byId(id), metadata: undefined }), TaskNotCancelableError);
  await assert.rejects(demo.sendMessage(saying("more", { taskId: id })), UnsupportedOperationError);
  await assert.rejects(demo.sendMessage(saying("x", { parts: [] })), RequestMalformedError);
});
