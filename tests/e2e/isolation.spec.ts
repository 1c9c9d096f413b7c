// The visibility of tasks between callers: every operation, over both bindings, by every kind of caller (spec §13.1,
// §3.3.2, §7.5).
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { isDeepStrictEqual } from "node:util";
import { settled, startCounting, type Counts } from "../../bench/counted.ts";
import type { Worker } from "../../bench/workers.ts";
import { Agent, logged, until } from "./client.ts";
import { ONLY_D1, testAgents } from "./harness.ts";
import { agentsOf, CALLERS, HOOK, LONG, OLDER_QUESTIONS, QUESTIONS, REFERENCE, SECRETS, token, type Answer, type Question } from "./isolation.ts";

let worker: Worker;
let alice: Agent;
let theirs: string;
/** The id of a deleted task. */
let gone: string;

before(async () => {
  worker = await startCounting({ ...SECRETS, AGENTS: agentsOf(testAgents), RETENTION_MS: "1", MAX_STREAMS: "2" });
  alice = new Agent(`${worker.url}/guarded`, { "x-api-key": SECRETS.KEY_ALICE });
  gone = (await alice.sendForTask("hello")).id;
  const listed = (await worker.index("@key:blue")).prepare("SELECT count(*) AS number FROM tasks");
  await worker.cron();
  await until(async () => (await listed.run<{ number: number }>()).results[0]?.number, (number) => number === 0);
  theirs = await asking();
});
after(() => worker.stop());

/** A task of alice that waits for an answer, with a webhook. */
async function asking(): Promise<string> {
  const { id } = await alice.sendForTask("ask");
  await alice.call("CreateTaskPushNotificationConfig", { taskId: id, id: HOOK, url: "https://hooks.example.com/secret?x", token: "secret" });
  return id;
}

/** The answers to requests, and their costs in everything that could depend on the task. */
async function costs(ask: () => Promise<Answer[]>): Promise<[Answer[], Partial<Counts>]> {
  const before = await settled(worker);
  const answers = await ask();
  const after = await settled(worker);
  const counted = ["objectRequests", "webSocketMessages", "alarmsSet", "objectRowsWritten", "statements", "rowsRead", "rowsWritten", "queueSends"] as const;
  return [answers, Object.fromEntries(counted.map((name) => [name, after[name] - before[name]]))];
}

async function askAll(questions: Question[], base: string, id: string, headers: Record<string, string>): Promise<Answer[]> {
  const answers: Answer[] = [];
  for (const question of questions) answers.push(await question.ask(base, id, headers));
  return answers;
}

/** The questions of a caller: all of 1.0, and for every third caller, by position, also those of older versions. */
const questionsOf = (place: number): Question[] => (place % 3 === 0 ? [...QUESTIONS, ...OLDER_QUESTIONS] : QUESTIONS);

test("nobody who is refused costs an object or a statement", async () => {
  const refused = Object.values(CALLERS).filter(({ is }) => is === "nobody" || is === "no operator");
  const [, cost] = await costs(async () => {
    const asked = refused.map(({ headers }, place) => askAll(questionsOf(place), `${worker.url}/guarded`, theirs, headers));
    return (await Promise.all(asked)).flat();
  });
  assert.deepEqual([...new Set(Object.values(cost))], [0]);
});

describe("a task of somebody else is as one that does not exist (§13.1)", () => {
  for (const [place, [who, { headers, path = "/guarded", is }]] of Object.entries(CALLERS).entries()) {
    if (is !== "stranger" && !who.endsWith("another agent")) continue;
    test(`for ${who}`, async () => {
      const questions = [...questionsOf(place), LONG, REFERENCE];
      const base = worker.url + path;
      // Both objects are in the same state: first neither is in memory, then both are.
      for (const id of [theirs, gone]) await worker.evict(id);
      const [there, costThere] = await costs(() => askAll(questions, base, theirs, headers));
      const [nowhere, costNowhere] = await costs(() => askAll(questions, base, gone, headers));
      questions.forEach(({ operation, binding, version }, index) => {
        const [answer, other] = [there[index], nowhere[index]];
        if (questions[index] === REFERENCE) assert.equal(answer?.status, other?.status);
        else assert.deepEqual(answer, other, `${operation} of ${version} over ${binding}`);
      });
      assert.deepEqual(costThere, costNowhere);
      const refused = there.filter(({ body }) => /task not found|TASK_NOT_FOUND|may get, list|needs the permission/i.test(body));
      assert.ok(refused.length >= questions.length - 1, JSON.stringify(there.filter((answer) => !refused.includes(answer))));
    });
  }

  test("also where its streams are as many as there may be (§3.1.6)", async () => {
    const task = await alice.sendForTask("ask");
    const open = () => fetch(`${worker.url}/guarded/tasks/${task.id}:subscribe`, { headers: { "x-api-key": SECRETS.KEY_MIA, "a2a-version": "1.0" } });
    const streams = [await open(), await open()];
    assert.equal((await open()).status, 429);
    for (const question of [...QUESTIONS, LONG].filter(({ operation }) => operation === "SubscribeToTask")) {
      const headers = { "x-api-key": SECRETS.KEY_BOB };
      const [there, nowhere] = [await question.ask(`${worker.url}/guarded`, task.id, headers), await question.ask(`${worker.url}/guarded`, gone, headers)];
      assert.deepEqual(there, nowhere);
    }
    for (const stream of streams) await stream.body?.cancel();
  });
});

