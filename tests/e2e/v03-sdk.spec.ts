// The official client of A2A 0.3, `@a2a-js/sdk` 0.3, over both of its transports: it parses all answers.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, before, describe, test } from "node:test";
import type { GetTaskPushNotificationConfigParams, Message, MessageSendParams, Part, Task } from "@a2a-js/sdk-0.3";
import {
  ClientFactory, ClientFactoryOptions, TaskNotCancelableError, TaskNotFoundError, UnsupportedOperationError, type Client,
} from "@a2a-js/sdk-0.3/client";
import { Agent } from "./client.ts";
import { startWorker, type Worker } from "./harness.ts";
import { speaking, TRANSPORTS, type Transport } from "./v03.ts";

let worker: Worker;
/** The same agent for a client of 1.0. */
let today: Agent;
before(async () => {
  worker = await startWorker({ vars: speaking({ file_bytes: "single" }) });
  today = new Agent(`${worker.url}/demo`);
});
after(() => worker.stop());

/** A client that finds the transport in the card. */
function connect(transport: Transport): Promise<Client> {
  const options = ClientFactoryOptions.createFrom(ClientFactoryOptions.default, { preferredTransports: [transport] });
  return new ClientFactory(options).createFromUrl(`${worker.url}/demo/`, ".well-known/agent-card.json");
}

const texts = (holder: { parts: Part[] } | undefined) => holder?.parts.map((part) => (part.kind === "text" ? part.text : part.kind));

/** A send of these parts. */
function saying(parts: string | Part[], changes: Partial<Message> = {}): MessageSendParams {
  const message: Message = {
    kind: "message", messageId: randomUUID(), role: "user",
    parts: typeof parts === "string" ? [{ kind: "text", text: parts }] : parts,
    ...changes,
  };
  return { message };
}

/** Sends and returns the task. */
async function send(client: Client, params: MessageSendParams): Promise<Task> {
  const answer = await client.sendMessage(params);
  assert.equal(answer.kind, "task");
  return answer as Task;
}

