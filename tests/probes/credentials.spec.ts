// Credentials for a task that waits for them: the agent receives them, and they are neither shown nor stored
// unencrypted.
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { mkdtempSync, readFileSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { ClientFactory } from "@a2a-js/sdk/client";
import { Agent, RpcError, logged, message, textOf, until, untilEnded, type Message, type Part, type Task } from "../e2e/client.ts";
import { startWorker, type Worker } from "../e2e/harness.ts";
import { Sink } from "../e2e/sink.ts";

const MEDIA_TYPE = "application/vnd.a2a-edge.credentials+json";
const TOKEN = "marker-task-token-1";
const [OLD_KEY, NEW_KEY] = [randomBytes(32).toString("base64"), randomBytes(32).toString("base64")];

let sink: Sink;
let storage: string;
let worker: Worker;
let agent: Agent;
before(async () => {
  sink = await Sink.open();
  storage = mkdtempSync(join(tmpdir(), "a2a-edge-credentials-"));
  await start(OLD_KEY);
});
after(async () => {
  await worker.stop();
  sink.close();
  rmSync(storage, { recursive: true, force: true });
});

async function start(stateKey: string | undefined): Promise<void> {
  worker = await startWorker({ persist: storage, vars: { ...(stateKey === undefined ? {} : { STATE_KEY: stateKey }), PUBLIC_URL: "" }, hasDev: true });
  agent = new Agent(`${worker.url}/credentials`);
}

/** Begins a task that waits for credentials and then calls this path of the sink. */
async function begin(path: string): Promise<Task> {
  const task = await agent.sendForTask(sink.url + path, { taskPushNotificationConfig: { url: `${sink.url}/notified${path}` } } as object);
  assert.equal(task.status.state, "TASK_STATE_AUTH_REQUIRED");
  return task;
}

function credentials(data: unknown = { token: TOKEN }, rest: Partial<Part> = {}): Part {
  return { data, mediaType: MEDIA_TYPE, metadata: { token: TOKEN }, ...rest };
}

function answer(task: Task, ...parts: Part[]): Message {
  return message({ taskId: task.id, parts: [{ text: "go" }, ...parts] });
}

/** Fails if the text contains the token, also in base64. */
function assertClean(text: string, where: string): void {
  assert.ok(!text.includes(TOKEN), `the token in ${where}: ${text.slice(0, 2000)}`);
  for (const [base64] of text.matchAll(/[A-Za-z0-9+/]{20,}={0,2}/g)) {
    assert.ok(!Buffer.from(base64, "base64").toString("latin1").includes(TOKEN), `the token in bytes of ${where}`);
  }
}

/** The contents of all databases of the Worker: objects, D1 and queues. */
function stored(): [string, string][] {
  const files = readdirSync(storage, { recursive: true }).map((name) => join(storage, String(name)));
  return files.filter((path) => statSync(path).isFile()).map((path) => [path, readFileSync(path, "latin1")]);
}

test("a token in a part reaches what the agent calls, and is seen nowhere else (spec §7.6)", async () => {
  const task = await begin("/used");
  const stream = await (await raw("SendStreamingMessage", { message: answer(task, credentials()) })).text();
  const ended = await untilEnded(agent, task.id);
  assert.equal(ended.status.state, "TASK_STATE_COMPLETED");
  assert.equal(textOf(ended.status.message), "200 for [credentials.token]");
  assert.equal((await sink.arrival("/used")).headers.authorization, TOKEN);
  await until(async () => sink.arrivals("/notified/used"), (arrivals) => arrivals.some(({ body }) => body.includes("TASK_STATE_COMPLETED")));
  const { history } = await agent.getTask(task.id, 100);
  const kept = history?.flatMap(({ parts }) => parts).filter(({ mediaType }) => mediaType === MEDIA_TYPE);
  assert.deepEqual(kept, [{ data: {}, mediaType: MEDIA_TYPE }]);
  assertClean(stream, "the stream");
  assertClean(await (await fetch(`${worker.url}/_dev/received`)).text(), "what was received");
  assertClean(JSON.stringify(await agent.listTasks({ includeArtifacts: true, historyLength: 100 })), "ListTasks");
  assertClean(JSON.stringify(sink.arrivals("/notified").map(({ body, headers }) => [body, headers])), "notifications");
  assertClean(worker.logs.map((line) => line.message).join("\n"), "the log");
});

test("while its turn is under way a token is stored encrypted, and it is used after a crash", async () => {
  sink.plan("/held", "hold");
  const task = await begin("/held");
  const { message: sent } = { message: answer(task, credentials()) };
  await agent.send(sent, { returnImmediately: true });
  await sink.arrival("/held");
  await worker.kill9();
  const rows = stored();
  assert.ok(rows.some(([, text]) => text.includes("CREATE TABLE credentials")), "the object keeps it");
  for (const [path, text] of rows) assertClean(text, path);

  // A key rotation: the new key encrypts, the old key still decrypts.
  await worker.stop();
  await start(`${NEW_KEY} ${OLD_KEY}`);
  const ended = await untilEnded(agent, task.id);
  assert.equal(textOf(ended.status.message), "200 for [credentials.token]");
  const arrivals = sink.arrivals("/held").map(({ headers }) => headers.authorization);
  assert.deepEqual(new Set(arrivals), new Set([TOKEN]));
  assert.ok(arrivals.length >= 2);
});

test("without the key that sealed it a token is lost, and the task says so", async () => {
  sink.plan("/lost", "hold");
  const task = await begin("/lost");
  await agent.send(answer(task, credentials()), { returnImmediately: true });
  await sink.arrival("/lost");
  await worker.stop();
  await start(OLD_KEY);
  const ended = await untilEnded(agent, task.id);
  assert.equal(ended.status.state, "TASK_STATE_FAILED");
  assert.match(textOf(ended.status.message), /credentials of the task cannot be opened/);
  await logged(worker, "not in STATE_KEY any more");
});

test("the next request's Authorization is a token for the task where no scheme uses it (spec §7.6)", async () => {
  const task = await begin("/header");
  const caller = new Agent(agent.endpoint, { authorization: `Bearer ${TOKEN}` });
  // A request without a message does not answer the task.
  assert.equal((await caller.getTask(task.id)).status.state, "TASK_STATE_AUTH_REQUIRED");
  const ended = await caller.sendForTask(message({ taskId: task.id, parts: [{ text: "go" }] }));
  assert.equal(textOf(ended.status.message), "200 for [credentials.authorization]");
  assert.equal((await sink.arrival("/header")).headers.authorization, `Bearer ${TOKEN}`);
  // A client with credentials for the task sends the header with every request; other agents ignore it.
  assert.equal((await caller.sendForTask(`${sink.url}/header`)).status.state, "TASK_STATE_AUTH_REQUIRED");
});

test("an official client answers a task that waits for credentials (spec §7.6)", async () => {
  const client = await new ClientFactory().createFromUrl(`${worker.url}/credentials/`, ".well-known/agent-card.json");
  const task = await begin("/official");
  const part = { content: { $case: "data" as const, value: { token: TOKEN } }, mediaType: MEDIA_TYPE, filename: "", metadata: undefined };
  const said = { messageId: randomBytes(8).toString("hex"), role: 1, taskId: task.id, contextId: "", parts: [part], extensions: [], referenceTaskIds: [], metadata: undefined };
  const answered = await client.sendMessage({ message: said, configuration: undefined, tenant: "", metadata: undefined });
  assertClean(JSON.stringify(answered), "the answer");
  assert.equal((await sink.arrival("/official")).headers.authorization, TOKEN);
});

test("a turn takes no credentials of the turn before", async () => {
  const task = await begin("/again");
  const again = message({ taskId: task.id, parts: [{ text: "again" }, credentials()] });
  assert.equal((await agent.sendForTask(again)).status.state, "TASK_STATE_AUTH_REQUIRED");
  assert.equal((await agent.sendForTask(answer(task))).status.state, "TASK_STATE_AUTH_REQUIRED");
  assert.deepEqual(sink.arrivals("/again"), []);
});

test("credentials that no task waits for are refused, and nothing is kept of them", async () => {
  const waiting = await begin("/refused");
  const other = await agent.sendForTask(`${sink.url}/never`, { returnImmediately: true });
  const done = await agent.sendForTask(answer(waiting, credentials()));
  assert.equal(done.status.state, "TASK_STATE_COMPLETED");
  const cases: [Message, RegExp][] = [
    [message({ parts: [credentials()] }), /parts\[0\] holds credentials, which a task takes only when it waits/],
    [message({ taskId: other.id, parts: [credentials(), credentials()] }), /parts\[1\] is the second one/],
    [message({ taskId: other.id, parts: [credentials([TOKEN])] }), /parts\[0\] must have credentials as its data/],
    [message({ taskId: other.id, parts: [{ text: TOKEN, mediaType: `${MEDIA_TYPE.toUpperCase()}; x=1` }] }), /parts\[0\] must have/],
    [message({ taskId: other.id, parts: [credentials({ token: TOKEN.repeat(1000) })] }), /at most 16384 bytes/],
    [message({ taskId: "0".repeat(64), parts: [credentials()] }), /task not found/],
    [message({ taskId: done.id, parts: [credentials()] }), /holds credentials, but the task does not wait for any/],
  ];
  for (const [said, reason] of cases) {
    await assert.rejects(agent.send(said), (error: unknown) => error instanceof RpcError && reason.test(error.message));
    assertClean(JSON.stringify(await (await raw("SendMessage", { message: said })).text()), String(reason));
  }
});

test("a deployment without a key takes no credentials, and says which secret is missing", async () => {
  const task = await begin("/keyless");
  await worker.stop();
  await start(undefined);
  await assert.rejects(agent.send(answer(task, credentials())), /takes no credentials in messages: its STATE_KEY is not set/);
  assert.equal((await agent.getTask(task.id)).status.state, "TASK_STATE_AUTH_REQUIRED");
  await logged(worker, "the secret STATE_KEY is not set");
  for (const [path, text] of (await worker.stop(), stored())) assertClean(text, path);
  await worker.restart();
});

function raw(method: string, params: unknown): Promise<Response> {
  const headers = { "content-type": "application/json", "a2a-version": "1.0" };
  return fetch(agent.endpoint, { method: "POST", headers, body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }) });
}
