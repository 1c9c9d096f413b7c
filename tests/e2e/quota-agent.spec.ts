// The quotas in an agent's file ([quota]), and sends at the same time: a place is reserved before a task begins.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, afterEach, before, test } from "node:test";
import { Agent, followUp, message, until, type Message, type RpcError, type Task } from "./client.ts";
import { startWorker, type Worker } from "./harness.ts";
import { EventStream, NoStream } from "./stream.ts";

let worker: Worker;
let thrifty: Agent;
let demo: Agent;
before(async () => {
  worker = await startWorker({});
  thrifty = new Agent(`${worker.url}/thrifty`);
  demo = new Agent(`${worker.url}/demo`);
});
after(() => worker.stop());

/** Each test begins without tasks of the agent. */
afterEach(async () => {
  for (let page = await thrifty.listTasks(); page.totalSize > 0; page = await thrifty.listTasks()) {
    for (const { id } of page.tasks) await thrifty.call("DeleteTask", { id, force: true });
  }
});

const tooMany = (error: RpcError) => error.code === -32603 && error.reason === "TOO_MANY_TASKS";
const tooMuch = (error: RpcError) => error.code === -32603 && error.reason === "TOO_MUCH_STORED";

function post(said: Message, headers: Record<string, string> = {}, path = "message:send"): Promise<Response> {
  const own = { "content-type": "application/json", "a2a-version": "1.0" };
  return fetch(`${worker.url}/thrifty/${path}`, { method: "POST", headers: { ...own, ...headers }, body: JSON.stringify({ message: said }) });
}

/** The outcomes of these sends at the same time: the states of tasks, and the reasons of refusals. */
async function atOnce(sends: Promise<Task>[]): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const sent of await Promise.allSettled(sends)) {
    const outcome = sent.status === "fulfilled" ? sent.value.status.state : String((sent.reason as RpcError).reason);
    counts[outcome] = (counts[outcome] ?? 0) + 1;
  }
  return counts;
}

test("of sixty sends at once, as many begin a task as the quota allows", async () => {
  const outcomes = await atOnce(Array.from({ length: 60 }, () => thrifty.sendForTask("ask")));
  assert.deepEqual(outcomes, { TASK_STATE_INPUT_REQUIRED: 1, TOO_MANY_TASKS: 59 });
  assert.equal((await thrifty.listTasks()).totalSize, 1);
});

test("of sixty sends at once over all agents, as many begin a task as the setting allows", async (t) => {
  const strict = await startWorker({ vars: { MAX_ACTIVE_TASKS: "2" } });
  t.after(() => strict.stop());
  const agents = ["demo", "choosy", "thrifty"].map((slug) => new Agent(`${strict.url}/${slug}`));
  const outcomes = await atOnce(Array.from({ length: 60 }, (_, nth) => agents[nth % 3]!.sendForTask("ask")));
  assert.deepEqual(outcomes, { TASK_STATE_INPUT_REQUIRED: 2, TOO_MANY_TASKS: 58 });
});

test("tasks count whichever object of their caller's index has their rows", async (t) => {
  const divided = await startWorker({ vars: { INDEX: "objects", INDEX_SHARD_WRITES: "1", MAX_ACTIVE_TASKS: "40" } });
  t.after(() => divided.stop());
  const agent = new Agent(`${divided.url}/demo`);
  const tasks: Task[] = [];
  for (let count = 0; count < 40; count++) tasks.push(await agent.sendForTask("ask"));
  const rows = await (await divided.index()).prepare("SELECT count(*) AS number FROM tasks").run<{ number: number }>();
  assert.ok(rows.results[0]!.number < 40, "the caller has several objects");
  assert.deepEqual((await (await divided.index()).prepare("SELECT id FROM reservations").run()).results, [], "rows in all of them take their places");
  for (let count = 0; count < 3; count++) await assert.rejects(agent.send("hello"), tooMany);
  await agent.cancelTask(tasks[0]!.id);
  const outcomes = await atOnce(Array.from({ length: 20 }, () => agent.sendForTask("ask")));
  assert.deepEqual(outcomes, { TASK_STATE_INPUT_REQUIRED: 1, TOO_MANY_TASKS: 19 });
});

test("the quota is that of the agent, and its refusal says so, with the time to wait", async () => {
  const task = await thrifty.sendForTask("ask");
  const refused = await post(message("hello"));
  assert.equal(refused.status, 429);
  assert.ok(Number(refused.headers.get("retry-after")) > 0);
  const { error } = (await refused.json()) as { error: { message: string; status: string } };
  assert.equal(error.status, "RESOURCE_EXHAUSTED");
  assert.match(error.message, /you have 1 unfinished tasks with this agent, which is its limit/);
  assert.equal((await post(message("hello"), {}, "message:stream")).status, 429);
  assert.equal((await demo.sendForTask("hello")).status.state, "TASK_STATE_COMPLETED", "other agents have no such limit");
  assert.equal((await thrifty.sendForTask(followUp(task, "red"))).status.state, "TASK_STATE_COMPLETED", "the task goes on");
  assert.equal((await thrifty.sendForTask("hello")).status.state, "TASK_STATE_COMPLETED", "and makes room");
});