describe("who may ask is answered (§7.5)", () => {
  /** The operations that operators may use. */
  const OPERATED = /^(GetTask|GetTaskTimeline|DeleteTask|CancelTask|SubscribeToTask|ListTask\w+|RedeliverTaskPushNotifications|TestTaskPushNotificationConfig|VerifyTaskPushNotificationSignature)$/;

  for (const [place, [who, { headers, path = "/guarded", is }]] of Object.entries(CALLERS).entries()) {
    if (is === "stranger" || path !== "/guarded") continue;
    test(`or refused: ${who}`, async () => {
      for (const question of questionsOf(place)) {
        const answer = await question.ask(worker.url + path, is === "nobody" ? theirs : await asking(), headers);
        const told = `${question.operation} of ${question.version} over ${question.binding}: ${answer.status} ${answer.body}`;
        if (is === "nobody") assert.equal(answer.status, 401, told);
        else if (is === "no operator") assert.equal(answer.status, 403, told);
        else if (is === "operator" && !OPERATED.test(question.operation)) assert.equal(answer.status, 403, told);
        else assert.ok(!/not found|"code":-32001/i.test(answer.body) && answer.status !== 401 && answer.status !== 403, told);
        if (is === "operator") assert.ok(!answer.body.includes("secret"), told);
      }
    });
  }
});

describe("lists and keys are of their owner alone", () => {
  const list = (headers: Record<string, string>, path = "/guarded", params: Record<string, unknown> = {}) =>
    new Agent(worker.url + path, headers).listTasks(params) as Promise<{ tasks: { id: string; metadata?: Record<string, unknown> }[]; totalSize: number }>;

  test("a group lists the tasks of all its callers, and others do not (§3.1.4)", async () => {
    const { id, contextId } = await alice.sendForTask("ask");
    // The rows of the tasks of earlier tests may be written to the index after their answers.
    await settled(worker);
    const both = () => Promise.all([list({ "x-api-key": SECRETS.KEY_ALICE }), list({ "x-api-key": SECRETS.KEY_MIA })]);
    const [mine, mias] = await until(both, ([mine, mias]) => isDeepStrictEqual(mine, mias) && mine.tasks.some((task) => task.id === id));
    assert.deepEqual(mine, mias);
    assert.ok(mine.tasks.some((task) => task.id === id));
    for (const headers of [{ "x-api-key": SECRETS.KEY_BOB }, token({ sub: "alice" }), { "x-api-key": SECRETS.KEY_OPS }]) {
      for (const params of [{}, { contextId }, { contextId: "none" }, { status: "TASK_STATE_INPUT_REQUIRED" }]) {
        const listed = await list(headers, "/guarded", params);
        assert.deepEqual([listed.tasks, listed.totalSize], [[], 0]);
      }
    }
    assert.deepEqual((await list({ "x-api-key": SECRETS.KEY_ALICE }, "/other")).tasks, []);
  });

  test("a key names a task of its owner, and of nobody else (§3.2.6)", async () => {
    const keyed = async (secret: string): Promise<string> => {
      const agent = new Agent(`${worker.url}/guarded`, { "x-api-key": secret, "idempotency-key": "same" });
      return (await agent.sendForTask({ messageId: "m", parts: [{ text: "ask" }] })).id;
    };
    const first = await keyed(SECRETS.KEY_ALICE);
    assert.equal(await keyed(SECRETS.KEY_MIA), first);
    assert.notEqual(await keyed(SECRETS.KEY_BOB), first);
  });

  test("an operator lists the tasks of all callers, or of one, and is told whose they are", async () => {
    const bob = new Agent(`${worker.url}/guarded`, token({ sub: "zoe" }));
    const { id } = await bob.sendForTask("ask");
    const ops = { "x-api-key": SECRETS.KEY_OPS };
    const all = await list({ ...ops, "act-as": "operator" });
    const owners = new Set(all.tasks.map(({ metadata }) => metadata?.["urn:a2a-edge:owner"]));
    for (const owner of ["jwt:zoe", "@key:blue"]) assert.ok(owners.has(owner), [...owners].join());
    const one = await list({ ...ops, "act-as": "operator; owner=jwt:zoe" });
    assert.deepEqual(one.tasks.map((task) => task.id), [id]);
    await assert.rejects(list({ "x-api-key": SECRETS.KEY_BOB, "act-as": "operator" }), /needs the permission operator/);
    await logged(worker, /operator acted.*ListTasks/);
  });

  test("an open agent shows a list and takes webhooks only where its file says so", ONLY_D1, async () => {
    const closed = new Agent(`${worker.url}/closed`);
    const { id, contextId } = await closed.sendForTask("ask");
    const listings = async (): Promise<number> => (await worker.statements()).filter(({ sql }) => sql.includes("AS line")).length;
    const before = await listings();
    assert.deepEqual(await list({}, "/closed"), { tasks: [], nextPageToken: "", pageSize: 50, totalSize: 0 });
    assert.equal(await listings(), before);
    assert.deepEqual((await list({}, "/closed", { contextId })).tasks.map((task) => task.id), [id]);
    assert.equal(await listings(), before + 1);
    assert.equal((await closed.getTask(id)).id, id);
  });
});
