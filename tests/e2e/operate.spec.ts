// The commands for operators (`a2a-edge tasks`, `show`, `cancel`, …) against the Worker, with two owners, an operator and one who has not signed in.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, before, describe, test } from "node:test";
import { Agent, message, until, untilEnded, type Task } from "./client.ts";
import { startWorker, testAgents, type Worker } from "./harness.ts";
import { agentsOf, SECRETS } from "./isolation.ts";
import { linesOf, Operator, withSchemes } from "./operate.ts";
import { Sink, type Deed } from "./sink.ts";

interface Listed {
  agent: string;
  id: string;
  state: string;
  at: string;
  owner?: string;
  failedSteps: number;
  said: string;
}

let worker: Worker;
let sink: Sink;
/** One who has signed in as an operator, and one who has not. */
let ops: Operator;
let stranger: Operator;
before(async () => {
  sink = await Sink.open();
  worker = await startWorker({ vars: { ...SECRETS, AGENTS: withSchemes(agentsOf(testAgents)), WEBHOOK_RETRY_MS: "100", WEBHOOK_ATTEMPTS: "2" } });
  [ops, stranger] = [new Operator(worker.url), new Operator(worker.url)];
  const { code, stderr } = await ops.run(["login"], { input: `${SECRETS.KEY_OPS}\n` });
  assert.equal(code, 0, stderr);
});
after(async () => {
  await worker.stop();
  sink.close();
  for (const operator of [ops, stranger]) operator.remove();
});

const ALICE = { "x-api-key": SECRETS.KEY_ALICE };
const BOB = { "x-api-key": SECRETS.KEY_BOB };
const agent = (headers: Record<string, string>) => new Agent(`${worker.url}/guarded`, headers);

async function begin(headers: Record<string, string>, text: string): Promise<Task> {
  return (await agent(headers).call<{ task: Task }>("SendMessage", { message: message(text) })).task;
}

/** A finished task of bob whose webhook has had these answers. */
async function withWebhook(...deeds: Deed[]): Promise<Task> {
  const path = `/${randomUUID()}`;
  sink.plan(path, ...deeds);
  const configuration = { returnImmediately: true, taskPushNotificationConfig: { id: "hook", url: `${sink.url}${path}`, token: "secret" } };
  const { task } = await agent(BOB).call<{ task: Task }>("SendMessage", { message: message("hello"), configuration });
  return untilEnded(agent(BOB), task.id);
}

const listedWebhooks = async () => linesOf<{ taskId: string; id: string; health: string; failingSince: string }>(await ops.run(["webhooks", "--agent", "guarded", "--json"]));

describe("tasks", () => {
  test("are those of all callers, newest first, by owner, state and time, with whole ids in pipes", async () => {
    const [hers, his] = [await begin(ALICE, "hello"), await begin(BOB, "ask")];
    const all = await ops.run(["tasks", "--agent", "guarded", "--json", "--all"]);
    assert.equal(all.code, 0, all.stderr);
    const tasks = linesOf<Listed>(all);
    const [first, second] = [tasks.find(({ id }) => id === hers.id), tasks.find(({ id }) => id === his.id)];
    assert.deepEqual([first?.owner, second?.owner], ["@key:blue", "key:bob"]);
    assert.equal(first?.at, hers.status.timestamp, "RFC 3339");
    assert.deepEqual(tasks.map(({ at }) => at), tasks.map(({ at }) => at).sort().reverse());
    const filtered = async (...args: string[]) => linesOf<Listed>(await ops.run(["tasks", "--agent", "guarded", "--json", ...args])).map(({ id }) => id);
    assert.ok(!(await filtered("--owner", "key:bob")).includes(hers.id));
    assert.ok((await filtered("--state", "input-required", "--since", "5m")).includes(his.id));
    assert.ok(!(await filtered("--state", "completed")).includes(his.id));
    assert.deepEqual(await filtered("--limit", "1"), [tasks[0]?.id]);
    const found = await filtered("--text", "WHICH colour", "--owner", "key:bob");
    assert.ok(found.includes(his.id) && !found.includes(hers.id));
    assert.deepEqual(await filtered("--text", hers.id), [hers.id]);
    const { stdout } = await ops.run(["--url", worker.url, "tasks", "--agent", "guarded"], { env: { A2A_EDGE_URL: "" } });
    assert.match(stdout, new RegExp(`^${his.id}  Input required +key:bob `, "m"));
    assert.doesNotMatch(stdout, /\u001b/);
  });

  test("over all agents an agent that refuses is told, and the others are listed", async () => {
    const { id } = (await new Agent(`${worker.url}/demo`).call<{ task: Task }>("SendMessage", { message: message("hello") })).task;
    const { code, stdout, stderr } = await stranger.run(["tasks", "--json"]);
    assert.equal(code, 3);
    assert.ok(stdout.includes(id));
    assert.match(stderr, /^guarded wants to know who asks/m);
  });

  test("wrong options are refused with the reason", async () => {
    for (const [args, why] of [
      [["--state", "done"], /There is no state "done"; the states are submitted, working/],
      [["--since", "yesterday"], /"yesterday" is no time: write 30m/],
      [["--limit", "0"], /--limit takes a number from 1/],
      [["--text", "x".repeat(101)], /--text has at most 100 characters/],
      [["--nonsense"], /There is no option "--nonsense"/],
    ] as const) {
      const { code, stderr } = await ops.run(["tasks", ...args]);
      assert.equal(code, 2, stderr);
      assert.match(stderr, why);
    }
    const { code, stderr } = await ops.run(["tasks", "--agent", "nobody"]);
    assert.equal(code, 4);
    assert.match(stderr, /has no agent "nobody"; it has .*guarded/);
  });
});

