// SendMessage that begins a task, with or without waiting, or returns a direct message (spec §3.1.1).
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, before, describe, test } from "node:test";
import { Agent, message, textOf, untilEnded, type Task } from "./client.ts";
import { startWorker, type Worker } from "./harness.ts";

let worker: Worker;
let demo: Agent;
before(async () => {
  worker = await startWorker({ notes: true });
  demo = new Agent(`${worker.url}/demo`);
});
after(() => worker.stop());

describe("a blocking send", () => {
  test("gives the finished task with its artifact and history (§3.1.1)", async () => {
    const said = message("hello");
    const task = await demo.sendForTask(said);
    assert.equal(task.status.state, "TASK_STATE_COMPLETED");
    assert.match(task.status.timestamp, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    assert.deepEqual(task.artifacts, [{ artifactId: "echo", name: "echo", parts: [{ text: "hello" }] }]);
    assert.deepEqual(task.history, [{ ...said, taskId: task.id, contextId: task.contextId }]);
  });

  test("waits for an agent that takes its time (§3.2.2)", async () => {
    const task = await demo.sendForTask("hold 300");
    assert.equal(task.status.state, "TASK_STATE_COMPLETED");
    assert.equal(textOf(task.artifacts?.[0]), "hold 300");
  });

  test("ends where the agent asks something (§3.2.2)", async () => {
    const task = await demo.sendForTask("ask");
    assert.equal(task.status.state, "TASK_STATE_INPUT_REQUIRED");
    assert.equal(textOf(task.status.message), "Which colour?");
    assert.equal(task.artifacts, undefined);
  });

  test("gives the working task at the blocking limit; a run that takes too long fails it later (§3.2.2)", async (t) => {
    const hurried = await startWorker({ vars: { BLOCKING_LIMIT_MS: "300", RUN_TIMEOUT_MS: "5000" } });
    t.after(() => hurried.stop());
    const agent = new Agent(`${hurried.url}/demo`);
    const task = await agent.sendForTask("hold 60000");
    assert.equal(task.status.state, "TASK_STATE_WORKING");
    const ended = await untilEnded(agent, task.id);
    assert.equal(ended.status.state, "TASK_STATE_FAILED");
    assert.match(textOf(ended.status.message), /timed out/);
  });
});

describe("returnImmediately", () => {
  test("gives the task while it is at work; GetTask sees its end (§3.2.2)", async () => {
    const task = await demo.sendForTask("hold 500", { returnImmediately: true });
    assert.ok(["TASK_STATE_SUBMITTED", "TASK_STATE_WORKING"].includes(task.status.state), task.status.state);
    assert.equal(task.artifacts, undefined);
    assert.equal(task.history?.length, 1);

    const ended = await untilEnded(demo, task.id);
    assert.equal(ended.status.state, "TASK_STATE_COMPLETED");
    assert.equal(ended.contextId, task.contextId);
    assert.equal(textOf(ended.artifacts?.[0]), "hold 500");
  });

  test("has no effect on a direct message (§3.2.2)", async () => {
    const answer = await demo.send("message", { returnImmediately: true });
    assert.equal(textOf(answer.message), "A message instead of a task.");
    assert.equal(answer.task, undefined);
  });
});

describe("historyLength", () => {
  for (const [what, configuration, count] of [
    ["0 leaves the history out", { historyLength: 0 }, undefined],
    ["1 gives the newest message", { historyLength: 1 }, 1],
    ["5 gives what there is", { historyLength: 5 }, 1],
    ["left out gives all", {}, 1],
  ] as const) {
    test(`${what} (§3.2.4)`, async () => {
      const task = await demo.sendForTask("hello", configuration);
      assert.equal(task.history?.length, count);
      assert.equal(textOf(task.artifacts?.[0]), "hello");
      assert.equal((await demo.getTask(task.id)).history?.length, 1, "the task itself has it");
    });
  }
});

describe("a direct message", () => {
  test("comes from the agent, with a context and without a task (§3.1.1)", async () => {
    const { message: reply, task } = await demo.send("message");
    assert.equal(task, undefined);
    assert.ok(reply);
    assert.equal(reply.role, "ROLE_AGENT");
    assert.equal(textOf(reply), "A message instead of a task.");
    assert.ok(reply.messageId);
    assert.ok(reply.contextId);
    assert.equal(reply.taskId, undefined);
  });

  test("keeps the context that the client gives (§3.4.1)", async () => {
    const contextId = randomUUID();
    const { message: reply } = await demo.send({ parts: [{ text: "message" }], contextId });
    assert.equal(reply?.contextId, contextId);
  });
});

describe("contexts", () => {
  test("a new task without one gets a new one (§3.4.1)", async () => {
    const [one, other] = await Promise.all([demo.sendForTask("hello"), demo.sendForTask("hello")]);
    assert.ok(one.contextId);
    assert.notEqual(one.contextId, other.contextId);
    assert.notEqual(one.id, other.id);
  });

  test("a new task keeps the one that the client gives, also for the agent's words (§3.4.1)", async () => {
    for (const contextId of [randomUUID(), `my conversation / 1 ✓ ${randomUUID()}`]) {
      const task = await demo.sendForTask({ parts: [{ text: "ask" }], contextId });
      assert.equal(task.contextId, contextId);
      assert.equal(task.status.message?.contextId, contextId);
      assert.equal(task.history?.[0]?.contextId, contextId);
    }
  });

  test("two tasks may share one (§3.4.1)", async () => {
    const contextId = randomUUID();
    const first = await demo.sendForTask({ contextId });
    const second = await demo.sendForTask({ contextId });
    assert.notEqual(first.id, second.id);
    assert.equal(second.contextId, contextId);
    assert.equal(second.history?.length, 1);
  });
});

describe("content", () => {
  for (const [what, text] of [
    ["of many scripts", "Grüße, 世界 👩‍👩‍👧 \u0000 \u2028 \"quoted\" \\ {text} {1}"],
    ["of several lines", "one\r\ntwo\n\n\tthree "],
    ["of 200 kB", "0123456789".repeat(20_000)],
    ["that is empty", ""],
  ] as const) {
    test(`text ${what} comes back as it was (§4.1.6)`, async () => {
      const task = await demo.sendForTask(text);
      assert.equal(task.artifacts?.[0]?.parts[0]?.text, text);
      assert.equal(task.history?.[0]?.parts[0]?.text, text);
    });
  }

  test("parts of every kind are kept as they were (§4.1.6)", async () => {
    const parts = [
      { text: "hello", mediaType: "text/markdown" },
      { raw: "+/8=", filename: "two.bin", mediaType: "application/octet-stream" },
      { url: "https://files.example/a b?c#d", metadata: { "com.example/nested": { list: [1, 2.5, null, true] } } },
      { data: { deep: [{ er: -1e-7 }], "": null } },
      { data: 5 },
      { data: false },
    ];
    const metadata = { "com.example/k": "v" };
    const task = await demo.sendForTask({ parts, metadata });
    assert.deepEqual(task.history?.[0]?.parts, parts);
    assert.deepEqual(task.history?.[0]?.metadata, metadata);
  });

  test("base64 of every spelling is kept in the standard one (§5.5)", async () => {
    for (const raw of ["+/8=", "+/8", "-_8=", "-_8"]) {
      const task = await demo.sendForTask({ parts: [{ text: "hello" }, { raw }] });
      assert.equal(task.history?.[0]?.parts[1]?.raw, "+/8=", raw);
    }
  });

  test("the metadata of the request becomes that of the task (§3.2.1)", async () => {
    const metadata = { "com.example/trace": ["a", { b: 1 }] };
    const { task } = await demo.call<{ task: Task }>("SendMessage", { message: message("hello"), metadata });
    assert.deepEqual(task.metadata, metadata);
    assert.deepEqual((await demo.getTask(task.id)).metadata, metadata);
  });

  test("names in snake case, enum numbers and unknown members are taken (§5.5)", async () => {
    const said = { message_id: randomUUID(), context_id: randomUUID(), role: 1, parts: [{ text: "ask", media_type: "text/plain" }] };
    const params = { message: { ...said, surprise: {} }, configuration: { history_length: "0", more: 1 }, surprise: [] };
    const { task } = await demo.call<{ task: Task }>("SendMessage", params);
    assert.equal(task.contextId, said.context_id);
    assert.equal(task.history, undefined);
    const [kept] = (await demo.getTask(task.id)).history ?? [];
    assert.equal(kept?.messageId, said.message_id);
    assert.equal(kept?.role, "ROLE_USER");
    assert.deepEqual(kept?.parts, [{ text: "ask", mediaType: "text/plain" }]);
    assert.ok(!("surprise" in (kept ?? {})), "nothing unknown is given out");
  });

  test("the agent receives the message (§3.1.1)", async () => {
    const said = message({ parts: [{ text: "hello" }], metadata: { k: "v" } });
    const { id } = await demo.sendForTask(said);
    assert.equal((await worker.given()).filter((given) => given === said.messageId).length, 1);
    const { history, artifacts } = await demo.getTask(id);
    assert.deepEqual([textOf(history?.[0]), history?.[0]?.metadata, textOf(artifacts?.[0])], ["hello", { k: "v" }, "hello"]);
  });
});
