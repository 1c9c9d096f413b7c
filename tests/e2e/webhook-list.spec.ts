// Webhooks in trouble over all tasks of a caller with an agent: `GET /<agent>/webhooks` and ListWebhooks of the extension.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, before, describe, test } from "node:test";
import { settled, startCounting } from "../../bench/counted.ts";
import type { Worker } from "../../bench/workers.ts";
import { Agent, logged, message, until, untilEnded, type Task } from "./client.ts";
import { INDEX, ONLY_D1, testAgents } from "./harness.ts";
import { agentsOf, SECRETS } from "./isolation.ts";
import { Sink, type Deed } from "./sink.ts";

interface Listed {
  taskId: string;
  id: string;
  owner?: string;
  url: string;
  health: string;
  failingSince: number | null;
  nextAttemptAt: number | null;
  lastError: string | null;
  givenUp: number;
  deadLetters: { generation: number; error: string; at: number }[];
  updatedAt: number;
}

interface Page {
  webhooks: Listed[];
  nextPageToken: string;
}

type Headers = Record<string, string>;

let worker: Worker;
let sink: Sink;
before(async () => {
  sink = await Sink.open();
  const vars = { KEEP_ALIVE_MS: "1000", WEBHOOK_RETRY_MS: "100", WEBHOOK_ATTEMPTS: "2" };
  worker = await startCounting({ ...SECRETS, AGENTS: agentsOf(testAgents), ...vars });
});
after(async () => {
  await worker.stop();
  sink.close();
});

const ALICE = { "x-api-key": SECRETS.KEY_ALICE };
const BOB = { "x-api-key": SECRETS.KEY_BOB };
const OPS = { "x-api-key": SECRETS.KEY_OPS, "act-as": "operator" };
const agent = (headers: Headers, slug = "guarded") => new Agent(`${worker.url}/${slug}`, headers);

const get = (headers: Headers, query: Record<string, string> = {}, slug = "guarded") =>
  fetch(`${worker.url}/${slug}/webhooks?${new URLSearchParams(query)}`, { headers: { "a2a-version": "1.0", ...headers } });
async function list(headers: Headers, query: Record<string, string> = {}, slug?: string): Promise<Page> {
  const response = await get(headers, query, slug);
  assert.equal(response.status, 200, await response.clone().text());
  return (await response.json()) as Page;
}
/** The list's entry for one task. */
const listed = async (headers: Headers, { id }: Task): Promise<Listed | undefined> =>
  (await list(headers, { pageSize: "100" })).webhooks.find(({ taskId }) => taskId === id);

const refuse: Deed = { status: 404 };

/**
 * A finished task of this caller with a webhook. Its receiver reacts to the first notifications with these deeds, and accepts the others.
 */
async function begin(headers: Headers, ...deeds: Deed[]): Promise<Task> {
  const path = `/secret-${randomUUID()}`;
  const webhook = { id: "hook", url: `${sink.url}${path}?key=secret`, token: "secret" };
  sink.plan(`${path}?key=secret`, ...deeds);
  const configuration = { returnImmediately: true, taskPushNotificationConfig: webhook };
  const { task } = await agent(headers).call<{ task: Task }>("SendMessage", { message: message("hello"), configuration });
  return untilEnded(agent(headers), task.id);
}

const has = (found: Listed | undefined): found is Listed => found !== undefined;
const hasNot = (found: Listed | undefined): boolean => found === undefined;
const redeliver = (headers: Headers, { id }: Task, fromGeneration: number) =>
  agent(headers).call("RedeliverTaskPushNotifications", { taskId: id, id: "hook", fromGeneration });

test("a webhook that fails is listed with when it is tried again, without its secrets, until it works", async () => {
  const later: Deed = { status: 503, headers: { "retry-after": "5" } };
  const began = Date.now();
  const task = await begin(ALICE, later);
  const failing = (await until(() => listed(ALICE, task), has)) as Listed;
  assert.deepEqual([failing.id, failing.url, failing.health, failing.lastError], ["hook", sink.url, "failing", "the receiver answered 503"]);
  assert.deepEqual([failing.givenUp, failing.deadLetters, failing.owner], [0, [], undefined]);
  assert.ok((failing.failingSince ?? 0) >= began && (failing.nextAttemptAt ?? 0) > (failing.failingSince ?? 0));
  assert.ok(!JSON.stringify(failing).includes("secret"), "of the URL only the origin");
  await until(() => listed(ALICE, task), hasNot);
});

