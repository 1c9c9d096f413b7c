// ListTasks (spec §3.1.4): the listed tasks, their order, the filters, and the visibility for callers.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { before, describe, test } from "node:test";
import { Agent, followUp, message, until, type Task } from "./client.ts";
import { demo, everyPage, ids, inOrder, list, sendIn, withWorker, worker } from "./listing.ts";

withWorker();

test("nothing found is an empty list with all members (§3.1.4)", async () => {
  const empty = { tasks: [], nextPageToken: "", pageSize: 50, totalSize: 0 };
  assert.deepEqual(await list(demo, { contextId: randomUUID() }), empty);
});

for (const text of ["hello", "ask", "fail", "reject", "auth", "hold 50", "hold 600"]) {
  test(`what came of "${text}" is listed as soon as it is answered, as GetTask gives it but for artifacts (§3.1.4)`, async () => {
    const contextId = randomUUID();
    const { artifacts: _, ...task } = await sendIn(demo, contextId, text);
    const { tasks, totalSize } = await list(demo, { contextId });
    assert.deepEqual(tasks, [task]);
    assert.equal(totalSize, 1);
  });
}

test("a listed task follows its task: working, asking, answered, canceled (§3.1.4)", async () => {
  const contextId = randomUUID();
  const state = async () => (await list(demo, { contextId })).tasks.map(({ status }) => status.state);
  const held = await demo.sendForTask(message({ contextId, parts: [{ text: "hold 60000" }] }), { returnImmediately: true });
  await until(state, ([state]) => state === "TASK_STATE_WORKING");
  await demo.cancelTask(held.id);
  assert.deepEqual(await state(), ["TASK_STATE_CANCELED"]);

  const asked = await sendIn(demo, contextId, "ask");
  assert.deepEqual(await state(), ["TASK_STATE_INPUT_REQUIRED", "TASK_STATE_CANCELED"]);
  await demo.sendForTask(followUp(asked, "red"));
  assert.deepEqual(await state(), ["TASK_STATE_COMPLETED", "TASK_STATE_CANCELED"]);
});

test("a direct message is not listed (§3.1.4)", async () => {
  const contextId = randomUUID();
  await demo.send(message({ contextId, parts: [{ text: "message" }] }));
  assert.equal((await list(demo, { contextId })).totalSize, 0);
});

test("the newest status comes first, and a follow-up brings its task to the top (§3.1.4)", async () => {
  const contextId = randomUUID();
  const asked = await sendIn(demo, contextId, "ask");
  const others = await Promise.all(["a", "b", "c"].map((text) => sendIn(demo, contextId, text)));
  const before = await list(demo, { contextId });
  assert.deepEqual(ids(before.tasks), ids(inOrder([asked, ...others])));
  const answered = await demo.sendForTask(followUp(asked, "blue"));
  const { tasks } = await list(demo, { contextId });
  assert.deepEqual(ids(tasks), ids(inOrder([answered, ...others])));
  assert.equal(tasks[0]?.id, asked.id);
});

