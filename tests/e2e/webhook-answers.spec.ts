// The answers of receivers: what of them is kept with a failed attempt, whatever a receiver answers (docs/webhooks.md).
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { after, before, describe, test } from "node:test";
import { gzipSync } from "node:zlib";
import { Agent, message, until, untilEnded, type Task } from "./client.ts";
import { testAgents } from "./harness.ts";
import { agentsOf, SECRETS } from "./isolation.ts";
import { begin, deliveries, demo, freshPath, generations, sink, target, withWorker, worker, type Attempt, type Config } from "./notifications.ts";

const { isSigned } = (await import(new URL("../../docs/receivers/verify.mjs", import.meta.url).href)) as {
  isSigned: (secret: string, headers: Record<string, string>, body: string) => boolean;
};

type Answered = Attempt & { answer?: { text: string; isCut?: boolean } };

/** A server that answers as no other should: by the path, also with what a `Sink` cannot send. */
let hostile: { url: string; close: () => void };
const HOSTILE: Record<string, (response: ServerResponse) => void> = {
  endless: (response) => {
    response.writeHead(500, { "content-type": "text/plain" });
    const more = (): void => void (response.destroyed || (response.write("endless ".repeat(1000)) ? setImmediate(more) : response.once("drain", more)));
    more();
  },
  slow: (response) => void response.writeHead(500, { "content-type": "text/plain" }).write("begun"),
  bomb: (response) => void response.writeHead(500, { "content-type": "text/plain", "content-encoding": "gzip" }).end(gzipSync("0".repeat(50_000_000))),
  broken: (response) => {
    response.writeHead(500, { "content-type": "text/plain", "content-length": "100" });
    response.write("half", () => setTimeout(() => response.destroy(), 50));
  },
  headers: (response) => void response.writeHead(500, { "content-type": "text/plain", "x-long": "h".repeat(12_000) }).end("behind headers"),
};

