// A conversation against an agent in memory.
import assert from "node:assert/strict";
import { test } from "node:test";
import "./page.ts";
import type { Endpoint, TaskEvent } from "../../console/src/api/endpoint.ts";
import { GENERATION_EXTENSION } from "../../console/src/api/follow.ts";
import type { Ids } from "../../console/src/api/fold.ts";
import { Conversation, type Draft } from "../../console/src/pages/chat/conversation.ts";

type Stream = (params: SendParams) => AsyncGenerator<TaskEvent, void>;

/** What the tests read of the parameters of a call. */
type SendParams = { id?: string; message?: { taskId?: string; contextId?: string } };

/** An agent whose streams are what `streams` gives, in their order, and which answers other calls by `call`. */
function agent(streams: Stream[], call: (method: string, params: SendParams) => Promise<unknown> = () => Promise.reject(new Error("is not called"))): Endpoint {
  return {
    key: "memory",
    path: ["memory"],
    card: () => Promise.reject(new Error("has no card")),
    call: <Answer>(method: string, params: object) => call(method, params) as Promise<Answer>,
    stream: (_method, params) => {
      const next = streams.shift();
      assert.ok(next !== undefined, "one stream more than was expected");
      return next(params);
    },
  };
}

const task = (id: string, state: string): TaskEvent => ({ id: "", response: { task: { id, contextId: "context", status: { state } } } as TaskEvent["response"] });

const said = (text: string): Draft => ({ parts: [{ text }], mode: "stream", acceptedOutputModes: [], skill: undefined, isNewTask: false });

const conversation = (endpoint: Endpoint, ids: Ids = "marks"): Conversation => new Conversation(endpoint, { canStream: true, ids, isRepeatable: false });

const shownIds = (talk: Conversation): (string | undefined)[] => talk.items.value.map((item) => (item.kind === "task" ? item.feed.taskId : undefined));

/** Lets everything go on that waits for nothing else. */
const settled = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 60));

test("a task that has ended leaves the way free for the next message, also while its stream stays open", async () => {
  const open = Promise.withResolvers<void>();
  const answered = Promise.withResolvers<void>();
  const talk = conversation(agent([
    async function* () {
      await answered.promise;
      yield task("one", "TASK_STATE_COMPLETED");
      await open.promise;
    },
    async function* () {
      yield task("two", "TASK_STATE_COMPLETED");
    },
  ]));
  const first = talk.send(said("first"));
  await settled();
  assert.equal(talk.isSending.value, true, "nothing has answered yet");
  answered.resolve();
  await settled();
  assert.equal(talk.isSending.value, false);
  assert.equal(talk.current.value, undefined);
  await talk.send(said("second"));
  assert.deepEqual(shownIds(talk), ["one", "two"]);
  open.resolve();
  await first;
  assert.equal(talk.isSending.value, false);
  talk.close();
});

test("the end of an earlier stream does not say that a later message was answered", async () => {
  const ends = Promise.withResolvers<void>();
  const answers = Promise.withResolvers<void>();
  const talk = conversation(agent([
    async function* () {
      yield task("one", "TASK_STATE_COMPLETED");
      await ends.promise;
    },
    async function* () {
      await answers.promise;
      yield task("two", "TASK_STATE_COMPLETED");
    },
  ]));
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

/** A task that has asked, as `GetTask` returns it: its third event was the question. */
const asking = { id: "one", contextId: "context", status: { state: "TASK_STATE_INPUT_REQUIRED" }, metadata: { [`${GENERATION_EXTENSION}/generation`]: 3 } };

test("an answer belongs to the task that is shown, also before its events have been replayed", async () => {
  const replayed = Promise.withResolvers<void>();
  const sent: SendParams[] = [];
  const talk = conversation(agent([
    async function* () {
      await replayed.promise;
    },
    async function* (params) {
      sent.push(params);
      const completed = { taskId: "one", contextId: "context", status: { state: "TASK_STATE_COMPLETED" } };
      yield { id: "4", response: { statusUpdate: completed } as TaskEvent["response"] };
    },
  ], (method) => (method === "GetTask" ? Promise.resolve(asking) : Promise.resolve({ tasks: [asking] }))), "generations");
  await talk.open("one");
  assert.equal(talk.current.value?.taskId, "one");
  await talk.send(said("green"));
  await settled();
  assert.deepEqual(sent.map(({ message }) => message?.taskId), ["one"]);
  assert.deepEqual(shownIds(talk), ["one"]);
  const [item] = talk.items.value;
  assert.equal(item?.kind === "task" && item.feed.story.value.task?.status.state, "TASK_STATE_COMPLETED", "what the snapshot had is kept, and the events go on behind it");
  replayed.resolve();
  talk.close();
});

test("what is sent while a context is read is kept, behind what was there", async () => {
  const listed = Promise.withResolvers<void>();
  const earlierRead = Promise.withResolvers<void>();
  const done = (id: string) => ({ id, contextId: "context", status: { state: "TASK_STATE_COMPLETED" } });
  const send = async function* (): AsyncGenerator<TaskEvent, void> {
    yield task(`sent ${talk.items.value.length}`, "TASK_STATE_COMPLETED");
  };
  const talk = conversation(agent([send, send], async (method, { id = "" }) => {
    if (method === "GetTask" && id === "opened") return done(id);
    await (method === "ListTasks" ? listed : earlierRead).promise;
    return method === "ListTasks" ? { tasks: [done("sent 2"), done("opened"), done("earlier")] } : done(id);
  }));
  const opened = talk.open("opened");
  await settled();
  await talk.send(said("while the tasks are listed"));
  listed.resolve();
  await settled();
  await talk.send(said("while they are read"));
  earlierRead.resolve();
  await opened;
  assert.deepEqual(shownIds(talk), ["earlier", "opened", "sent 2", "sent 3"]);
  talk.close();
});