describe("filters", () => {
  let contextId: string;
  let tasks: Task[];
  before(async () => {
    contextId = randomUUID();
    tasks = [];
    for (const text of ["one", "fail", "two", "ask", "reject"]) tasks.push(await sendIn(demo, contextId, text));
  });

  for (const [status, count] of [
    ["TASK_STATE_COMPLETED", 2],
    ["TASK_STATE_FAILED", 1],
    ["TASK_STATE_REJECTED", 1],
    ["TASK_STATE_INPUT_REQUIRED", 1],
    ["TASK_STATE_WORKING", 0],
    ["TASK_STATE_UNSPECIFIED", 5],
    [3, 2],
    [6, 1],
    [0, 5],
  ] as const) {
    test(`status ${status} finds ${count} of 5 (§3.1.4)`, async () => {
      const found = await list(demo, { contextId, status });
      assert.equal(found.totalSize, count);
      assert.equal(found.tasks.length, count);
      assert.ok(found.tasks.every((task) => tasks.some(({ id, status }) => id === task.id && status.state === task.status.state)));
    });
  }

  for (const status of ["TASK_STATE_COMPLETED", "TASK_STATE_INPUT_REQUIRED"]) {
    test(`status ${status} is also found over all contexts, page by page (§3.1.4)`, async () => {
      const { tasks: all, totalSize } = await list(demo, { status, pageSize: 100 });
      assert.equal(all.length, totalSize);
      assert.ok(all.every((task) => task.status.state === status));
      const paged = await everyPage(demo, { status, pageSize: 1 });
      assert.deepEqual(ids(paged), ids(all));
    });
  }

  test("statusTimestampAfter includes that very instant, and goes with other filters (§3.1.4)", async () => {
    const middle = tasks[2]?.status.timestamp ?? "";
    const expected = tasks.filter(({ status }) => status.timestamp >= middle);
    const found = await list(demo, { contextId, statusTimestampAfter: middle });
    assert.deepEqual(ids(found.tasks), ids(inOrder(expected)));
    assert.equal(found.totalSize, expected.length);
    const future = new Date(Date.now() + 60_000).toISOString();
    assert.equal((await list(demo, { statusTimestampAfter: future })).totalSize, 0);
    const both = await list(demo, { statusTimestampAfter: middle, status: "TASK_STATE_REJECTED" });
    assert.ok(ids(both.tasks).includes(tasks[4]?.id ?? ""));
  });

  test("names are also understood in snake_case (§5.5)", async () => {
    const found = await list(demo, { context_id: contextId, page_size: 2, include_artifacts: false, history_length: 0 });
    assert.deepEqual([found.pageSize, found.totalSize, found.tasks.length], [2, 5, 2]);
  });
});

for (const [field, value] of [
  ["status", "DONE"],
  ["status", 99],
  ["historyLength", -1],
  ["statusTimestampAfter", "yesterday"],
  ["includeArtifacts", "yes"],
  ["contextId", 5],
  ["pageToken", {}],
] as const) {
  test(`${field} ${JSON.stringify(value)} is refused (§3.1.4)`, async () => {
    await assert.rejects(list(demo, { [field]: value }), { code: -32602, reason: "INVALID_PARAMS", fields: [field] });
  });
}

test("an agent lists its own tasks alone, at its path and by tenant (§3.1.4)", async () => {
  const contextId = randomUUID();
  const assistant = new Agent(worker.url);
  const [ours, theirs] = [await sendIn(demo, contextId, "hello"), await sendIn(assistant, contextId, "hello")];
  assert.deepEqual(ids((await list(demo, { contextId })).tasks), [ours.id]);
  assert.deepEqual(ids((await list(assistant, { contextId })).tasks), [theirs.id]);
  assert.deepEqual(ids((await list(assistant, { contextId, tenant: "demo" })).tasks), [ours.id]);
  await assert.rejects(list(assistant, { tenant: "unknown" }), { code: -32602, fields: ["tenant"] });
});

test("the HTTP+JSON binding lists the same, by its query (§11.3.3)", async () => {
  const contextId = randomUUID();
  for (const text of ["a", "fail", "b"]) await sendIn(demo, contextId, text);
  for (const params of [
    { contextId, pageSize: "2" },
    { contextId, status: "TASK_STATE_COMPLETED", historyLength: "0" },
    { contextId, includeArtifacts: "true", statusTimestampAfter: "2026-01-05T09:00:01.250Z" },
  ]) {
    const response = await fetch(`${demo.endpoint}/tasks?${new URLSearchParams(params)}`, { headers: { "a2a-version": "1.0" } });
    assert.equal(response.status, 200);
    const includeArtifacts = params.includeArtifacts === "true";
    assert.deepEqual(await response.json(), await list(demo, { ...params, includeArtifacts }));
  }
  const refused = await fetch(`${demo.endpoint}/tasks?pageSize=0`, { headers: { "a2a-version": "1.0" } });
  assert.equal(refused.status, 400);
});

test("tasks of another caller are neither listed nor counted (§3.1.4)", async () => {
  const contextId = randomUUID();
  const insert = "INSERT INTO tasks (owner, agent, status_ms, id, context_id, state, generation, head, history) VALUES ('stranger', 'demo', 1000, ?, ?, 3, 2, '{}', '')";
  await (await worker.index()).prepare(insert).bind(randomUUID(), contextId).run();
  assert.equal((await list(demo, { contextId })).totalSize, 0);
});
