// A conversation against an agent in memory.
import assert from "node:assert/strict";
import { test } from "node:test";
import "./page.ts";
import type { Endpoint, TaskEvent } from "../../console/src/api/endpoint.ts";
import { Conversation, type Draft } from "../../console/src/pages/chat/conversation.ts";

/** An agent whose streams are what `streams` gives, in their order. */
function agent(...streams: (() => AsyncGenerator<TaskEvent, void>)[]): Endpoint {
  return {
    key: "memory",
    path: ["memory"],
    card: () => Promise.reject(new Error("has no card")),
    call: () => Promise.reject(new Error("is not called")),
    stream: () => {
      const next = streams.shift();
      assert.ok(next !== undefined, "one stream more than was expected");
      return next();
    },
  };
}

const task = (id: string, state: string): TaskEvent => ({ id: "", response: { task: { id, contextId: "context", status: { state } } } as TaskEvent["response"] });

const said = (text: string): Draft => ({ parts: [{ text }], mode: "stream", acceptedOutputModes: [], skill: undefined, isNewTask: false });

const conversation = (endpoint: Endpoint): Conversation => new Conversation(endpoint, { canStream: true, ids: "marks", isRepeatable: false });

/** Lets everything go on that waits for nothing else. */
const settled = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 60));

test("a task that has ended leaves the way free for the next message, also while its stream stays open", async () => {
  const open = Promise.withResolvers<void>();
  const answered = Promise.withResolvers<void>();
  const talk = conversation(agent(
    async function* () {
      await answered.promise;
      yield task("one", "TASK_STATE_COMPLETED");
      await open.promise;
    },
    async function* () {
      yield task("two", "TASK_STATE_COMPLETED");
    },
  ));
  const first = talk.send(said("first"));
  await settled();
  assert.equal(talk.isSending.value, true, "nothing has answered yet");
  answered.resolve();
  await settled();
  assert.equal(talk.isSending.value, false);
  assert.equal(talk.current.value, undefined);
  await talk.send(said("second"));
  assert.deepEqual(talk.items.value.map((item) => (item.kind === "task" ? item.feed.taskId : "")), ["one", "two"]);
  open.resolve();
  await first;
  assert.equal(talk.isSending.value, false);
  talk.close();
});

test("the end of an earlier stream does not say that a later message was answered", async () => {
  const ends = Promise.withResolvers<void>();
  const answers = Promise.withResolvers<void>();
  const talk = conversation(agent(
    async function* () {
      yield task("one", "TASK_STATE_COMPLETED");
      await ends.promise;
    },
    async function* () {
      await answers.promise;
      yield task("two", "TASK_STATE_COMPLETED");
    },
  ));
  const first = talk.send(said("first"));
  await settled();
  const second = talk.send(said("second"));
  ends.resolve();
  await first;
  assert.equal(talk.isSending.value, true);
  answers.resolve();
  await second;
  assert.equal(talk.isSending.value, false);
  talk.close();
});
