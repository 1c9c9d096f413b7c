// Whether the signature of a request that a receiver has got is right (docs/webhooks.md).
import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { describe, test } from "node:test";
import { Agent, message, until, type Task } from "./client.ts";
import { testAgents } from "./harness.ts";
import { agentsOf, SECRETS } from "./isolation.ts";
import { begin, demo, freshPath, sink, target, withWorker, worker, type Config } from "./notifications.ts";

describe("a signature that a receiver has got", () => {
  withWorker({ ...SECRETS, AGENTS: agentsOf(testAgents), WEBHOOK_ATTEMPTS: "1" });

  interface Checked {
    isRight: boolean;
    reason?: string;
    sameBytes?: number;
  }
  interface Got {
    headers: Record<string, unknown>;
    body: string;
  }
  const check = (taskId: string, { headers, body }: Got, caller: Agent = demo) =>
    caller.call<Checked>("VerifyTaskPushNotificationSignature", { taskId, id: "mine", headers, body });
  const gotAt = (path: string): Got[] => sink.arrivals(path).map(({ headers, body }) => ({ headers, body }));

  test("is right, or the answer says why it is not, without any secret", async () => {
    const path = freshPath();
    const secret = `whsec_${Buffer.alloc(32, 5).toString("base64")}`;
    const task = await begin("chunks", path, { id: "mine", token: "hush-token", signingSecret: secret });
    const all = await until(async () => gotAt(path), ({ length }) => length === 6);
    const [first, second] = all as [Got, Got];
    assert.deepEqual(await check(task.id, first), { isRight: true });
    const { "webhook-id": id, "webhook-timestamp": timestamp, "webhook-signature": signature } = first.headers as Record<string, string>;
    const body = JSON.stringify({ headers: { "Webhook-Id": id, "WEBHOOK-TIMESTAMP": timestamp, "Webhook-Signature": ` ${signature} ` }, body: first.body });
    const rest = await fetch(`${demo.endpoint}/tasks/${task.id}/pushNotificationConfigs/mine:verify`, { method: "POST", headers: { "a2a-version": "1.0", "content-type": "application/json" }, body });
    assert.deepEqual([rest.status, await rest.json()], [200, { isRight: true }]);

    const { reason, sameBytes } = await check(task.id, { ...first, body: first.body.replace("SUBMITTED", "WORKING") });
    assert.deepEqual([reason, sameBytes], ["the body is not what was sent: verify the bytes as they came in", first.body.indexOf("SUBMITTED")]);
    assert.match((await check(task.id, { ...first, body: JSON.stringify(JSON.parse(first.body), null, 2) })).reason ?? "", /same JSON written otherwise/);
    assert.match((await check(task.id, { headers: first.headers, body: second.body })).reason ?? "", /^the body is not what was sent/);
    assert.deepEqual(await check(task.id, second), { isRight: true });
    await assert.rejects(check(task.id, first), { message: /too many requests/ }, "six in a minute");
  });

  test("that is too old, of another webhook, of a secret that was replaced or incomplete is told apart", async () => {
    const path = freshPath();
    const task = await begin("hello", path, { id: "mine" });
    await until(async () => gotAt(path), ({ length }) => length > 0);
    const got = gotAt(path)[0]!;
    const { "webhook-timestamp": _, ...incomplete } = got.headers;
    assert.match((await check(task.id, { ...got, headers: incomplete })).reason ?? "", /a header is missing/);
    assert.match((await check(task.id, { ...got, headers: { ...got.headers, "webhook-signature": "v1,AAAA" } })).reason ?? "", /^webhook-signature has no v1/);
    assert.match((await check(task.id, { ...got, headers: { ...got.headers, "webhook-id": "other.mine.1" } })).reason ?? "", /of another webhook/);
    const secret = Buffer.alloc(32, 6);
    await demo.call("CreateTaskPushNotificationConfig", { taskId: task.id, id: "mine", url: sink.url + path, signingSecret: `whsec_${secret.toString("base64")}` });
    assert.match((await check(task.id, got)).reason ?? "", /another secret then/);
    const signature = `v1,${createHmac("sha256", secret).update(`x.1700000000.{}`).digest("base64")}`;
    const old = await check(task.id, { headers: { "webhook-id": "x", "webhook-timestamp": "1700000000", "webhook-signature": signature }, body: "{}" });
    assert.deepEqual(old, { isRight: true, reason: "webhook-timestamp is more than 5 minutes off: a receiver would refuse the request now" });
  });

  test("is checked for operators, too; for another caller there is no task, and no secret is logged", async () => {
    const alice = new Agent(`${worker.url}/guarded`, { "x-api-key": SECRETS.KEY_ALICE });
    const path = freshPath();
    const secret = `whsec_${Buffer.alloc(32, 8).toString("base64")}`;
    const configuration = { returnImmediately: true, taskPushNotificationConfig: target(path, { id: "mine", signingSecret: secret }) as Config };
    const { task } = await alice.call<{ task: Task }>("SendMessage", { message: message("chunks"), configuration });
    await until(async () => gotAt(path), ({ length }) => length === 6);
    const got = gotAt(path)[5]!;
    const operator = new Agent(alice.endpoint, { "x-api-key": SECRETS.KEY_OPS, "act-as": "operator" });
    assert.deepEqual(await check(task.id, got, operator), { isRight: true });
    await assert.rejects(check(task.id, got, new Agent(alice.endpoint, { "x-api-key": SECRETS.KEY_BOB })), { code: -32001 });
    await assert.rejects(alice.call("VerifyTaskPushNotificationSignature", { taskId: task.id, id: "other", ...got }), { code: -32001 });
    const lines = worker.logs.map(({ message }) => message).join("\n");
    assert.ok(!lines.includes(secret) && !lines.includes(String(got.headers["webhook-signature"])));
  });
});
