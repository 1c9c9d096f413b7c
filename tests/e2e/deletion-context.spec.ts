// DeleteContext: the tasks of a context are deleted page by page.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { describe, test } from "node:test";
import { RpcError, until, type Task } from "./client.ts";
import { assertGone, demo, rest, withWorker, worker } from "./deletion.ts";

withWorker();

interface Deletion {
  deleted: number;
  unfinished: number;
  nextPageToken: string;
}

describe("an owner deletes a context", () => {
  /** Deletes a page of a context by JSON-RPC. */
  const removeContext = (contextId: string, params: object = {}) => demo.call<Deletion>("DeleteContext", { contextId, ...params });

  /** Begins tasks of one context. */
  const conversation = async (texts: string[]): Promise<Task[]> => {
    const contextId = randomUUID();
    return Promise.all(texts.map((text) => demo.sendForTask({ parts: [{ text }], contextId }, { returnImmediately: text.startsWith("hold") })));
  };

  test("page by page, and nothing else", async () => {
    const [tasks, [other]] = [await conversation(Array.from({ length: 7 }, () => "hello")), await conversation(["hello"])];
    const contextId = tasks[0]?.contextId ?? "";
    const counts: number[] = [];
    let pageToken = "";
    do {
      const answer = await removeContext(contextId, { pageSize: 3, ...(pageToken === "" ? {} : { pageToken }) });
      assert.equal(answer.unfinished, 0);
      counts.push(answer.deleted);
      pageToken = answer.nextPageToken;
    } while (pageToken !== "");
    assert.deepEqual(counts, [3, 3, 1]);
    for (const { id } of tasks) await assertGone(id, contextId);
    assert.equal((await demo.getTask(other?.id ?? "")).id, other?.id);
    assert.deepEqual(await rest("DELETE", `/contexts/${contextId}`), { status: 200, body: '{"deleted":0,"unfinished":0,"nextPageToken":""}' });
  });

  test("without what has not ended, unless force cancels it", async () => {
    const tasks = await conversation(["hello", "ask", "hold 60000", "hello"]);
    const contextId = tasks[0]?.contextId ?? "";
    await until(() => demo.listTasks({ contextId }), ({ totalSize }) => totalSize === 4);
    assert.deepEqual(await removeContext(contextId), { deleted: 2, unfinished: 2, nextPageToken: "" });
    for (const nth of [1, 2]) assert.equal((await demo.getTask(tasks[nth]?.id ?? "")).id, tasks[nth]?.id);
    const forced = await rest("DELETE", `/contexts/${contextId}?force=true&pageSize=10`);
    assert.deepEqual(forced, { status: 200, body: '{"deleted":2,"unfinished":0,"nextPageToken":""}' });
    for (const { id } of tasks) await assertGone(id, contextId);
  });

  test("of many tasks, twice at the same time and through a kill", async () => {
    const tasks = await conversation(Array.from({ length: 30 }, (_, nth) => (nth % 5 === 0 ? "ask" : "hello")));
    const contextId = tasks[0]?.contextId ?? "";
    const both = [removeContext(contextId, { force: true }), removeContext(contextId, { force: true })].map((asked) => asked.then(() => true, () => false));
    await until(() => demo.listTasks({ contextId }), ({ totalSize }) => totalSize < 30);
    await worker.kill9();
    await Promise.all(both);
    await worker.restart();
    await removeContext(contextId, { force: true });
    for (const { id } of tasks) await assertGone(id, contextId);
  });

  test("but wrong parameters are refused, and operators delete no contexts", async () => {
    const [task] = await conversation(["hello"]);
    const contextId = task?.contextId ?? "";
    const refusals: [object, string][] = [
      [{ contextId: "" }, "contextId"], [{ contextId: undefined }, "contextId"], [{ force: "yes" }, "force"], [{ pageSize: 0 }, "pageSize"], [{ pageToken: "x" }, "pageToken"],
    ];
    for (const [params, field] of refusals) {
      await assert.rejects(removeContext(contextId, params), (error) => error instanceof RpcError && error.code === -32602 && error.fields.includes(field), JSON.stringify(params));
    }
    assert.equal((await rest("DELETE", `/contexts/${contextId}?force=1`)).status, 400);
    assert.equal((await rest("GET", `/contexts/${contextId}`)).status, 405);
    assert.equal((await rest("DELETE", "/contexts")).status, 404);
    assert.equal((await rest("DELETE", `/contexts/${contextId}`, { "act-as": "operator" })).status, 403);
    assert.equal((await demo.getTask(task?.id ?? "")).id, task?.id);
  });
});
