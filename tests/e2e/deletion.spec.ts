// DeleteTask: a task that its owner deletes is gone at once, from everywhere, and nothing brings it back.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { describe, test } from "node:test";
import { ClientFactory } from "@a2a-js/sdk/client";
import { TaskNotFoundError } from "@a2a-js/sdk/errors";
import { RpcError, followUp, message, until, type Reply, type Task } from "./client.ts";
import { assertGone, count, demo, notFound, remove, rest, storage, unfinished, withWorker, worker } from "./deletion.ts";
import { editObject } from "./sabotage.ts";
import { EventStream, kindOf } from "./stream.ts";

const EXTENSION = "urn:a2a-edge:deletion:v1";

withWorker();

describe("an owner deletes a task", () => {
  for (const [binding, by] of [
    ["JSON-RPC", async (id: string) => assert.equal(await remove(id), null)],
    ["HTTP+JSON", async (id: string) => assert.deepEqual(await rest("DELETE", `/tasks/${id}`), { status: 200, body: "{}" })],
  ] as const) {
    test(`and nobody finds it any more: ${binding}`, async () => {
      const { totalSize } = await demo.listTasks();
      const task = await demo.sendForTask("a secret text");
      await by(task.id);
      await assertGone(task.id, task.contextId);
      assert.equal((await demo.listTasks()).totalSize, totalSize);
      await by(task.id);
    });
  }

  test("as the card declares, and the official client learns that it is gone (§3.1.3)", async () => {
    const card = (await (await fetch(`${worker.url}/demo/.well-known/agent-card.json`)).json()) as { capabilities: { extensions: { uri: string; required?: boolean }[] } };
    const declared = card.capabilities.extensions.find(({ uri }) => uri === EXTENSION);
    assert.ok(declared !== undefined && declared.required !== true);
    const client = await new ClientFactory().createFromUrl(`${worker.url}/demo/`, ".well-known/agent-card.json");
    const { id } = await demo.sendForTask("hello");
    assert.equal((await client.getTask({ tenant: "", id, historyLength: undefined })).id, id);
    await remove(id);
    await assert.rejects(client.getTask({ tenant: "", id, historyLength: undefined }), TaskNotFoundError);
  });

  test("and nothing of what was said is stored", async () => {
    const { id } = await demo.sendForTask("a secret text");
    const webhook = { taskId: id, id: "c", url: "https://hooks.example.com/secret" };
    await demo.call("CreateTaskPushNotificationConfig", webhook);
    await remove(id);
    await worker.kill9();
    editObject(storage, id, (database) => {
      const tables = database.prepare("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE '\\_cf\\_%' ESCAPE '\\'").all();
      assert.deepEqual(tables.map(({ name }) => name), ["log"]);
      const rows = database.prepare("SELECT agent, owner, lines FROM log").all();
      assert.deepEqual(rows.map(({ agent, owner }) => [agent, owner]), [["demo", "anonymous"]]);
      assert.match(String(rows[0]?.["lines"]), new RegExp(`^{"deleted":{"taskId":"${id}","atMs":\\d+,"statusesMs":\\[\\d+\\]}}$`));
    });
    await worker.restart();
    await assertGone(id);
    assert.equal(await remove(id), null, "a deletion is repeated after a restart");
  });

  test("and what is late does not bring it back: rows of lists, and keys of sends", async () => {
    const key = randomUUID();
    const headers = { "content-type": "application/json", "a2a-version": "1.0", "idempotency-key": key };
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "SendMessage", params: { message: message("hello") } });
    const send = async () => (await (await fetch(demo.endpoint, { method: "POST", headers, body })).json()) as Reply;
    const { task } = (await send()).result as { task: Task };
    const d1 = await worker.index();
    const columns = "owner, agent, status_ms, id, context_id, state, generation, head, history";
    const [row] = (await d1.prepare(`SELECT ${columns} FROM tasks WHERE id = ?`).bind(task.id).run()).results;
    assert.ok(row !== undefined);
    await remove(task.id);
    const late = () => d1.prepare(`INSERT INTO tasks (${columns}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`).bind(...Object.values(row)).run();
    await late();
    await d1.prepare("INSERT INTO webhooks VALUES (?, 'c', 'anonymous', 'demo', 1, 0, 1, 1, 1, '{}')").bind(task.id).run();
    await assertGone(task.id, task.contextId);
    assert.equal(await count("webhooks", `task = '${task.id}'`), 0);
    for (const place of ["before", "after"]) {
      const { error } = await send();
      assert.equal(error?.code, -32602, place);
      assert.match(error?.message ?? "", /Idempotency-Key is that of a task that was deleted; take another key/);
      await worker.restart();
    }
  });
});