test("a task is shown with its owner, its webhooks and its timeline, by its id or the beginning of it", async () => {
  const task = await withWebhook({ status: 404 });
  for (const id of [task.id, task.id.slice(0, 12)]) {
    const { code, stdout, stderr } = await ops.run(["show", id]);
    assert.equal(code, 0, stderr);
    assert.match(stdout, new RegExp(`^Task +${task.id}\nAgent +guarded\nState +Completed since \\d{4}-\\d\\d-\\d\\d `));
    assert.match(stdout, /^Owner +key:bob$/m);
    assert.match(stdout, new RegExp(`^  hook at ${sink.url}: `, "m"));
    assert.match(stdout, /#1 +Task Submitted\n +hello\n/);
  }
  const [head, webhook, ...entries] = linesOf<Record<string, unknown>>(await ops.run(["show", task.id, "--json"]));
  assert.deepEqual([head?.["type"], head?.["taskId"], head?.["state"], webhook?.["type"]], ["task", task.id, "TASK_STATE_COMPLETED", "webhook"]);
  assert.match(String(entries[0]?.["at"]), /^\d{4}-.*Z$/);
  assert.ok(!JSON.stringify(webhook).includes("secret"));
  const absent = await ops.run(["show", "f".repeat(64)]);
  assert.deepEqual([absent.code, absent.stdout], [4, ""]);
});

test("a task whose id a client has chosen is found with its owner; one id of two owners asks for the owner", async () => {
  const id = `chosen-${randomUUID()}`;
  const params = { id, message: { role: "user", parts: [{ type: "text", text: "hello" }] } };
  const send = (headers: Record<string, string>) => fetch(`${worker.url}/guarded`, { method: "POST", headers: { "content-type": "application/json", ...headers }, body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tasks/send", params }) });
  assert.equal((await send(BOB)).status, 200);
  const found = await ops.run(["show", id]);
  assert.equal(found.code, 0, found.stderr);
  assert.match(found.stdout, /^Owner +key:bob$/m);
  assert.equal((await send(ALICE)).status, 200);
  const several = await ops.run(["show", id]);
  assert.equal(several.code, 2);
  assert.match(several.stderr, /names several tasks: .*\(@key:blue\), .*\(key:bob\)\. Give the whole id, --agent or --owner\./);
  assert.match((await ops.run(["show", id, "--owner", "@key:blue"])).stdout, /^Owner +@key:blue$/m);
  assert.equal((await ops.run(["show", "abc"])).code, 4);
});

test("a task of another caller is not found without an operator's key", async () => {
  const task = await begin(ALICE, "ask");
  const bob = new Operator(worker.url);
  await bob.run(["login"], { input: SECRETS.KEY_BOB });
  for (const args of [["show", task.id, "--own"], ["cancel", task.id, "--own", "--yes"]]) assert.equal((await bob.run(args)).code, 4);
  bob.remove();
});

test("a task is canceled once it is certain, and a finished one is refused", async () => {
  const task = await begin(ALICE, "ask");
  const unsure = await ops.run(["cancel", task.id]);
  assert.equal(unsure.code, 2);
  assert.match(unsure.stderr, /add --yes/);
  const { code, stdout } = await ops.run(["cancel", task.id, "--yes"]);
  assert.deepEqual([code, stdout], [0, `Task ${task.id} of guarded: Canceled\n`]);
  const finished = await begin(ALICE, "hello");
  const refused = await ops.run(["cancel", finished.id, "--yes"]);
  assert.equal(refused.code, 1);
  assert.match(refused.stderr, /^guarded refuses: the task is completed/);
});

describe("webhooks", () => {
  test("in trouble are listed, and sent to again: one, and all", async () => {
    const tasks = [await withWebhook({ status: 410 }), await withWebhook({ status: 410 })];
    const has = (task: Task) => async () => (await listedWebhooks()).find(({ taskId }) => taskId === task.id);
    for (const task of tasks) assert.equal((await until(has(task), (found) => found?.health === "suspended"))?.id, "hook");
    const { stdout } = await ops.run(["webhooks", "--agent", "guarded", "--state", "suspended"]);
    assert.match(stdout, new RegExp(`^hook +${tasks[0]?.id} +guarded +Suspended +1 `, "m"));
    const [one, other] = tasks as [Task, Task];
    const sent = await ops.run(["redeliver", one.id, "--yes"]);
    assert.deepEqual([sent.code, sent.stdout], [0, `${one.id} hook: the events from 1 on are sent again\n`]);
    const all = await ops.run(["redeliver", "--all", "--agent", "guarded", "--yes", "--json"]);
    assert.equal(all.code, 0, all.stderr);
    assert.ok(linesOf<{ task: string }>(all).some(({ task }) => task === other.id));
    for (const task of tasks) await until(has(task), (found) => found === undefined);
  });

  test("that is well has nothing to send, and one that there is not is not found", async () => {
    const task = await withWebhook({});
    await until(() => agent(BOB).call<{ deliveredGeneration: number }>("ListTaskPushNotificationDeliveries", { taskId: task.id, id: "hook" }), (told) => told.deliveredGeneration >= 4);
    const nothing = await ops.run(["redeliver", task.id, "--yes"]);
    assert.equal(nothing.code, 1);
    assert.match(nothing.stderr, /has given nothing up.*--from 1/);
    assert.equal((await ops.run(["redeliver", task.id, "--from", "1", "--yes"])).code, 0);
    assert.equal((await ops.run(["redeliver", task.id, "other", "--yes"])).code, 4);
  });
});
