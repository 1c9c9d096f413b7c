// The official client, `@a2a-js/sdk`, unmodified: how it handles our cards, answers and errors.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, before, describe, test } from "node:test";
import { Role, TaskState, type Message, type Part, type SendMessageRequest, type Task } from "@a2a-js/sdk";
import { ClientFactory, ClientFactoryOptions, DefaultAgentCardResolver, type Client } from "@a2a-js/sdk/client";
import { RequestMalformedError, TaskNotCancelableError, TaskNotFoundError, UnsupportedOperationError } from "@a2a-js/sdk/errors";
import { startWorker, type Worker } from "./harness.ts";

let worker: Worker;
let demo: Client;
before(async () => {
  worker = await startWorker();
  // Without a path, the client searches the card at the root of the host.
  demo = await new ClientFactory().createFromUrl(`${worker.url}/demo/`, ".well-known/agent-card.json");
});
after(() => worker.stop());

const part = (content: Part["content"]): Part => ({ content, metadata: undefined, filename: "", mediaType: "" });

/** A send of these parts. */
function saying(parts: string | Part[], changes: Partial<Message> = {}): SendMessageRequest {
  const message: Message = {
    messageId: randomUUID(), contextId: "", taskId: "", role: Role.ROLE_USER, metadata: undefined, extensions: [], referenceTaskIds: [],
    parts: typeof parts === "string" ? [part({ $case: "text", value: parts })] : parts,
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

const contents = (holder: { parts: Part[] } | undefined) => holder?.parts.map(({ content }) => content?.value as unknown);
const byId = (id: string) => ({ tenant: "", id });

describe("the client", () => {
  test("resolves the card of the default agent (§8.2)", async () => {
    const card = await new DefaultAgentCardResolver().resolve(worker.url);
    assert.equal(card.name, "Assistant");
    assert.equal(card.supportedInterfaces[0]?.protocolBinding, "JSONRPC");
    assert.equal(card.supportedInterfaces[0]?.protocolVersion, "1.0");
    assert.ok(card.skills.some(({ id }) => id === "add_numbers"));
  });

  test("resolves the cards of several agents at one host (§8.2)", async () => {
    assert.equal((await demo.getAgentCard()).name, "Demo");
    const assistant = await new ClientFactory().createFromUrl(worker.url);
    assert.equal((await assistant.getAgentCard()).name, "Assistant");
  });

  test("speaks 1.0 to an agent that it found by its card (§3.6.1)", () => {
    assert.equal(demo.protocolVersion, "1.0");
  });

  test("sends and gets the finished task (§3.1.1)", async () => {
    const task = await send(demo, saying("hello"));
    assert.equal(task.status?.state, TaskState.TASK_STATE_COMPLETED);
    assert.deepEqual(contents(task.artifacts[0]), ["hello"]);
    assert.deepEqual(task.history.map(({ role }) => role), [Role.ROLE_USER]);
    assert.ok(task.contextId);
  });

  test("gets a direct message (§3.1.1)", async () => {
    const answer = await demo.sendMessage(saying("message"));
    assert.ok("messageId" in answer);
    assert.equal(answer.role, Role.ROLE_AGENT);
    assert.deepEqual(contents(answer), ["A message instead of a task."]);
  });

  test("calls a tool with a data part (§4.1.6)", async () => {
    const assistant = await new ClientFactory().createFromUrl(worker.url);
    const value = { tool: "add_numbers", arguments: { a: 2, b: 40 } };
    const task = await send(assistant, saying([part({ $case: "data", value })]));
    assert.deepEqual(contents(task.artifacts[0]), [42]);
  });

  test("sends bytes and gets them back in the history (§4.1.6)", async () => {
    const bytes = Buffer.from([0, 1, 2, 253, 254, 255]);
    const file: Part = { ...part({ $case: "raw", value: bytes }), filename: "six.bin", mediaType: "application/octet-stream" };
    const task = await send(demo, saying([part({ $case: "text", value: "hello" }), file]));
    assert.deepEqual(task.history[0]?.parts[1], file);
  });

  test("gets a task by its id, with as much history as it wants (§3.1.3)", async () => {
    const task = await send(demo, saying("hello"));
    assert.deepEqual(await demo.getTask(byId(task.id)), task);
    assert.deepEqual((await demo.getTask({ ...byId(task.id), historyLength: 0 })).history, []);
  });

  test("talks over several turns (§3.4.3)", async () => {
    const asked = await send(demo, saying("ask"));
    assert.equal(asked.status?.state, TaskState.TASK_STATE_INPUT_REQUIRED);
    assert.deepEqual(contents(asked.status?.message), ["Which colour?"]);
    const task = await send(demo, saying("red", { taskId: asked.id, contextId: asked.contextId }));
    assert.equal(task.status?.state, TaskState.TASK_STATE_COMPLETED);
    assert.equal(task.id, asked.id);
    assert.deepEqual(contents(task.artifacts[0]), ["red"]);
    assert.deepEqual(task.history.flatMap(contents), ["ask", "Which colour?", "red"]);
  });

  test("cancels a task that it does not wait for (§3.1.5)", async () => {
    const configuration = { acceptedOutputModes: [], taskPushNotificationConfig: undefined, returnImmediately: true };
    const begun = await send(demo, { ...saying("hold 60000"), configuration });
    assert.notEqual(begun.status?.state, TaskState.TASK_STATE_COMPLETED);
    const canceled = await demo.cancelTask({ ...byId(begun.id), metadata: undefined });
    assert.equal(canceled.status?.state, TaskState.TASK_STATE_CANCELED);
  });

  test("streams, or gets the task in one piece where the card declares no streams (§3.1.2)", async () => {
    const states = [];
    for await (const { payload } of demo.sendMessageStream(saying("chunks"))) {
      if (payload?.$case === "task" || payload?.$case === "statusUpdate") states.push(payload.value.status?.state);
    }
    assert.equal(states.at(-1), TaskState.TASK_STATE_COMPLETED);
  });

  test("polls when it is set up to (§3.2.2)", async () => {
    const card = await new DefaultAgentCardResolver().resolve(`${worker.url}/demo/`, ".well-known/agent-card.json");
    const options = ClientFactoryOptions.createFrom(ClientFactoryOptions.default, { clientConfig: { polling: true } });
    const polling = await new ClientFactory(options).createFromAgentCard(card);
    const begun = await send(polling, saying("polls"));
    const states = [];
    while (states.at(-1) !== TaskState.TASK_STATE_COMPLETED) states.push((await polling.getTask(byId(begun.id))).status?.state);
    assert.ok(states.length >= 3, `${states.length} polls`);
  });
});

describe("the client throws", () => {
  test("TaskNotFoundError for an unknown task (§5.4)", async () => {
    await assert.rejects(demo.getTask(byId("unknown")), TaskNotFoundError);
    await assert.rejects(demo.cancelTask({ ...byId("unknown"), metadata: undefined }), TaskNotFoundError);
    await assert.rejects(demo.sendMessage(saying("hello", { taskId: "unknown" })), TaskNotFoundError);
  });

  test("TaskNotCancelableError for a finished task (§5.4)", async () => {
    const task = await send(demo, saying("hello"));
    await assert.rejects(demo.cancelTask({ ...byId(task.id), metadata: undefined }), TaskNotCancelableError);
  });

  test("UnsupportedOperationError for a message to a finished task (§5.4)", async () => {
    const task = await send(demo, saying("hello"));
    await assert.rejects(demo.sendMessage(saying("more", { taskId: task.id })), UnsupportedOperationError);
  });

  test("RequestMalformedError for a message that does not fit (§5.4)", async () => {
    await assert.rejects(demo.sendMessage(saying([])), RequestMalformedError);
    const asked = await send(demo, saying("ask"));
    const elsewhere = saying("red", { taskId: asked.id, contextId: randomUUID() });
    await assert.rejects(demo.sendMessage(elsewhere), RequestMalformedError);
  });
});
