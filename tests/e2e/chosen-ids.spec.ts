// Tasks whose ids were chosen by their clients, as in `tasks/send` of A2A 0.1.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { settled, startCounting, type Counts } from "../../bench/counted.ts";
import type { Worker } from "../../bench/workers.ts";
import { randomUUID } from "node:crypto";
import { Agent, message, until, type Task } from "./client.ts";
import { testAgents } from "./harness.ts";
import { agentsOf, SECRETS } from "./isolation.ts";
import { Speaker } from "./speech.ts";

const COUNTED = ["objectRequests", "alarmsSet", "objectRowsWritten", "statements", "rowsWritten"] as const;

let worker: Worker;
let alice: Agent;

before(async () => {
  worker = await startCounting({ ...SECRETS, AGENTS: withLegacy(agentsOf(testAgents)), MAX_FINISHED_TASKS: "3" });
  alice = new Agent(`${worker.url}/guarded`, { "x-api-key": SECRETS.KEY_ALICE });
});
after(() => worker.stop());

/** The same agents; all except `other` and `demo` speak the oldest version. */
function withLegacy(agents: string): string {
  const embedded = JSON.parse(agents) as { agents: { slug: string }[] };
  const speaks = (slug: string): boolean => slug !== "other" && slug !== "demo";
  return JSON.stringify({ ...embedded, agents: embedded.agents.map((agent) => ({ ...agent, dialects: { legacy: { enabled: speaks(agent.slug) } } })) });
}

async function cost(ask: () => Promise<unknown>): Promise<Partial<Counts>> {
  const before = await settled(worker);
  await ask();
  const after = await settled(worker);
  return Object.fromEntries(COUNTED.map((name) => [name, after[name] - before[name]]));
}

const NOTHING = { alarmsSet: 0, objectRowsWritten: 0, statements: 0, rowsWritten: 0 };

describe("an id of which there is no task (§3.3.2)", () => {
  const unknown = async (agent: Agent, id: string): Promise<void> => {
    for (const [method, params] of [
      ["GetTask", { id }],
      ["CancelTask", { id }],
      ["ListTaskPushNotificationConfigs", { taskId: id }],
      ["SendMessage", { message: { messageId: "m", role: "ROLE_USER", taskId: id, parts: [{ text: "go on" }] } }],
    ] as const) {
      const refused = agent.call(method, params);
      await assert.rejects(refused, ({ code, taskId }: { code: number; taskId: string }) => code === -32001 && taskId === id);
    }
  };

  test("wakes one object with each request, and writes nothing", async () => {
    assert.deepEqual(await cost(() => unknown(alice, "no such task")), { ...NOTHING, objectRequests: 4 });
  });

  test("wakes none where the agent does not speak the oldest dialect", async () => {
    const other = new Agent(`${worker.url}/other`, { "x-api-key": SECRETS.KEY_ALICE });
    assert.deepEqual(await cost(() => unknown(other, "no such task")), { ...NOTHING, objectRequests: 0 });
  });

  test("wakes none if it is longer than any that can be chosen", async () => {
    assert.deepEqual(await cost(() => unknown(alice, "i".repeat(257))), { ...NOTHING, objectRequests: 0 });
  });

  test("is looked for by an operator who names the owner", async () => {
    const ops = (actAs: string) => new Agent(`${worker.url}/guarded`, { "x-api-key": SECRETS.KEY_OPS, "act-as": actAs });
    await assert.rejects(ops("operator").getTask("mine"), /Act-As must name the owner/);
    await assert.rejects(ops("operator; owner=@key:blue").getTask("mine"), ({ code }: { code: number }) => code === -32001);
    await assert.rejects(ops("operator; owner=@key:blue").getTask("0".repeat(64)), /Act-As takes an owner/);
  });
});