describe("of an answer to an attempt that failed", () => {
  withWorker({ ...SECRETS, AGENTS: agentsOf(testAgents), WEBHOOK_ATTEMPTS: "1", WEBHOOK_TIMEOUT_MS: "4000", WEBHOOK_SUSPEND_AFTER: "99" });
  before(async () => {
    const server = createServer((request, response) => {
      request.resume();
      HOSTILE[request.url?.slice(1) ?? ""]?.(response);
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
    hostile = { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close: () => (server.closeAllConnections(), server.close()) };
  });
  after(() => hostile.close());

  /** The attempts of a task with this webhook, when all its events have been tried. */
  async function attemptsOf(task: Task, headers = {}, agent = demo): Promise<Answered[]> {
    const caller = new Agent(agent.endpoint, headers);
    const asked = () => caller.call<{ attempts: Answered[] }>("ListTaskPushNotificationDeliveries", { taskId: task.id, id: "mine" });
    const { attempts } = await until(asked, ({ attempts }) => attempts.some(({ generation }) => generation === 6));
    return attempts;
  }

  test("the beginning is kept if it is text, cut at a character, and nothing of what was delivered", async () => {
    const path = freshPath();
    const json = { "content-type": "application/problem+json" };
    sink.plan(
      path,
      { status: 404, body: '{"detail":"unknown task"}', headers: json },
      { status: 500, body: `a${"é".repeat(400)}` },
      { status: 500, body: "\u001b[31mred\u0000", headers: { "content-type": "text/html" } },
      { status: 500, body: "PNG", headers: { "content-type": "image/png" } },
      { status: 302, body: "elsewhere", headers: { location: `${sink.url}/elsewhere` } },
      { body: "well done" },
    );
    const attempts = await attemptsOf(await begin("chunks", path, { id: "mine" }));
    assert.deepEqual(attempts.map(({ answer }) => answer), [
      { text: '{"detail":"unknown task"}' },
      { text: `a${"é".repeat(255)}`, isCut: true },
      { text: "\u241b[31mred\u2400" },
      undefined,
      { text: "elsewhere" },
      undefined,
    ]);
    assert.equal(sink.count("/elsewhere"), 0, "redirects are not followed");
  });

  test("no more than 4 KiB are kept for a webhook: those of the newest attempts", async () => {
    const path = freshPath();
    sink.plan(path, ...Array.from({ length: 12 }, (_, index) => ({ status: 500, body: `${index}${"x".repeat(600)}` })));
    const task = await begin("chunks", path, { id: "mine" });
    await attemptsOf(task);
    await demo.call("RedeliverTaskPushNotifications", { taskId: task.id, id: "mine", fromGeneration: 1 });
    await until(async () => generations(path), (all) => all.length === 12);
    const asked = () => deliveries({ taskId: task.id, id: "mine", url: "" }) as Promise<{ attempts: Answered[] } & Awaited<ReturnType<typeof deliveries>>>;
    const { attempts } = await until(asked, ({ attempts }) => attempts.length === 12);
    assert.deepEqual(attempts.map(({ answer }) => answer?.text.length ?? 0), [0, 0, 0, 0, ...Array.from({ length: 8 }, () => 512)]);
  });

  test("what never ends, is slow, grows when unpacked or breaks off harms nothing, and the status counts", async () => {
    for (const [path, expected] of [
      ["endless", { text: "endless ".repeat(64), isCut: true }],
      ["slow", { text: "begun", isCut: true }],
      ["bomb", { text: "0".repeat(512), isCut: true }],
      ["broken", { text: "half", isCut: true }],
      ["headers", { text: "behind headers" }],
    ] as const) {
      const configuration = { returnImmediately: true, taskPushNotificationConfig: { id: "mine", url: `${hostile.url}/${path}`, events: "status" } };
      const { task } = await demo.call<{ task: Task }>("SendMessage", { message: message("hello"), configuration });
      const ended = await untilEnded(demo, task.id);
      const asked = () => deliveries({ taskId: ended.id, id: "mine", url: "" });
      const told = (await until(asked, ({ attempts }) => attempts.length > 0)).attempts[0] as Answered;
      assert.deepEqual([told.status, told.outcome, told.answer], [500, "givenUp", expected], path);
    }
  });

  test("a secret that the receiver repeats is removed, and operators are told no answer", async () => {
    const alice = new Agent(`${worker.url}/guarded`, { "x-api-key": SECRETS.KEY_ALICE });
    const path = freshPath();
    const secret = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;
    const body = (end: string) => `no: hush-token, Bearer hush-credentials, ${secret}${end}`;
    sink.plan(path, { status: 403, body: body("!") }, { status: 403, body: body("x".repeat(500)) }, { status: 403, body: `${"y".repeat(508)}hush-credentials` });
    const hush = { id: "mine", token: "hush-token", authentication: { scheme: "Bearer", credentials: "hush-credentials" }, signingSecret: secret };
    const configuration = { returnImmediately: true, taskPushNotificationConfig: target(path, hush) as Config };
    const { task } = await alice.call<{ task: Task }>("SendMessage", { message: message("chunks"), configuration });
    const attempts = await attemptsOf(task, { "x-api-key": SECRETS.KEY_ALICE }, alice);
    assert.deepEqual(attempts.slice(0, 3).map(({ answer }) => answer?.text), [
      "no: …, Bearer …, whsec_…!",
      `no: …, Bearer …, whsec_…${"x".repeat(465)}`,
      `${"y".repeat(508)}…`,
    ]);
    const told = await attemptsOf(task, { "x-api-key": SECRETS.KEY_OPS, "act-as": "operator" }, alice);
    assert.deepEqual(told.map(({ status, answer }) => [status, answer]).slice(0, 3), Array.from({ length: 3 }, () => [403, undefined]));
    const lines = worker.logs.filter(({ message }) => message.includes(task.id)).map(({ message }) => message);
    assert.ok(lines.length > 0 && !/hush|whsec_/.test(lines.join("\n")), "nothing of it is logged");
  });

  interface Tested {
    outcome: string;
    status?: number;
    error?: string;
    answer?: { text: string; isCut?: boolean };
    durationMs: number;
  }
  const testOf = (taskId: string, headers = {}, endpoint = demo.endpoint) =>
    new Agent(endpoint, headers).call<Tested>("TestTaskPushNotificationConfig", { taskId, id: "mine" });
  /** A test over HTTP+JSON, which needs no body. */
  const tested = (taskId: string) => fetch(`${demo.endpoint}/tasks/${taskId}/pushNotificationConfigs/mine:test`, { method: "POST", headers: { "a2a-version": "1.0" } });

  test("a test is one signed notification at once, and changes nothing of the webhook", async () => {
    const path = freshPath();
    const secret = `whsec_${Buffer.alloc(32, 9).toString("base64")}`;
    const task = await begin("chunks", path, { id: "mine", token: "hush-token", signingSecret: secret });
    await attemptsOf(task);
    const before = await deliveries({ taskId: task.id, id: "mine", url: "" });
    sink.plan(path, { status: 201, body: "taken" }, { status: 503, body: "no: hush-token", headers: { "retry-after": "1" } }, { status: 307, headers: { location: `${sink.url}/elsewhere` } });
    const { durationMs, ...good } = await testOf(task.id);
    assert.deepEqual({ ...good, at: 0 }, { at: 0, generation: 0, attempt: 1, outcome: "delivered", status: 201, answer: { text: "taken" } });
    assert.ok(Number.isInteger(durationMs));
    const bad = (await (await tested(task.id)).json()) as Tested;
    assert.deepEqual([bad.outcome, bad.status, bad.error, bad.answer], ["failed", 503, "the receiver answered 503", { text: "no: …" }]);
    assert.equal((await testOf(task.id)).status, 307);
    assert.equal(sink.count("/elsewhere"), 0);

    const sent = sink.arrivals(path).slice(6);
    assert.deepEqual(sent.map(({ headers }) => [headers["a2a-generation"], headers["a2a-notification-token"]]), Array.from({ length: 3 }, () => ["0", "hush-token"]));
    for (const { headers, body } of sent) assert.ok(isSigned(secret, headers as Record<string, string>, body));
    const { statusUpdate } = sent[0]?.json<{ statusUpdate: { taskId: string; status: { state: string }; metadata: object } }>() ?? {};
    assert.deepEqual([statusUpdate?.taskId, statusUpdate?.status.state, statusUpdate?.metadata], [task.id, "TASK_STATE_COMPLETED", { "urn:a2a-edge:webhooks:v1/test": true }]);
    assert.deepEqual(await deliveries({ taskId: task.id, id: "mine", url: "" }), before, "nothing is noted, and nothing retried");
    assert.equal(sink.count(path), 9);
    await assert.rejects(demo.call("TestTaskPushNotificationConfig", { taskId: task.id, id: "other" }), { code: -32001 });
  });

  test("a webhook has one test at a time, and a task six in a minute; what a test meets is bounded", async () => {
    const path = freshPath();
    const task = await begin("chunks", path, { id: "mine" });
    await attemptsOf(task);
    sink.plan(path, "hold", "drop");
    const first = testOf(task.id);
    const held = await sink.arrival(path, 7);
    const second = await tested(task.id);
    assert.deepEqual([second.status, Number(second.headers.get("retry-after")) > 0], [429, true]);
    await held.answer({ status: 500, body: "late" });
    assert.deepEqual((await first).answer, { text: "late" });
    const broken = await testOf(task.id);
    assert.deepEqual([broken.outcome, broken.status, broken.answer], ["failed", undefined, undefined]);
    for (const [hostiles, answer] of [["endless", { text: "endless ".repeat(64), isCut: true }], ["bomb", { text: "0".repeat(512), isCut: true }]] as const) {
      await demo.call("CreateTaskPushNotificationConfig", { taskId: task.id, id: "mine", url: `${hostile.url}/${hostiles}` });
      assert.deepEqual((await testOf(task.id)).answer, answer);
    }
    sink.plan(path, "hold");
    await demo.call("CreateTaskPushNotificationConfig", { taskId: task.id, id: "mine", url: `${sink.url}${path}` });
    const silent = await testOf(task.id);
    assert.deepEqual([silent.outcome, silent.status, silent.error], ["failed", undefined, "no answer within 4000 ms"]);
    await testOf(task.id);
    await assert.rejects(testOf(task.id), /too many requests/);
    assert.equal(sink.count(path), 10);
  });

  test("an operator tests the webhooks of others, and is told the status alone; another caller finds no task", async () => {
    const alice = new Agent(`${worker.url}/guarded`, { "x-api-key": SECRETS.KEY_ALICE });
    const path = freshPath();
    const configuration = { returnImmediately: true, taskPushNotificationConfig: target(path, { id: "mine" }) as Config };
    const { task } = await alice.call<{ task: Task }>("SendMessage", { message: message("chunks"), configuration });
    await attemptsOf(task, { "x-api-key": SECRETS.KEY_ALICE }, alice);
    sink.plan(path, { status: 404, body: `no ${path}` });
    const told = await testOf(task.id, { "x-api-key": SECRETS.KEY_OPS, "act-as": "operator" }, alice.endpoint);
    assert.deepEqual([told.outcome, told.status, told.answer], ["failed", 404, undefined]);
    await assert.rejects(testOf(task.id, { "x-api-key": SECRETS.KEY_BOB }, alice.endpoint), { code: -32001 });
    assert.equal(sink.count(path), 7);
  });
});
