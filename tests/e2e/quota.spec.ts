// The quota of active tasks per caller (MAX_ACTIVE_TASKS).
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, afterEach, before, test } from "node:test";
import { Agent, followUp, message, until, type Message, type Reply, type RpcError, type Task } from "./client.ts";
import { ONLY_D1, startWorker, type Worker } from "./harness.ts";
import { EventStream, NoStream } from "./stream.ts";

const QUOTA = 3;

/** The begin of the statement that counts a caller's tasks, and reserves a place for one more. */
const RESERVE = "INSERT INTO reservations";

let worker: Worker;
let demo: Agent;
let assistant: Agent;
before(async () => {
  worker = await startWorker({ vars: { MAX_ACTIVE_TASKS: String(QUOTA) }, notes: true });
  demo = new Agent(`${worker.url}/demo`);
  assistant = new Agent(worker.url);
});
after(() => worker.stop());

/** The unfinished tasks of a test. */
let active: Task[] = [];
afterEach(async () => {
  for (const task of active) await demo.cancelTask(task.id).catch(() => undefined);
  active = [];
});

/** Begins a task that asks a question, and is listed when the answer arrives. */
async function begin(): Promise<Task> {
  const task = await demo.sendForTask("ask");
  active.push(task);
  return task;
}

async function fill(): Promise<void> {
  for (let count = 0; count < QUOTA; count++) await begin();
}

const refused = (error: RpcError) => error.code === -32603 && error.reason === "TOO_MANY_TASKS";

function post(path: string, body: unknown, headers: Record<string, string> = {}): Promise<Response> {
  const own = { "content-type": "application/json", "a2a-version": "1.0" };
  return fetch(`${worker.url}${path}`, { method: "POST", headers: { ...own, ...headers }, body: JSON.stringify(body) });
}

const send = (said: Message, headers: Record<string, string> = {}) =>
  post("/demo", { jsonrpc: "2.0", id: 1, method: "SendMessage", params: { message: said } }, headers);

test("beyond the quota no task begins, with any agent, and the agent receives nothing", async () => {
  await fill();
  const said = message("hello");
  await assert.rejects(demo.send(said), refused);
  await assert.rejects(assistant.send(said), refused);
  const given = (await worker.given()).filter((id) => id === said.messageId);
  assert.deepEqual(given, []);
});

test("the refusal says what to do and when, in both bindings", async () => {
  await fill();
  const rpc = await send(message("hello"));
  assert.equal(rpc.status, 200);
  assert.ok(Number(rpc.headers.get("retry-after")) > 0);
  const { error } = (await rpc.json()) as Reply;
  assert.equal(error?.message, `you have ${QUOTA} unfinished tasks, which is the limit; finish or cancel some, or wait`);

  for (const path of ["/demo/message:send", "/demo/message:stream"]) {
    const rest = await post(path, { message: message("hello") });
    assert.equal(rest.status, 429);
    assert.ok(Number(rest.headers.get("retry-after")) > 0);
    const body = (await rest.json()) as { error: { status: string; details: { reason?: string }[] } };
    assert.deepEqual([body.error.status, body.error.details[0]?.reason], ["RESOURCE_EXHAUSTED", "TOO_MANY_TASKS"]);
  }
});

test("tasks that there are go on, and make room by ending", async () => {
  await fill();
  const [first, second] = active;
  assert.ok(first && second);
  assert.equal((await demo.sendForTask(followUp(first, "red"))).status.state, "TASK_STATE_COMPLETED");
  await begin();
  await assert.rejects(demo.send("hello"), refused);
  await demo.cancelTask(second.id);
  assert.equal((await demo.sendForTask("hello")).status.state, "TASK_STATE_COMPLETED");
});

test("finished tasks do not count", async () => {
  for (let count = 0; count < QUOTA * 2; count++) {
    assert.equal((await demo.sendForTask("hello")).status.state, "TASK_STATE_COMPLETED");
  }
});

