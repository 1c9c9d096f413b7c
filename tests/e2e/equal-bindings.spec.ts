// Both bindings give the same: operations, results, errors (spec §5.1). Schemes of credentials: access-schemes.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { rest, rpc } from "./answers.ts";
import { Agent, message, until, type Task } from "./client.ts";
import { comparable, generate, numbers, overRest, overRpc, STATES, type About, type Request, type State } from "./equal.ts";
import { startWorker, type Worker } from "./harness.ts";

const SEED = 20_261_125;
const REQUESTS = 200;
/** For requests that are about no task. */
const NONE: About = { task: {} as Task, hook: "none" };

let worker: Worker;
let demo: string;
before(async () => {
  worker = await startWorker();
  demo = `${worker.url}/demo`;
});
after(() => worker.stop());

/** A task in a state, with a webhook. */
async function begin(state: State): Promise<About> {
  const agent = new Agent(demo);
  const task = await agent.sendForTask(STATES[state], { returnImmediately: state === "working" });
  const hook = `hook-${task.id.slice(0, 8)}`;
  await agent.call("CreateTaskPushNotificationConfig", { taskId: task.id, id: hook, url: "https://hooks.example.com/x" });
  await until(() => agent.getTask(task.id), ({ status }) => status.state !== "TASK_STATE_SUBMITTED");
  return { task, hook };
}

test(`${REQUESTS} generated requests are answered alike over both bindings (§5.1)`, async () => {
  const next = numbers(SEED);
  const seen = { results: 0, refusals: new Set<string | undefined>(), methods: new Set<string>() };
  const pairs = new Map<State, [About, About]>();
  for (let at = 0; at < REQUESTS; at += 1) {
    const { state, of } = generate(next);
    // Each binding has a task of its own, which are alike. What may change them leaves none for the next request.
    const pair = state === undefined ? [NONE, NONE] : (pairs.get(state) ?? (await Promise.all([begin(state), begin(state)])));
    const [one, other] = pair as [About, About];
    if (state !== undefined) pairs.set(state, [one, other]);
    const [asRpc, asRest] = [of(one), of(other)];
    if (state !== undefined && !/^(Get|List)/.test(asRpc.method)) pairs.delete(state);
    const [overOne, overOther] = await Promise.all([overRpc(demo, asRpc), overRest(demo, asRest)]);
    const hooks = (answer: unknown): unknown => JSON.parse(JSON.stringify(answer).replaceAll(one.hook, "hook").replaceAll(other.hook, "hook"));
    const [left, right] = [hooks(comparable(overOne)), hooks(comparable(overOther))];
    assert.deepEqual(right, left, `request ${at} of the seed ${SEED}: ${JSON.stringify(asRpc)}`);
    if (overOne.result === undefined) seen.refusals.add(overOne.reason);
    else seen.results += 1;
    seen.methods.add(asRpc.method);
  }
  // The requests are of all kinds, and neither all good nor all bad.
  assert.ok(seen.results > REQUESTS / 4 && seen.results < REQUESTS, `${seen.results} results`);
  assert.ok(seen.refusals.size >= 3, [...seen.refusals].join(", "));
  assert.equal(seen.methods.size, 8, [...seen.methods].join(", "));
});