describe("what is refused", () => {
  test("a task that has not ended, unless force cancels it first", async () => {
    for (const text of ["ask", "hold 60000"]) {
      const task = await demo.sendForTask(text, { returnImmediately: true });
      await assert.rejects(remove(task.id), unfinished);
      await assert.rejects(remove(task.id, false), unfinished);
      const refused = await rest("DELETE", `/tasks/${task.id}`);
      assert.equal(refused.status, 400);
      assert.match(refused.body, /the task is [a-z ]+; cancel it first, or delete it with force/);
      assert.equal((await demo.getTask(task.id)).id, task.id, "it is as it was");
      if (text === "ask") assert.equal((await rest("DELETE", `/tasks/${task.id}?force=true`)).status, 200);
      else await remove(task.id, true);
      await assertGone(task.id, task.contextId);
    }
  });

  test("wrong parameters, with the field that is wrong", async () => {
    const { id } = await demo.sendForTask("hello");
    for (const [params, field] of [[{}, "id"], [{ id: "" }, "id"], [{ id: 5 }, "id"], [{ id, force: "yes" }, "force"], [{ id, force: 1 }, "force"]] as const) {
      await assert.rejects(demo.call("DeleteTask", params), (error) => error instanceof RpcError && error.code === -32602 && error.fields.includes(field), JSON.stringify(params));
    }
    const refused = await rest("DELETE", `/tasks/${id}?force=yes`);
    assert.deepEqual([refused.status, refused.body.includes("force")], [400, true]);
    assert.equal((await rest("DELETE", `/tasks/${id}?force=false`, { "if-generation-match": "99" })).status, 409);
    assert.equal((await rest("DELETE", `/tasks/${id}`, { "if-generation-match": "x" })).status, 400);
    assert.equal((await rest("PUT", `/tasks/${id}`)).status, 405);
    assert.equal((await demo.getTask(id)).id, id);
  });

  test("a task that does not exist", async () => {
    for (const id of ["0".repeat(64), "nothing", "a/b"]) {
      await assert.rejects(remove(id, true), notFound, id);
      assert.equal((await rest("DELETE", `/tasks/${encodeURIComponent(id)}?force=true`)).status, 404, id);
    }
  });

  test("in older versions, which have no such operation", async () => {
    const { id } = await demo.sendForTask("hello");
    assert.equal((await fetch(`${worker.url}/demo/v1/tasks/${id}`, { method: "DELETE" })).status, 405);
    assert.equal((await demo.getTask(id)).id, id);
  });
});

describe("at the same time", () => {
  test("streams of the task end", async () => {
    const sent = await EventStream.open(demo.endpoint, "SendStreamingMessage", { message: message("hold 60000") });
    const { task } = (await sent.next()).data.result ?? {};
    assert.ok(task !== undefined);
    const { id } = task;
    const followed = await EventStream.open(demo.endpoint, "SubscribeToTask", { id });
    await remove(id, true);
    for (const stream of [sent, followed]) assert.equal((await stream.rest()).map(kindOf).at(-1), "status:CANCELED");
    await assertGone(id);
  });

  test("two deletions are one, and a waiting GetTask learns of it", async () => {
    const task = await demo.sendForTask("hold 60000", { returnImmediately: true });
    const waiting = rest("GET", `/tasks/${task.id}`, { "after-generation": "99", prefer: "wait=60" });
    const both = await Promise.all([remove(task.id, true), remove(task.id, true), rest("DELETE", `/tasks/${task.id}?force=true`)]);
    assert.deepEqual(both, [null, null, { status: 200, body: "{}" }]);
    assert.equal((await waiting).status, 404);
    await assertGone(task.id, task.contextId);
  });

  test("a task that is just ending is deleted, or refused as one that has not ended", async () => {
    const tasks = await Promise.all(Array.from({ length: 24 }, () => demo.sendForTask("hold 40", { returnImmediately: true })));
    const outcomes = await Promise.all(tasks.map(async ({ id }, nth) => {
      for (let times = 0; times < nth; times++) await rest("GET", `/tasks/${id}`);
      return remove(id).then(() => "deleted", (error: RpcError) => error.code);
    }));
    assert.ok(outcomes.every((outcome) => outcome === "deleted" || outcome === -32004), outcomes.join(" "));
    for (const [nth, { id, contextId }] of tasks.entries()) {
      if (outcomes[nth] === "deleted") await assertGone(id, contextId);
      else {
        await until(() => demo.getTask(id), ({ status }) => status.state === "TASK_STATE_COMPLETED");
        await remove(id);
        await assertGone(id, contextId);
      }
    }
  });

  test("a process that dies meanwhile leaves each task whole or deleted", async () => {
    const texts = ["hello", "ask", "hold 60000"];
    const tasks = await Promise.all(Array.from({ length: 18 }, (_, nth) => demo.sendForTask(texts[nth % 3] ?? "", { returnImmediately: nth % 3 === 2 })));
    const asked = tasks.map(({ id }) => remove(id, true).then(() => true, () => false));
    // Some have been answered by now, some are under way, some have not arrived.
    await Promise.any(asked);
    await worker.kill9();
    const answered = await Promise.all(asked);
    await worker.restart();
    for (const [nth, { id, contextId }] of tasks.entries()) {
      const found = await demo.getTask(id).then((task) => task.id, (error: RpcError) => error.code);
      assert.ok(found === id || found === -32001, `${found}`);
      if (answered[nth]) assert.equal(found, -32001, "an answered deletion is durable");
      await remove(id, true);
      await assertGone(id, contextId);
    }
  });
});

test("a deleted task that asked something is not answered", async () => {
  const asked = await demo.sendForTask("ask");
  await remove(asked.id, true);
  await assert.rejects(demo.sendForTask(followUp(asked, "red")), notFound);
});