describe("a task whose id its client has chosen", () => {
  const speaker = (key: keyof typeof SECRETS) => new Speaker(`${worker.url}/guarded`, "0.1", { "x-api-key": SECRETS[key] });
  const send = (key: keyof typeof SECRETS, id: string, text: string): Promise<Task> => speaker(key).sendForTask(message({ taskId: id, parts: [{ text }] }));
  const is = (code: number) => (error: { code: number }) => error.code === code;

  test("is begun and continued by the same method, and read in every version", async () => {
    const id = `task ${randomUUID()}: \u{1f600}`;
    assert.equal((await send("KEY_ALICE", id, "ask")).status.state, "TASK_STATE_INPUT_REQUIRED");
    const ended = await send("KEY_ALICE", id, "red");
    assert.deepEqual([ended.id, ended.status.state], [id, "TASK_STATE_COMPLETED"]);
    for (const task of [await alice.getTask(id), await speaker("KEY_MIA").getTask(id)]) {
      assert.deepEqual([task.id, task.status.state, task.history?.filter(({ role }) => role === "ROLE_USER").length], [id, "TASK_STATE_COMPLETED", 2]);
    }
    await assert.rejects(send("KEY_ALICE", id, "more"), is(-32002));
  });

  test("is another one for each owner", async () => {
    const id = randomUUID();
    await send("KEY_ALICE", id, "ask");
    await assert.rejects(speaker("KEY_BOB").getTask(id), is(-32001));
    const bobs = await send("KEY_BOB", id, "hello");
    assert.equal(bobs.status.state, "TASK_STATE_COMPLETED");
    assert.equal((await alice.getTask(id)).status.state, "TASK_STATE_INPUT_REQUIRED");
    const listed = await alice.listTasks();
    assert.equal(listed.tasks.filter((task) => task.id === id).length, 1);
    const ops = new Agent(`${worker.url}/guarded`, { "x-api-key": SECRETS.KEY_OPS, "act-as": "operator; owner=key:bob" });
    assert.equal((await ops.getTask(id)).status.state, "TASK_STATE_COMPLETED");
  });

  test("is one task, though its first messages come at the same time", async () => {
    const id = randomUUID();
    const answers = await Promise.all([1, 2, 3, 4].map((number) => send("KEY_ALICE", id, `hold ${number}`).catch((error: { code: number }) => error.code)));
    const task = await until(() => alice.getTask(id), ({ status }) => status.state === "TASK_STATE_COMPLETED");
    const said = task.history?.filter(({ role }) => role === "ROLE_USER").length ?? 0;
    assert.equal(said, answers.filter((answer) => typeof answer !== "number").length);
    assert.ok(answers.every((answer) => typeof answer !== "number" || answer === -32002), "a message that comes late is told that the task has ended");
  });

  test("exists also where the agent answers by a message", async () => {
    const id = randomUUID();
    const task = await send("KEY_ALICE", id, "message");
    assert.equal(task.status.state, "TASK_STATE_COMPLETED");
    assert.ok(task.status.message?.parts[0]?.text);
    assert.deepEqual((await alice.getTask(id)).status.message?.parts, task.status.message?.parts);
  });

  test("is begun once by a send that is repeated under its key", async () => {
    const id = randomUUID();
    const keyed = new Speaker(`${worker.url}/guarded`, "0.1", { "x-api-key": SECRETS.KEY_ALICE, "idempotency-key": "same" });
    for (const _ of [1, 2]) assert.equal((await keyed.sendForTask(message({ taskId: id, parts: [{ text: "hello" }] }))).status.state, "TASK_STATE_COMPLETED");
    assert.equal((await alice.getTask(id)).history?.length, 1);
  });

  test("is listed under its id, with its artifacts, and deleted by the clean-up", async () => {
    const [id, contextId] = [randomUUID(), randomUUID()];
    const ended = await speaker("KEY_ALICE").sendForTask(message({ taskId: id, contextId, parts: [{ text: "hello" }] }));
    assert.equal(ended.contextId, contextId);
    const [plain, whole] = [await alice.listTasks({ contextId }), await alice.listTasks({ contextId, includeArtifacts: true })];
    assert.deepEqual([plain.tasks.map((task) => task.id), whole.tasks], [[id], [await alice.getTask(id)]]);
    for (let count = 0; count < 4; count += 1) await alice.sendForTask("hello");
    await worker.cron();
    await until(async () => (await alice.listTasks({ contextId })).totalSize, (size) => size === 0);
    await assert.rejects(alice.getTask(id), is(-32001));
    assert.equal((await send("KEY_ALICE", id, "ask")).status.state, "TASK_STATE_INPUT_REQUIRED", "the id may be chosen anew");
  });

  test("is followed by streams that begin it or go on with it", async () => {
    const id = randomUUID();
    const first = await speaker("KEY_ALICE").stream("SendStreamingMessage", { message: message({ taskId: id, parts: [{ text: "ask" }] }) });
    const asked = await first.rest();
    assert.equal(asked.at(-1)?.data.result?.statusUpdate?.status.state, "TASK_STATE_INPUT_REQUIRED");
    const second = await speaker("KEY_ALICE").stream("SendStreamingMessage", { message: message({ taskId: id, parts: [{ text: "red" }] }) });
    const answered = await second.rest();
    assert.equal(answered.at(-1)?.data.result?.statusUpdate?.status.state, "TASK_STATE_COMPLETED");
    assert.deepEqual(new Set([...asked, ...answered].map(({ data }) => (data.result?.statusUpdate ?? data.result?.artifactUpdate)?.taskId)), new Set([id]));
  });

  test("has an id of 1 to 256 bytes", async () => {
    for (const id of ["", "i".repeat(257), "\u{1f600}".repeat(65)]) {
      const refusal = send("KEY_ALICE", id, "hello").then(() => "sent", (error: { code: number }) => error.code);
      assert.equal(await refusal, -32602, `${id.length} characters`);
    }
  });
});