test("events that were given up stay listed when the webhook works again, and go when they are sent again", async () => {
  const task = await begin(ALICE, refuse, {});
  const found = (await until(() => listed(ALICE, task), (found) => found?.health === "active")) as Listed;
  const [letter] = found.deadLetters;
  assert.deepEqual([letter?.generation, letter?.error, found.givenUp, found.failingSince], [1, "the receiver answered 404", 1, null]);
  assert.ok(Math.abs((letter?.at ?? 0) - Date.now()) < 60_000);
  const told = await agent(ALICE).call<{ deadLetters: unknown }>("ListTaskPushNotificationDeliveries", { taskId: task.id, id: "hook" });
  assert.deepEqual(told.deadLetters, found.deadLetters, "the task says the same");
  await redeliver(ALICE, task, 1);
  await until(() => listed(ALICE, task), hasNot);
});

test("a webhook that is suspended is listed until it is sent to again, or deleted", async () => {
  for (const mend of ["send again", "delete"] as const) {
    const task = await begin(ALICE, { status: 410 });
    const found = (await until(() => listed(ALICE, task), (found) => found?.health === "suspended")) as Listed;
    assert.deepEqual([found.nextAttemptAt, found.givenUp], [null, 1]);
    if (mend === "delete") await agent(ALICE).call("DeleteTaskPushNotificationConfig", { taskId: task.id, id: "hook" });
    else await redeliver(ALICE, task, 1);
    await until(() => listed(ALICE, task), hasNot);
  }
});

test("a webhook that works costs no row and no statement on the list", ONLY_D1, async () => {
  const told = async () => (await worker.statements()).filter(({ sql }) => /^(INSERT INTO|DELETE FROM) webhooks/.test(sql)).length;
  const rows = async ({ id }: Task) => {
    const found = (await worker.index("@key:blue")).prepare(`SELECT id FROM webhooks WHERE task = '${id}'`);
    return (await found.run<{ id: string }>()).results.length;
  };
  const before = await told();
  const works = await begin(ALICE);
  const deliveries = () => agent(ALICE).call<{ deliveredGeneration: number }>("ListTaskPushNotificationDeliveries", { taskId: works.id, id: "hook" });
  await until(deliveries, ({ deliveredGeneration }) => deliveredGeneration === 4);
  assert.deepEqual([await told(), await rows(works)], [before, 0]);
  const fails = await begin(ALICE, refuse);
  await until(() => listed(ALICE, fails), has);
  assert.equal(await rows(fails), 1);
  assert.ok((await told()) > before, "what is counted here would be seen");
});

test("the list is filtered by what is wrong, paged, and wakes no object of a task", async () => {
  const suspended = await begin(BOB, { status: 410 });
  const dead = await begin(BOB, refuse, {});
  const failing = await begin(BOB, { status: 503, headers: { "retry-after": "3000" } });
  await until(() => list(BOB), ({ webhooks }) => webhooks.length === 3 && webhooks.some(({ health }) => health === "active"));
  const before = await settled(worker);
  const ids = async (query: Record<string, string>) => (await list(BOB, query)).webhooks.map(({ taskId }) => taskId);
  assert.deepEqual(await ids({ state: "suspended" }), [suspended.id]);
  assert.deepEqual(await ids({ state: "failing" }), [failing.id]);
  assert.deepEqual(new Set(await ids({ state: "deadLetters" })), new Set([suspended.id, dead.id]));
  const all = await ids({});
  const pages: string[] = [];
  let pageToken = "";
  do {
    const page: Page = await list(BOB, { pageSize: "1", ...(pageToken === "" ? {} : { pageToken }) });
    assert.equal(page.webhooks.length, 1);
    pages.push(...page.webhooks.map(({ taskId }) => taskId));
    pageToken = page.nextPageToken;
  } while (pageToken !== "");
  assert.deepEqual(pages, all);
  assert.equal(all.length, 3);
  const over = await agent(BOB).call<Page>("ListWebhooks", { state: "failing" });
  assert.deepEqual(over.webhooks.map(({ taskId }) => taskId), [failing.id], "the same over JSON-RPC");
  const after = await settled(worker);
  // With the index in objects, each list asks the one of its owner.
  const lists = 4 + pages.length + 1;
  assert.equal(after.objectRequests - before.objectRequests, INDEX === "objects" ? lists : 0);
});

