// The tasks extension of MCP, and cards and tasks as resources (io.modelcontextprotocol/tasks, MCP resources).
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { bearer, caller, secretsOf, type Headers } from "./access.ts";
import { Agent } from "./client.ts";
import { startWorker, type Worker } from "./harness.ts";
import { legacy, modern, only, TASKS, type Answer } from "./mcp.ts";

const { ALICE, BOB } = secretsOf("ALICE", "BOB");
const token = { kind: "bearer", callers: [caller("alice", ["ALICE"]), caller("bob", ["BOB"])] };
const BOTH = { ...TASKS, elicitation: { form: {} } };

let worker: Worker;
let url: string;
before(async () => {
  const executor = (then: object[], next: object[] = []) => ({ kind: "script", table: { rules: [{ then, follow_up: next.length === 0 ? [] : [{ then: next }] }] }, run: {} });
  const access = { schemes: { token } };
  const agents = only({
    demo: { of: "demo", access },
    slow: { of: "double", access, executor: executor([{ do: "working", text: "begun" }, { do: "park", days: 1, until_message: true }, { do: "complete", text: "done" }]) },
    asks: { of: "double", access, executor: executor([{ do: "working" }, { do: "wait", ms: 4000 }, { do: "input_required", text: "Which?" }], [{ do: "fail", text: "not that" }]) },
  });
  worker = await startWorker({ vars: { AGENTS: agents, ALICE, BOB } });
  url = `${worker.url}/mcp`;
});
after(() => worker.stop());

type Task = Record<string, unknown> & { taskId: string; status: string };
const send = (method: string, params: Record<string, unknown>, capabilities: object = BOTH, headers: Headers = bearer(ALICE)): Promise<Answer> =>
  modern(url, method, params, headers, capabilities);
const task = async (method: string, params: Record<string, unknown>, capabilities?: object): Promise<Task> => (await send(method, params, capabilities)).body.result as unknown as Task;

async function until(taskId: string, isIt: (task: Task) => boolean): Promise<Task> {
  for (;;) {
    const now = await task("tasks/get", { taskId });
    if (isIt(now)) return now;
    await wait(50);
  }
}

test("a call that takes long goes on as a task, which can be looked at and canceled", async () => {
  const begun = await task("tools/call", { name: "slow", arguments: { message: "x" } });
  assert.deepEqual([begun["resultType"], begun.status, begun["statusMessage"]], ["task", "working", "begun"]);
  assert.ok(["createdAt", "lastUpdatedAt"].every((name) => !Number.isNaN(Date.parse(String(begun[name])))));
  assert.deepEqual([begun["ttlMs"], typeof begun["pollIntervalMs"]], [null, "number"]);
  const { taskId } = begun;
  assert.equal((await task("tasks/get", { taskId })).status, "working");
  const canceled = await task("tasks/cancel", { taskId });
  assert.equal(canceled["resultType"], "complete");
  assert.equal((await task("tasks/get", { taskId })).status, "cancelled");
  assert.equal((await send("tasks/cancel", { taskId })).body.error, undefined, "that it has ended is no error");
});

test("a task that goes on in A2A ends in MCP, too", async () => {
  const { taskId } = await task("tools/call", { name: "slow", arguments: { message: "x" } });
  const id = taskId.split(".")[1] ?? "";
  await new Agent(`${worker.url}/slow`, bearer(ALICE)).send({ taskId: id, parts: [{ text: "go on" }] });
  const done = await until(taskId, ({ status }) => status === "completed");
  assert.equal((done["result"] as { structuredContent: { text: string } }).structuredContent.text, "done");
});

