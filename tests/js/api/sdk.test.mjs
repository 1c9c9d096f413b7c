// Executors of @a2a-js/sdk, unchanged: js/sdk.js.
import assert from "node:assert/strict";
import { describe, mock, test } from "node:test";
import { Role, TaskState } from "@a2a-js/sdk";
import { AgentEvent } from "@a2a-js/sdk/server";
import { Task, env, message, settled } from "./engine.mjs";

const { fromSdk } = await import("../../../js/sdk.js");

const part = (content, more = {}) => ({ content, metadata: undefined, filename: "", mediaType: "", ...more });
const text = (value) => part({ $case: "text", value });
const said = (...parts) => ({ messageId: "a", contextId: "", taskId: "", role: Role.ROLE_AGENT, parts, metadata: undefined, extensions: [], referenceTaskIds: [] });
const status = (state, ...parts) => ({ state: TaskState[`TASK_STATE_${state}`], message: parts.length > 0 ? said(...parts) : undefined, timestamp: undefined });
const update = ({ taskId, contextId }, ...given) => AgentEvent.statusUpdate({ taskId, contextId, status: status(...given), metadata: undefined });
const artifact = (artifactId, parts, more = {}) => ({ artifactId, name: "", description: "", parts, metadata: undefined, extensions: [], ...more });
const piece = ({ taskId, contextId }, given, append, lastChunk) => AgentEvent.artifactUpdate({ taskId, contextId, artifact: given, append, lastChunk, metadata: undefined });
const begun = ({ taskId, contextId }, state = "SUBMITTED", artifacts = []) =>
  AgentEvent.task({ id: taskId, contextId, status: status(state), artifacts, history: [], metadata: undefined });

const taskOf = (execute, turn, cancelTask = async () => {}) => new Task({ executors: { drawing: fromSdk(() => ({ execute, cancelTask })) } }, turn);

