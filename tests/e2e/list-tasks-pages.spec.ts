// The pages of ListTasks (spec §3.1.4): their sizes, their tokens, and the shown members of tasks.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { before, describe, test } from "node:test";
import { Agent, followUp, textOf, type Task } from "./client.ts";
import { demo, everyPage, ids, inOrder, list, sendIn, withWorker, worker } from "./listing.ts";

withWorker();

describe("paging", () => {
  for (const pageSize of [1, 2, 3, 7, 100]) {
    test(`pages of ${pageSize} show every task once, while others are added (§3.1.4)`, async () => {
      const contextId = randomUUID();
      const made = await Promise.all(Array.from({ length: 7 }, (_, index) => sendIn(demo, contextId, `task ${index}`)));
      const shown = await everyPage(demo, { contextId, pageSize }, () => sendIn(demo, contextId, "another"));
      assert.deepEqual(ids(shown), ids(inOrder(made)));
    });
  }

  test("tasks with the same instant are paged without gaps (§3.1.4)", async () => {
    const d1 = await worker.index();
    const contextId = randomUUID();
    const insert = "INSERT INTO tasks (owner, agent, status_ms, id, context_id, state, generation, head, history) VALUES ('anonymous', 'demo', 1000, ?, ?, 3, 2, ?, '')";
    const names = Array.from({ length: 5 }, (_, index) => `${contextId}-${index}`);
    const head = (id: string) => JSON.stringify({ id, contextId, status: { state: "TASK_STATE_COMPLETED" } });
    await d1.batch(names.map((id) => d1.prepare(insert).bind(id, contextId, head(id))));
    assert.deepEqual(ids(await everyPage(demo, { contextId, pageSize: 2 })), names.reverse());
  });

  test("the page size that is told is the one asked for, the total that of all pages (§3.1.4)", async () => {
    const contextId = randomUUID();
    for (const text of ["a", "b", "c"]) await sendIn(demo, contextId, text);
    const first = await list(demo, { contextId, pageSize: 2 });
    assert.deepEqual([first.pageSize, first.totalSize, first.tasks.length], [2, 3, 2]);
    const last = await list(demo, { contextId, pageSize: 2, pageToken: first.nextPageToken });
    assert.deepEqual([last.pageSize, last.totalSize, last.tasks.length, last.nextPageToken], [2, 3, 1, ""]);
  });

  for (const pageSize of [0, -1, 101, 1.5, "many", true, 4_294_967_297]) {
    test(`a page size of ${JSON.stringify(pageSize)} is refused (§3.1.4)`, async () => {
      await assert.rejects(list(demo, { pageSize }), { code: -32602, reason: "INVALID_PARAMS", fields: ["pageSize"] });
    });
  }

  for (const pageToken of ["x", "%%%", "bm90IGEgdG9rZW4", "a".repeat(10_000)]) {
    test(`the page token ${pageToken.slice(0, 20)} is refused (§3.1.4)`, async () => {
      await assert.rejects(list(demo, { pageToken }), { code: -32602, reason: "INVALID_PARAMS", fields: ["pageToken"] });
    });
  }

  test("a page token is refused with other filters, and with another agent (§3.1.4)", async () => {
    const contextId = randomUUID();
    for (const text of ["a", "b"]) await sendIn(demo, contextId, text);
    const { nextPageToken: pageToken } = await list(demo, { contextId, pageSize: 1 });
    const refused = { code: -32602, fields: ["pageToken"] };
    await assert.rejects(list(demo, { pageToken }), refused);
    await assert.rejects(list(demo, { contextId, status: 3, pageToken }), refused);
    await assert.rejects(list(new Agent(worker.url), { contextId, pageToken }), refused);
    assert.equal((await list(demo, { contextId, pageToken, pageSize: 5 })).tasks.length, 1, "another page size is fine");
  });
});