test("a task that asks is answered by an update, and one that fails has completed", async () => {
  const { taskId } = await task("tools/call", { name: "asks", arguments: { message: "x" } });
  const asked = await until(taskId, ({ status }) => status === "input_required");
  const [key = assert.fail()] = Object.keys(asked["inputRequests"] as object);
  const unable = await task("tasks/get", { taskId }, TASKS);
  assert.equal(unable.status, "completed", "who shows no questions gets a result that says what is asked");
  assert.equal((unable["result"] as { structuredContent: { question: string } }).structuredContent.question, "Which?");
  for (const inputResponses of [{ other: { action: "accept", content: { answer: "x" } } }, { [key]: { action: "cancel" } }]) {
    assert.equal((await task("tasks/update", { taskId, inputResponses }))["resultType"], "complete");
    assert.equal((await task("tasks/get", { taskId })).status, "input_required");
  }
  await task("tasks/update", { taskId, inputResponses: { [key]: { action: "accept", content: { answer: "this" } } } });
  const done = await until(taskId, ({ status }) => status === "completed");
  assert.deepEqual([(done["result"] as { isError: boolean }).isError, done["statusMessage"]], [true, "not that"]);
});

test("who declines what a task asks ends it", async () => {
  const { taskId } = await task("tools/call", { name: "asks", arguments: { message: "x" } });
  const asked = await until(taskId, ({ status }) => status === "input_required");
  const [key = assert.fail()] = Object.keys(asked["inputRequests"] as object);
  await task("tasks/update", { taskId, inputResponses: { [key]: { action: "decline" } } });
  assert.equal((await task("tasks/get", { taskId })).status, "cancelled");
});

test("what ends at once is no task, and who does not declare tasks gets none", async () => {
  const quick = await task("tools/call", { name: "demo", arguments: { message: "hello" } });
  assert.equal(quick["resultType"], "complete");
  const { body } = await send("tasks/get", { taskId: "demo.x" }, {});
  assert.deepEqual([body.error?.code, body.error?.data], [-32021, { requiredCapabilities: TASKS }]);
  assert.equal((await legacy(url, "tasks/get", { taskId: "demo.x" }, bearer(ALICE))).body.error?.code, -32601);
});

test("resources are the cards, and the tasks of their caller", async () => {
  const host = new URL(url).host;
  const { resources } = (await legacy(url, "resources/list", {}, bearer(ALICE))).body.result as unknown as { resources: { uri: string; name: string }[] };
  assert.deepEqual(resources.map(({ uri, name }) => [uri, name]), ["demo", "slow", "asks"].map((slug) => [`a2a://${host}/${slug}`, slug]));
  const card = (await send("resources/read", { uri: `a2a://${host}/demo` })).body.result as unknown as { contents: { text: string; mimeType: string }[] };
  assert.equal((JSON.parse(card.contents[0]?.text ?? "") as { name: string }).name, "Demo");
  const { resourceTemplates } = (await legacy(url, "resources/templates/list", {}, bearer(ALICE))).body.result as unknown as { resourceTemplates: { uriTemplate: string }[] };
  assert.equal(resourceTemplates[0]?.uriTemplate, `a2a://${host}/{agent}/tasks/{task_id}`);
  const done = (await send("tools/call", { name: "demo", arguments: { message: "mine" } }, {})).body.result;
  const id = done?.structuredContent?.task_id ?? "";
  const uri = `a2a://${host}/demo/tasks/${id}`;
  const read = (await send("resources/read", { uri })).body.result as unknown as { contents: { text: string }[]; cacheScope: string };
  assert.deepEqual([(JSON.parse(read.contents[0]?.text ?? "") as { id: string }).id, read.cacheScope], [id, "private"]);

  const { body: unknown } = await legacy(url, "resources/read", { uri }, bearer(BOB));
  assert.equal(unknown.error?.code, -32002, "nobody reads a task of somebody else");
  for (const wrong of [`a2a://${host}/nobody`, `a2a://elsewhere/demo`, `a2a://${host}/slow/tasks/${id}`, "https://elsewhere"]) {
    assert.equal((await send("resources/read", { uri: wrong })).body.error?.code, -32602, wrong);
  }
  for (const [method, more] of [["tasks/get", {}], ["tasks/cancel", {}], ["tasks/update", { inputResponses: {} }]] as const) {
    const { body } = await send(method, { taskId: `demo.${id}`, ...more }, BOTH, bearer(BOB));
    assert.deepEqual(body.error, { code: -32602, message: `there is no task demo.${id} for this caller` }, method);
  }
  assert.equal((await task("tasks/get", { taskId: id })).status, "completed", "an id of A2A will do");
});