test("wrong parameters are named, and other verbs refused", async () => {
  for (const [query, field] of [
    [{ state: "active" }, "state"],
    [{ pageSize: "0" }, "pageSize"],
    [{ pageSize: "101" }, "pageSize"],
    [{ pageToken: "nonsense" }, "pageToken"],
  ] as const) {
    const response = await get(ALICE, query);
    assert.equal(response.status, 400);
    assert.ok((await response.text()).includes(`"field":"${field}"`), field);
  }
  const { nextPageToken } = await list(BOB, { pageSize: "1" });
  const elsewhere = await get(ALICE, { pageToken: nextPageToken });
  assert.equal(elsewhere.status, 400, "a token of another caller");
  const posted = await fetch(`${worker.url}/guarded/webhooks`, { method: "POST", headers: { ...ALICE, "content-type": "application/json" }, body: "{}" });
  assert.deepEqual([posted.status, posted.headers.get("allow")], [405, "GET, OPTIONS"]);
});

describe("who sees what", () => {
  test("callers see those of their own tasks alone, operators those of all, or of one owner", async () => {
    const [hers, his] = [await begin(ALICE, { status: 410 }), await begin(BOB, { status: 410 })];
    await until(() => listed(ALICE, hers), has);
    await until(() => listed(BOB, his), has);
    assert.equal(await listed(ALICE, his), undefined);
    assert.equal(await listed(BOB, hers), undefined);
    const all = (await list(OPS, { pageSize: "100" })).webhooks;
    assert.deepEqual(new Set(all.map(({ owner }) => owner)), new Set(["@key:blue", "key:bob"]));
    for (const task of [hers, his]) assert.ok(all.some(({ taskId }) => taskId === task.id));
    const one = (await list({ ...OPS, "act-as": "operator; owner=key:bob" }, { pageSize: "100" })).webhooks;
    assert.ok(one.some(({ taskId }) => taskId === his.id) && !one.some(({ taskId }) => taskId === hers.id));
    await logged(worker, /operator acted.*ListWebhooks/);
    assert.deepEqual(await list(ALICE, {}, "other"), { webhooks: [], nextPageToken: "" }, "another agent");
    const denied = await get({ ...BOB, "act-as": "operator" });
    assert.equal(denied.status, 403);
    assert.equal((await get({})).status, 401);
  });

  test("an agent without webhooks has no list of them", async () => {
    const cards = JSON.parse(agentsOf(testAgents)) as { agents: { slug: string; capabilities: { push_notifications: boolean } }[] };
    const without = cards.agents.find(({ capabilities }) => !capabilities.push_notifications);
    assert.ok(without !== undefined);
    const response = await get({}, {}, without.slug);
    assert.equal(response.status, 400);
    assert.match(await response.text(), /PUSH_NOTIFICATION_NOT_SUPPORTED/);
  });
});

test("while D1 is down notifications go on, the list says so, and shows later what has changed", async () => {
  const d1 = await worker.index("@key:blue");
  await d1.prepare("ALTER TABLE webhooks RENAME TO hidden").run();
  let task: Task;
  try {
    task = await begin(ALICE, refuse, {});
    const deliveries = () => agent(ALICE).call<{ deliveredGeneration: number }>("ListTaskPushNotificationDeliveries", { taskId: task.id, id: "hook" });
    await until(deliveries, ({ deliveredGeneration }) => deliveredGeneration >= 2);
    const response = await get(ALICE);
    assert.equal(response.status, 503);
    assert.match(response.headers.get("retry-after") ?? "", /^\d+$/);
    assert.match(await response.text(), /webhooks cannot be listed at the moment/);
  } finally {
    await d1.prepare("ALTER TABLE hidden RENAME TO webhooks").run();
  }
  const found = await until(() => listed(ALICE, task), has);
  assert.equal(found?.givenUp, 1);
  await logged(worker, "the list of webhooks does not show how hook fares yet");
});

test("the rows of a task go with it", async () => {
  const task = await begin(ALICE, { status: 410 });
  await until(() => listed(ALICE, task), has);
  const d1 = await worker.index("@key:blue");
  await d1.prepare(`DELETE FROM tasks WHERE id = '${task.id}'`).run();
  assert.equal(await listed(ALICE, task), undefined);
  const unlisted = await begin(ALICE, { status: 410 });
  await until(() => listed(ALICE, unlisted), has);
  // As the clean-up deletes it, with a place at which there is no row.
  await d1.prepare("INSERT INTO task_deletions (tasks) VALUES (?)").bind(JSON.stringify([["nobody", "nowhere", 1, unlisted.id]])).run();
  assert.equal(await listed(ALICE, unlisted), undefined);
});