for (const transport of TRANSPORTS) {
  describe(`the client of 0.3 over ${transport}`, () => {
    let client: Client;
    before(async () => {
      client = await connect(transport);
    });

    test("sends and gets the finished task", async () => {
      const task = await send(client, saying("hello"));
      assert.equal(task.status.state, "completed");
      assert.deepEqual(texts(task.artifacts?.[0]), ["hello"]);
      assert.deepEqual(task.history?.map(({ kind, role }) => [kind, role]), [["message", "user"]]);
      assert.deepEqual(await client.getTask({ id: task.id }), task);
      const short = await client.getTask({ id: task.id, historyLength: 0 });
      assert.equal(short.history?.length ?? 0, 0);
    });

    test("gets a direct message", async () => {
      const answer = await client.sendMessage(saying("message"));
      assert.equal(answer.kind, "message");
      assert.equal((answer as Message).role, "agent");
      assert.deepEqual(texts(answer as Message), ["A message instead of a task."]);
    });

    test("sends bytes, links and data, and gets them back in the history", async () => {
      const sent: Part[] = [
        { kind: "text", text: "hello" },
        { kind: "file", file: { bytes: Buffer.from([0, 1, 2, 253, 254, 255]).toString("base64"), mimeType: "application/octet-stream" } },
        { kind: "file", file: { uri: "https://x.example.org/i.pdf", mimeType: "application/pdf" } },
        { kind: "data", data: { total: 41.2, list: [1, { a: null }] } },
      ];
      const task = await send(client, saying(sent));
      assert.deepEqual(task.history?.[0]?.parts, sent);
    });

    test("talks over several turns", async () => {
      const asked = await send(client, saying("ask"));
      assert.equal(asked.status.state, "input-required");
      assert.deepEqual(texts(asked.status.message), ["Which colour?"]);
      const task = await send(client, saying("red", { taskId: asked.id, contextId: asked.contextId }));
      assert.equal(task.status.state, "completed");
      assert.equal(task.id, asked.id);
      assert.deepEqual(task.history?.flatMap(texts), ["ask", "Which colour?", "red"]);
    });

    test("cancels a task that it does not wait for", async () => {
      const begun = await send(client, { ...saying("hold 60000"), configuration: { blocking: false } });
      assert.notEqual(begun.status.state, "completed");
      assert.equal((await client.cancelTask({ id: begun.id })).status.state, "canceled");
    });

    test("follows a stream to its end", async () => {
      const events = [];
      for await (const event of client.sendMessageStream(saying("chunks"))) events.push(event);
      assert.deepEqual([events[0]?.kind, events.at(-1)?.kind], ["task", "status-update"]);
      const finals = events.flatMap((event) => (event.kind === "status-update" ? [event.final] : []));
      assert.deepEqual(finals, [...finals.slice(1).map(() => false), true]);
      const chunks = events.flatMap((event) => (event.kind === "artifact-update" ? [event] : []));
      assert.equal(chunks.flatMap(({ artifact }) => texts(artifact)).join(""), "one two three");
      assert.deepEqual(chunks.map(({ lastChunk }) => lastChunk), [false, false, true]);
      // Over HTTP+JSON the client leaves `append` out.
      if (transport === "JSONRPC") assert.deepEqual(chunks.map(({ append }) => append), [false, true, true]);
    });

    test("is told by the end of a stream that it is its turn", async () => {
      let last;
      for await (const event of client.sendMessageStream(saying("ask"))) last = event;
      assert.equal(last?.kind === "status-update" && last.status.state, "input-required");
      assert.equal(last?.kind === "status-update" && last.final, true);
    });

    test("gets a message as a stream of one event", async () => {
      const kinds = [];
      for await (const { kind } of client.sendMessageStream(saying("message"))) kinds.push(kind);
      assert.deepEqual(kinds, ["message"]);
    });

    test("follows a task that others have begun, also when it is finished", async () => {
      const begun = await today.sendForTask("hold 60000", { returnImmediately: true });
      const stream = client.resubscribeTask({ id: begun.id });
      const first = await stream.next();
      assert.equal(first.value?.kind === "task" && first.value.id, begun.id);
      await today.cancelTask(begun.id);
      const rest = [];
      for await (const event of stream) rest.push(event);
      const last = rest.at(-1);
      assert.equal(last?.kind === "status-update" && last.status.state, "canceled");
      const again = [];
      for await (const event of client.resubscribeTask({ id: begun.id })) again.push(event);
      assert.deepEqual(again.map((event) => event.kind === "task" && event.status.state), ["canceled"]);
    });

    test("registers webhooks and gets them", async () => {
      const { id: taskId } = await send(client, saying("ask"));
      const url = "https://hooks.example.com/a";
      const authentication = { schemes: ["Bearer"], credentials: "c" };
      const made = await client.setTaskPushNotificationConfig({ taskId, pushNotificationConfig: { id: "c-1", url, token: "t", authentication } });
      assert.deepEqual([made.taskId, made.pushNotificationConfig.id, made.pushNotificationConfig.url], [taskId, "c-1", url]);
      assert.deepEqual(made.pushNotificationConfig.authentication?.schemes, ["Bearer"]);
      const unnamed = await client.setTaskPushNotificationConfig({ taskId, pushNotificationConfig: { url } });
      assert.equal(unnamed.pushNotificationConfig.id, taskId, "without an id it has that of its task");
      const one: GetTaskPushNotificationConfigParams = { id: taskId, pushNotificationConfigId: "c-1" };
      const got = await client.getTaskPushNotificationConfig(one);
      assert.equal(got.pushNotificationConfig.url, url);
    });

    test("lists webhooks and deletes them", async () => {
      const { id: taskId } = await send(client, saying("ask"));
      for (const id of ["c-1", "c-2"]) {
        await client.setTaskPushNotificationConfig({ taskId, pushNotificationConfig: { id, url: "https://hooks.example.com/a" } });
      }
      const ids = async () => {
        const listed = await client.listTaskPushNotificationConfig({ id: taskId });
        return listed.map(({ pushNotificationConfig }) => pushNotificationConfig.id).sort();
      };
      assert.deepEqual(await ids(), ["c-1", "c-2"]);
      const one = { id: taskId, pushNotificationConfigId: "c-1" };
      await client.deleteTaskPushNotificationConfig(one);
      assert.deepEqual(await ids(), ["c-2"]);
      await assert.rejects(client.getTaskPushNotificationConfig(one as GetTaskPushNotificationConfigParams), TaskNotFoundError);
    });

    test("throws the errors of their codes", async () => {
      await assert.rejects(client.getTask({ id: "unknown" }), TaskNotFoundError);
      await assert.rejects(client.cancelTask({ id: "unknown" }), TaskNotFoundError);
      await assert.rejects(client.sendMessage(saying("hello", { taskId: "unknown" })), TaskNotFoundError);
      const task = await send(client, saying("hello"));
      await assert.rejects(client.cancelTask({ id: task.id }), TaskNotCancelableError);
      await assert.rejects(client.sendMessage(saying("more", { taskId: task.id })), UnsupportedOperationError);
      const field = transport === "JSONRPC" ? "message.parts" : "message.content";
      await assert.rejects(client.sendMessage(saying([])), new RegExp(`invalid parameters: ${field} is required.*-32602`));
    });

    test("reads a task of 1.0, and writes one that 1.0 reads", async () => {
      const theirs = await today.sendForTask({ parts: [{ text: "hello", mediaType: "text/plain" }, { data: [1, 2] }] });
      const read = await client.getTask({ id: theirs.id });
      assert.deepEqual([read.status.state, read.contextId, texts(read.artifacts?.[0])], ["completed", theirs.contextId, ["hello"]]);
      const value = { kind: "data", data: { value: [1, 2] } };
      assert.deepEqual(read.history?.[0]?.parts.map(({ kind, ...rest }) => ("data" in rest ? { kind, data: rest.data } : kind)), ["text", value]);
      const ours = await send(client, saying([{ kind: "text", text: "ask" }, { kind: "data", data: { a: 1 } }]));
      const seen = await today.getTask(ours.id);
      assert.deepEqual(seen.history?.[0]?.parts, [{ text: "ask" }, { data: { a: 1 } }]);
      const answered = await today.sendForTask({ taskId: ours.id, parts: [{ text: "red" }] });
      const { status } = await client.getTask({ id: answered.id });
      assert.equal(status.state, "completed");
    });
  });
}
