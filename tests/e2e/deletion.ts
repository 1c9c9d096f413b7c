// Helpers for deletions: a Worker with storage of its own and its agent `demo`, and what asks for a task in all ways.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before } from "node:test";
import { Agent, RpcError, message } from "./client.ts";
import { startWorker, type Worker } from "./harness.ts";

export let storage: string;
export let worker: Worker;
export let demo: Agent;

/** Starts the Worker before the tests of a file, and stops it after them. */
export function withWorker(): void {
  before(async () => {
    storage = mkdtempSync(join(tmpdir(), "a2a-edge-deletion-"));
    worker = await startWorker({ persist: storage });
    demo = new Agent(`${worker.url}/demo`);
  });
  after(async () => {
    await worker.stop();
    rmSync(storage, { recursive: true, force: true });
  });
}

export const refusedWith = (code: number) => (error: unknown) => error instanceof RpcError && error.code === code;
export const notFound = refusedWith(-32001);
export const unfinished = refusedWith(-32004);

/** Deletes a task by JSON-RPC. */
export const remove = (id: string, force?: boolean) => demo.call("DeleteTask", { id, force });

/** Asks for a path of the agent over HTTP+JSON. */
export async function rest(method: string, path: string, headers: Record<string, string> = {}): Promise<{ status: number; body: string }> {
  const answer = await fetch(`${worker.url}/demo${path}`, { method, headers: { "a2a-version": "1.0", ...headers } });
  return { status: answer.status, body: await answer.text() };
}

export const count = async (table: string, condition: string): Promise<number> => {
  const counted = await (await worker.index()).prepare(`SELECT count(*) AS number FROM ${table} WHERE ${condition}`).run<{ number: number }>();
  return counted.results[0]?.number ?? 0;
};

/** Checks that a task is found in no way. */
export async function assertGone(id: string, contextId?: string): Promise<void> {
  const hook = { taskId: id, id: "c", url: "https://hooks.example.com/c" };
  for (const [method, params] of [
    ["GetTask", { id }], ["CancelTask", { id }], ["GetTaskTimeline", { id }], ["SubscribeToTask", { id }],
    ["CreateTaskPushNotificationConfig", hook], ["ListTaskPushNotificationConfigs", { taskId: id }],
    ["ListTaskPushNotificationDeliveries", hook], ["TestTaskPushNotificationConfig", hook], ["VerifyTaskPushNotificationSignature", { ...hook, headers: {}, body: "" }], ["SendMessage", { message: { ...message("more"), taskId: id } }],
  ] as const) await assert.rejects(demo.call(method, params), notFound, method);
  for (const path of [`/tasks/${id}`, `/tasks/${id}/timeline`, `/tasks/${id}:subscribe`]) assert.equal((await rest("GET", path)).status, 404, path);
  if (contextId !== undefined) {
    const { tasks, totalSize } = await demo.listTasks({ contextId, includeArtifacts: true });
    assert.deepEqual([tasks.map((task) => task.id), totalSize], [[], 0]);
  }
  assert.equal(await count("tasks", `id = '${id}'`), 0);
}