describe("an executor of the SDK", () => {
  test("says its events", async () => {
    const task = taskOf(async (context, bus) => {
      bus.publish(begun(context));
      bus.publish(update(context, "WORKING", text("drawing")));
      bus.publish(piece(context, artifact("picture", [text("a")], { name: "Picture", metadata: { width: 3 } }), false, false));
      bus.publish(piece(context, artifact("picture", [text("b")]), true, false));
      bus.publish(piece(context, artifact("picture", [part({ $case: "raw", value: Buffer.from("hi") }, { mediaType: "image/png", filename: "a.png" })]), true, true));
      bus.publish(piece(context, artifact("data", [part({ $case: "data", value: { a: 1 } }), part({ $case: "url", value: "https://a.example" })]), false, true));
      bus.publish(update(context, "COMPLETED"));
      bus.publish(update(context, "WORKING", text("too late")));
      bus.finished();
    });
    assert.equal(await task.execute(), undefined);
    assert.deepEqual(task.said, [
      { do: "working" },
      { do: "working", parts: [{ text: "drawing" }] },
      { do: "artifact", id: "picture", name: "Picture", metadata: { width: 3 }, more: true, parts: [{ text: "a" }] },
      { do: "append", id: "picture", text: "b", last: false },
      { do: "append", id: "picture", last: true, parts: [{ raw: "aGk=", filename: "a.png", mediaType: "image/png" }] },
      { do: "artifact", id: "data", more: false, parts: [{ data: { a: 1 } }, { url: "https://a.example" }] },
      { do: "complete" },
    ]);
  });

  test("answers with a message instead of a task", async () => {
    const task = taskOf(async (_, bus) => void bus.publish(AgentEvent.message(said(text("hi")))));
    assert.equal(await task.execute(), undefined);
    assert.deepEqual(task.said, [{ do: "reply", parts: [{ text: "hi" }] }]);
  });

  test("ends by each state, with a text where one is needed", async () => {
    for (const [state, verb, parts] of [
      ["COMPLETED", "complete"], ["FAILED", "fail", "the agent failed"], ["REJECTED", "reject", "the agent declines the message"],
      ["INPUT_REQUIRED", "input_required", "the agent needs an answer"], ["AUTH_REQUIRED", "auth_required", "the agent needs credentials"],
      ["CANCELED", "fail", "the agent has canceled the task"],
    ]) {
      const bare = taskOf(async (context, bus) => void bus.publish(update(context, state)));
      await bare.execute();
      assert.deepEqual(bare.said, [{ do: verb, ...(parts === undefined ? {} : { text: parts }) }]);
      const told = taskOf(async (context, bus) => void bus.publish(update(context, state, text("why"))));
      await told.execute();
      assert.deepEqual(told.said, [{ do: verb, parts: [{ text: "why" }] }]);
    }
  });

  test("gets the message and the caller", async () => {
    let seen;
    const task = taskOf(async (context, bus) => {
      seen = context;
      bus.publish(update(context, "COMPLETED"));
    }, { message: { ...message("a", { raw: "aGk=", mediaType: "image/png" }, { data: { b: 1 } }, { url: "https://a.example" }), metadata: { m: 1 } }, metadata: { trial: true } });
    await task.execute();
    const { userMessage, taskId, contextId, request } = seen;
    assert.deepEqual([taskId, contextId, request.metadata, seen.task], ["task-1", "context-1", { trial: true }, undefined]);
    assert.deepEqual([userMessage.taskId, userMessage.contextId, userMessage.role, userMessage.metadata, userMessage.messageId], ["task-1", "context-1", Role.ROLE_USER, { m: 1 }, "m"]);
    assert.deepEqual(userMessage.parts, [
      text("a"), part({ $case: "raw", value: new Uint8Array([104, 105]) }, { mediaType: "image/png" }), part({ $case: "data", value: { b: 1 } }), part({ $case: "url", value: "https://a.example" }),
    ]);
    assert.deepEqual([seen.context.user.isAuthenticated, seen.context.user.userName], [true, "ada"]);
  });

  test("asks, and gets the task with the answer", async () => {
    let seen;
    const task = taskOf(async (context, bus) => {
      seen = context.task;
      if (context.task === undefined) bus.publish(update(context, "INPUT_REQUIRED", text("Which color?")));
      else bus.publish(begun(context, "COMPLETED", [artifact("picture", [text("red")]), artifact("old", [text("again")])]));
    });
    await task.execute();
    Object.assign(task.turn, { number: 2, message: message("red") });
    task.answers.task = JSON.stringify({ id: "task-1", status: { state: "TASK_STATE_WORKING" }, artifacts: [{ artifactId: "old", parts: [{ text: "b" }] }] });
    task.answers.history = JSON.stringify([message("draw"), { ...message("Which color?"), role: "ROLE_AGENT" }, message("red")]);
    task.answers.credentials = async () => "";
    await task.execute();
    assert.equal(seen.status.state, TaskState.TASK_STATE_INPUT_REQUIRED);
    assert.equal(seen.status.message.parts[0].content.value, "Which color?");
    assert.deepEqual(seen.artifacts, [artifact("old", [text("b")])]);
    assert.deepEqual(seen.history.map(({ parts }) => parts[0].content.value), ["draw", "Which color?", "red"]);
    assert.deepEqual(task.said.slice(1), [{ do: "artifact", id: "picture", more: false, parts: [{ text: "red" }] }, { do: "complete" }]);
  });

  test("is told of a cancel, and of nothing else", async () => {
    const canceled = mock.fn(async (taskId, bus) => bus.publish(update({ taskId, contextId: "" }, "CANCELED")));
    const { promise, resolve } = Promise.withResolvers();
    const task = taskOf(async (context, bus) => {
      bus.publish(begun(context, "WORKING"));
      await promise;
      bus.publish(update(context, "COMPLETED"));
    }, {}, canceled);
    const run = task.begin();
    await settled();
    run.over("canceled");
    assert.deepEqual(canceled.mock.calls.map(({ arguments: [taskId] }) => taskId), ["task-1"]);
    resolve();
    assert.equal(await run.end, "");
    run.over("over");
    assert.deepEqual(task.said, [{ do: "working" }]);
    const done = taskOf(async (context, bus) => void bus.publish(update(context, "COMPLETED")), {}, canceled);
    await done.execute();
    assert.equal(canceled.mock.callCount(), 1);
  });

  test("fails if it throws, or returns while the task goes on", async () => {
    const thrown = await taskOf(async () => Promise.reject(new Error("no paint"))).execute();
    assert.deepEqual([thrown.failed, thrown.isFailure], ["no paint", false]);
    const left = await taskOf(async (context, bus) => void bus.publish(update(context, "WORKING"))).execute();
    assert.match(left.failed, /the executor has returned while its task had the state TASK_STATE_WORKING; publish a message, or a status that ends the turn/);
    const silent = await taskOf(async () => {}).execute();
    assert.match(silent.failed, /had no state/);
  });

  test("fails where the engine refuses an event, though the executor goes on", async () => {
    const task = taskOf(async (context, bus) => {
      bus.publish(piece(context, artifact("a", [text("b")]), false, true));
      bus.publish(update(context, "COMPLETED"));
    });
    task.answers.say = () => {
      throw "a task holds at most 1 artifacts";
    };
    assert.equal((await task.execute()).failed, "a task holds at most 1 artifacts");
  });

  test("is made for each turn, with the bindings of the project and the turn", async () => {
    const make = mock.fn(() => ({ execute: async (context, bus) => void bus.publish(update(context, "COMPLETED")), cancelTask: async () => {} }));
    const task = new Task({ executors: { drawing: fromSdk(make, { recovery: "restart" }) } });
    await task.execute();
    await task.execute();
    assert.equal(make.mock.callCount(), 2);
    const [bindings, turn] = make.mock.calls[0].arguments;
    assert.deepEqual(bindings, { FILES: env.FILES, SHOP_URL: env.SHOP_URL });
    assert.equal(turn.text, "hello");
    assert.equal(JSON.parse(task.functions.describe()).executors[0].recovery, "restart");
  });
});