test("a send that is repeated under its key is answered, and a new one refused", async () => {
  const [headers, said] = [{ "idempotency-key": randomUUID() }, message("ask")];
  const first = (await (await send(said, headers)).json()) as Reply;
  active.push((first.result as { task: Task }).task);
  for (let count = 1; count < QUOTA; count++) await begin();
  assert.deepEqual(await (await send(said, headers)).json(), first);

  const key = { "idempotency-key": randomUUID() };
  const other = await send(message("hello"), key);
  assert.ok(Number(other.headers.get("retry-after")) > 0);
  assert.equal(((await other.json()) as Reply).error?.code, -32603);
  const stream = await post("/demo/message:stream", { message: message("hello") }, { "idempotency-key": randomUUID() });
  assert.equal(stream.status, 429);
  assert.ok(Number(stream.headers.get("retry-after")) > 0);

  const used = await post("/demo/message:stream", { message: message("something else") }, headers);
  assert.equal(used.status, 400, "the key was used for another message");
  assert.equal(used.headers.get("retry-after"), null, "waiting does not help");

  const [task] = active;
  assert.ok(task);
  await demo.cancelTask(task.id);
  const again = (await (await send(message("hello"), key)).json()) as Reply;
  assert.equal((again.result as { task: Task }).task.status.state, "TASK_STATE_COMPLETED", "the refusal did not use the key up");
});

test("a stream that is repeated under its key is answered", async () => {
  const headers = { "idempotency-key": randomUUID() };
  const params = { message: message("ask") };
  const first = await (await EventStream.open(demo.endpoint, "SendStreamingMessage", params, headers)).rest();
  const task = first[0]?.data.result?.task;
  assert.ok(task);
  active.push(task);
  // A stream does not wait for the task's row in the index.
  await until(() => demo.listTasks({ contextId: task.contextId }), ({ totalSize }) => totalSize === 1);
  for (let count = 1; count < QUOTA; count++) await begin();
  await assert.rejects(demo.send("hello"), refused);
  const again = await (await EventStream.open(demo.endpoint, "SendStreamingMessage", params, headers)).rest();
  assert.equal(again[0]?.data.result?.task?.id, task.id);
  await assert.rejects(EventStream.open(demo.endpoint, "SendStreamingMessage", { message: message("hello") }), (error: NoStream) => error.code === -32603);
});

test("counting reads no more rows than the quota, from an index alone", ONLY_D1, async () => {
  await fill();
  const database = await worker.index();
  // More tasks than allowed, as after a burst.
  const row = "INSERT INTO tasks (owner, agent, status_ms, id, context_id, state, generation, head, history) VALUES ('anonymous', ?1, 1, ?2, 'c', 2, 1, '{}', '')";
  const extra = Array.from({ length: 50 }, () => randomUUID());
  for (const id of extra) await database.prepare(row).bind(`agent-${id}`, id).run();
  await assert.rejects(demo.send("hello"), refused);
  const noted = await worker.statements();
  const counted = noted.filter(({ sql }) => sql.startsWith(RESERVE)).at(-1);
  assert.ok(counted);
  // D1 counts the one row of a SELECT without a table, too, each time that it is read.
  assert.ok(counted.rowsRead <= QUOTA + 2, `${counted.rowsRead} rows`);
  const values = ["anonymous", "demo", "id", 1, "anonymous", QUOTA, "anonymous", 1, "id", QUOTA];
  const plan = await database.prepare(`EXPLAIN QUERY PLAN ${counted.sql}`).bind(...values).run<{ detail: string }>();
  const searches = plan.results.map(({ detail }) => detail).filter((detail) => detail.startsWith("SEARCH"));
  assert.deepEqual(searches, ["SEARCH tasks USING COVERING INDEX tasks_unfinished (owner=?)", "SEARCH reservations USING PRIMARY KEY (owner=?)"]);
  await database.prepare("DELETE FROM tasks WHERE owner = 'anonymous' AND agent LIKE 'agent-%'").bind().run();
});

test("without its index the Worker takes every send, and says so in its log", async () => {
  const broken = await startWorker({ vars: { MAX_ACTIVE_TASKS: "1", INDEX_WAIT_MS: "0" } });
  try {
    const agent = new Agent(`${broken.url}/demo`);
    await (await broken.index()).prepare("ALTER TABLE tasks RENAME TO gone").bind().run();
    for (let count = 0; count < 3; count++) assert.equal((await agent.sendForTask("ask")).status.state, "TASK_STATE_INPUT_REQUIRED");
    await until(async () => broken.logs, (logs) => logs.some(({ message: line }) => line.includes("cannot be counted")));
  } finally {
    await broken.stop();
  }
});

test("without the setting there is no quota, and nothing is counted", async () => {
  const free = await startWorker({ notes: true });
  try {
    const agent = new Agent(`${free.url}/demo`);
    for (let count = 0; count < 10; count++) assert.equal((await agent.sendForTask("ask")).status.state, "TASK_STATE_INPUT_REQUIRED");
    const noted = await free.statements();
    assert.deepEqual(noted.filter(({ sql }) => sql.includes("reservations")), []);
  } finally {
    await free.stop();
  }
});