describe("what a listed task shows", () => {
  let contextId: string;
  let task: Task;
  before(async () => {
    contextId = randomUUID();
    task = await demo.sendForTask(followUp(await sendIn(demo, contextId, "ask"), "red"));
  });

  for (const [historyLength, expected] of [
    [0, undefined],
    [1, ["red"]],
    [2, ["Which colour?", "red"]],
    [100, ["ask", "Which colour?", "red"]],
    [undefined, ["ask", "Which colour?", "red"]],
  ] as const) {
    for (const includeArtifacts of [false, true]) {
      const artifacts = includeArtifacts ? "with" : "without";
      test(`historyLength ${historyLength} gives ${expected?.length ?? "none"} of 3 messages, ${artifacts} artifacts (§3.2.4)`, async () => {
        const { tasks } = await list(demo, { contextId, historyLength, includeArtifacts });
        assert.deepEqual(tasks[0]?.history?.map(textOf), expected);
      });
    }
  }

  test("artifacts are left out unless they are asked for (§3.1.4)", async () => {
    for (const params of [{}, { includeArtifacts: false }, { includeArtifacts: null }]) {
      const { tasks } = await list(demo, { contextId, ...params });
      assert.ok(tasks[0] !== undefined && !("artifacts" in tasks[0]));
    }
    assert.deepEqual((await list(demo, { contextId, includeArtifacts: true })).tasks, [task]);
  });

  test("with artifacts, a task that has none shows an empty list (§3.1.4)", async () => {
    const contextId = randomUUID();
    await sendIn(demo, contextId, "fail");
    const { tasks } = await list(demo, { contextId, includeArtifacts: true });
    assert.deepEqual(tasks[0]?.artifacts, []);
  });

  test("with artifacts, a whole page comes in its order, and what has vanished is left out (§3.1.4)", async () => {
    const contextId = randomUUID();
    const texts = Array.from({ length: 20 }, (_, index) => `text ${index}`);
    const made = inOrder(await Promise.all(texts.map((text) => sendIn(demo, contextId, text))));
    const listed = await list(demo, { contextId, includeArtifacts: true });
    assert.deepEqual(listed.tasks, made);

    const insert = "INSERT INTO tasks (owner, agent, status_ms, id, context_id, state, generation, head, history) VALUES ('anonymous', 'demo', 9e12, ?, ?, 3, 2, '{}', '')";
    await (await worker.index()).prepare(insert).bind("f".repeat(64), contextId).run();
    assert.deepEqual((await list(demo, { contextId, includeArtifacts: true })).tasks, made);
  });

  test("large artifacts end a page early, and the pages show them all (§3.1.4)", async () => {
    const contextId = randomUUID();
    const text = "x".repeat(3_000_000);
    const made = await Promise.all(Array.from({ length: 5 }, () => sendIn(demo, contextId, text)));
    const first = await list(demo, { contextId, includeArtifacts: true });
    assert.ok(first.tasks.length < 5 && first.nextPageToken !== "");
    const shown = await everyPage(demo, { contextId, includeArtifacts: true });
    assert.deepEqual(ids(shown), ids(inOrder(made)));
  });

  test("a long history and a large status message stay within the row, and GetTask has all (§3.2.4)", async () => {
    const contextId = randomUUID();
    for (const [length, shown, hasMessage] of [[40_000, 2, true], [70_000, undefined, false]] as const) {
      const asked = await sendIn(demo, contextId, "ask");
      for (let turn = 0; turn < 2; turn++) await demo.sendForTask(followUp(asked, "x".repeat(length)));
      const { tasks } = await list(demo, { contextId });
      assert.equal(tasks[0]?.status.state, "TASK_STATE_COMPLETED");
      assert.equal(tasks[0]?.status.message !== undefined, hasMessage);
      assert.equal(tasks[0]?.history?.length, shown);
      assert.equal((await demo.getTask(asked.id)).history?.length, 5);
    }
  });
});