test("both bindings have every operation, and each takes the tasks of the other (§5.1)", async () => {
  const [{ task: asking }, { task: working }] = await Promise.all([begin("asking"), begin("working")]);
  const { id } = asking;
  const requests: Request[] = [
    { method: "GetTask", params: { id }, verb: "GET", path: `/tasks/${id}` },
    { method: "ListTasks", params: { contextId: asking.contextId }, verb: "GET", path: "/tasks" },
    { method: "CreateTaskPushNotificationConfig", params: { taskId: id, id: "own", url: "https://hooks.example.com/x" }, verb: "POST", path: `/tasks/${id}/pushNotificationConfigs` },
    { method: "GetTaskPushNotificationConfig", params: { taskId: id, id: "own" }, verb: "GET", path: `/tasks/${id}/pushNotificationConfigs/own` },
    { method: "ListTaskPushNotificationConfigs", params: { taskId: id }, verb: "GET", path: `/tasks/${id}/pushNotificationConfigs` },
    { method: "DeleteTaskPushNotificationConfig", params: { taskId: id, id: "own" }, verb: "DELETE", path: `/tasks/${id}/pushNotificationConfigs/own` },
    { method: "SendMessage", params: { message: message({ taskId: id, parts: [{ text: "purple" }] }) }, verb: "POST", path: "/message:send" },
    { method: "CancelTask", params: { id }, verb: "POST", path: `/tasks/${id}:cancel` },
  ];
  for (const request of requests) {
    const [one, other] = [await overRpc(demo, request), await overRest(demo, request)];
    assert.deepEqual([one.error, other.error], [undefined, undefined], request.method);
    assert.deepEqual(comparable(other), comparable(one), request.method);
  }
  const extended = [await rpc(demo, "GetExtendedAgentCard", {}), await rest(`${demo}/extendedAgentCard`, "GET")];
  assert.deepEqual(extended.map(({ reason }) => reason), ["UNSUPPORTED_OPERATION", "UNSUPPORTED_OPERATION"]);
  // What the streams of both say: streaming, rest-operations.
  for (const [url, body] of [
    [demo, { jsonrpc: "2.0", id: 1, method: "SendStreamingMessage", params: { message: message("hello") } }],
    [`${demo}/message:stream`, { message: message("hello") }],
    [demo, { jsonrpc: "2.0", id: 1, method: "SubscribeToTask", params: { id: working.id } }],
    [`${demo}/tasks/${working.id}:subscribe`, {}],
  ] as const) {
    const response = await fetch(url, { method: "POST", headers: { "content-type": "application/json", "a2a-version": "1.0" }, body: JSON.stringify(body) });
    assert.match(response.headers.get("content-type") ?? "", /^text\/event-stream/, url);
    await response.body?.cancel();
  }
});

/** Errors of the protocol, each with its code and its status (§5.4), and what leads to it. */
const ERRORS: [string, number, number, string, (completed: string) => Request, Record<string, string>?][] = [
  ["TASK_NOT_FOUND", -32001, 404, "demo", () => ({ method: "GetTask", params: { id: "nobody" }, verb: "GET", path: "/tasks/nobody" })],
  ["TASK_NOT_CANCELABLE", -32002, 400, "demo", (id) => ({ method: "CancelTask", params: { id }, verb: "POST", path: `/tasks/${id}:cancel` })],
  ["PUSH_NOTIFICATION_NOT_SUPPORTED", -32003, 400, "double", () => ({ method: "ListTaskPushNotificationConfigs", params: { taskId: "nobody" }, verb: "GET", path: "/tasks/nobody/pushNotificationConfigs" })],
  ["UNSUPPORTED_OPERATION", -32004, 400, "demo", (taskId) => ({ method: "SendMessage", params: { message: message({ taskId }) }, verb: "POST", path: "/message:send" })],
  ["CONTENT_TYPE_NOT_SUPPORTED", -32005, 400, "choosy", () => ({ method: "SendMessage", params: { message: message({ parts: [{ url: "https://example.com/x", mediaType: "video/x-none" }] }) }, verb: "POST", path: "/message:send" })],
  ["EXTENSION_SUPPORT_REQUIRED", -32008, 400, "picky", () => ({ method: "SendMessage", params: { message: message("hello") }, verb: "POST", path: "/message:send" })],
  ["VERSION_NOT_SUPPORTED", -32009, 400, "demo", () => ({ method: "GetTask", params: { id: "nobody" }, verb: "GET", path: "/tasks/nobody" }), { "a2a-version": "99.0" }],
  ["INVALID_PARAMS", -32602, 400, "demo", () => ({ method: "SendMessage", params: { message: { role: "ROLE_USER", parts: [{ text: "hello" }] } }, verb: "POST", path: "/message:send" })],
];

test("each error has its code and its status, and the same words and details over both bindings (§5.4)", async () => {
  const { task } = await begin("completed");
  for (const [reason, code, status, slug, request, headers] of ERRORS) {
    const base = `${worker.url}/${slug}`;
    const [one, other] = [await overRpc(base, request(task.id), headers), await overRest(base, request(task.id), headers)];
    assert.deepEqual([one.status, other.status], [code, status], reason);
    assert.equal(one.reason, reason);
    // A version that is not spoken is told with what was asked for, a method here and a path there.
    const words = (text = ""): string => text.replace(/^\S+ is a (method|path)/, "It is one");
    assert.deepEqual(comparable({ ...other, error: words(other.error) }), comparable({ ...one, error: words(one.error) }), reason);
  }
});