test("a message for an answer, a refusal and a repeated send leave no place taken", async () => {
  for (let count = 0; count < 3; count++) assert.ok((await thrifty.send("say")).message, "no task begins");
  for (let count = 0; count < 3; count++) {
    const events = await (await EventStream.open(thrifty.endpoint, "SendStreamingMessage", { message: message("say") })).rest();
    assert.ok(events[0]?.data.result?.message);
  }
  // What its object refuses.
  const resumed = { "last-event-id": "7", "idempotency-key": randomUUID() };
  assert.equal((await post(message("hello"), resumed, "message:stream")).status, 400);
  const [key, said] = [{ "idempotency-key": randomUUID() }, message("hello")];
  const first = await (await post(said, key)).text();
  for (let count = 0; count < 3; count++) assert.equal(await (await post(said, key)).text(), first);
  assert.equal((await thrifty.sendForTask("hello")).status.state, "TASK_STATE_COMPLETED");
});

test("a send that is repeated while its task is under way is answered, and takes one place", async () => {
  const [key, said] = [{ "idempotency-key": randomUUID() }, message("wait 1500")];
  const sends = await Promise.all([post(said, key), post(said, key), post(said, key)]);
  const ids = await Promise.all(sends.map(async (sent) => ((await sent.json()) as { task: Task }).task.id));
  assert.equal(new Set(ids).size, 1);
  assert.equal((await thrifty.sendForTask("hello")).status.state, "TASK_STATE_COMPLETED");
});

test("a caller's stored bytes are limited: what was deleted makes room", async () => {
  const kept = await thrifty.sendForTask("x".repeat(15_000));
  await assert.rejects(async () => {
    for (let count = 0; count < 10; count++) await thrifty.send("x".repeat(15_000));
  }, tooMuch);
  const { totalSize } = await thrifty.listTasks();
  assert.ok(totalSize <= 2, `${totalSize} tasks of some 30,000 bytes: each has its text twice`);
  const refused = await post(message("hello"));
  assert.equal(refused.status, 429);
  assert.match(await refused.text(), /take the 40000 bytes that it keeps for a caller; delete some/);
  await thrifty.call("DeleteTask", { id: kept.id });
  assert.equal((await thrifty.sendForTask("hello")).status.state, "TASK_STATE_COMPLETED");
});

test("a caller's open streams are limited, and one that ends makes room", async () => {
  const task = await thrifty.sendForTask("ask");
  const open = () => EventStream.open(thrifty.endpoint, "SubscribeToTask", { id: task.id });
  const [first] = await Promise.all([open(), open()]);
  await assert.rejects(open(), (error: NoStream) => error.code === -32603 && /2 open streams with this agent/.test(error.message));
  const rest = await fetch(`${worker.url}/thrifty/tasks/${task.id}:subscribe`, { headers: { "a2a-version": "1.0" } });
  assert.equal(rest.status, 429);
  assert.ok(Number(rest.headers.get("retry-after")) > 0);
  first.leave();
  const third = await until(() => open().catch(() => undefined), (stream) => stream !== undefined);
  await thrifty.cancelTask(task.id);
  await third!.rest();
});

test("a place whose task never began ends, and an index that was down for a moment takes rows as before", async () => {
  const database = await worker.index();
  const ahead = Date.now() + 3_600_000;
  const place = (id: string, until: number) =>
    database.prepare("INSERT INTO reservations (owner, agent, id, until_ms) VALUES ('anonymous', 'thrifty', ?1, ?2)").bind(id, until).run();
  await place("ended", Date.now() - 1);
  assert.equal((await thrifty.sendForTask("hello")).status.state, "TASK_STATE_COMPLETED");
  await place("not ended", ahead);
  await assert.rejects(thrifty.send("hello"), tooMany);
  await database.prepare("DELETE FROM reservations").bind().run();
});

test("a Worker that is killed while tasks begin counts them afterwards", async (t) => {
  const killed = await startWorker({});
  t.after(() => killed.stop());
  const agent = () => new Agent(`${killed.url}/thrifty`);
  const sends = Array.from({ length: 10 }, () => agent().send("ask").catch(() => undefined));
  await until(() => agent().listTasks(), ({ totalSize }) => totalSize === 1);
  await killed.kill9();
  await Promise.all(sends);
  await killed.restart();
  await assert.rejects(agent().send("hello"), tooMany);
  const { tasks } = await agent().listTasks();
  assert.equal(tasks.length, 1);
  await agent().cancelTask(tasks[0]!.id);
  assert.equal((await agent().sendForTask("hello")).status.state, "TASK_STATE_COMPLETED");
});
