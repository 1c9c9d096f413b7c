// The console's page of webhooks: what needs mending over all tasks, the webhooks of one task, sending again, registering and deleting.

import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, before, test } from "node:test";
import { Agent, message, until, untilEnded, type Task } from "../e2e/client.ts";
import { testAgents } from "../e2e/harness.ts";
import { agentsOf, SECRETS } from "../e2e/isolation.ts";
import { Sink, type Deed } from "../e2e/sink.ts";
import { startConsole, type Console } from "./console.ts";
import { assertHarmless, LONG, MARK, MARKUP, TURNED } from "./hostile.ts";
import type { View } from "./view.ts";

let app: Console;
let sink: Sink;
let demo: Agent;
before(async () => {
  sink = await Sink.open();
  const vars = { ...SECRETS, AGENTS: agentsOf(testAgents), KEEP_ALIVE_MS: "1000", WEBHOOK_RETRY_MS: "100", WEBHOOK_ATTEMPTS: "2" };
  app = await startConsole({ vars });
  demo = new Agent(`${app.worker.url}/demo`);
});
after(async () => {
  await app?.stop();
  sink?.close();
});

interface Listed {
  taskId: string;
  health: string;
  deadLetters: object[];
}

interface Registered {
  task: Task;
  path: string;
}

/** A finished task of `demo` with a webhook, to whose first notifications the receiver does this. */
async function begin(agent: Agent, ...deeds: Deed[]): Promise<Registered> {
  const path = `/hook-${randomUUID()}`;
  sink.plan(path, ...deeds);
  const configuration = { returnImmediately: true, taskPushNotificationConfig: { id: "mine", url: sink.url + path } };
  const { task } = await agent.call<{ task: Task }>("SendMessage", { message: message("chunks"), configuration });
  return { task: await untilEnded(agent, task.id), path };
}

/** Waits until the list, which is written a moment after the attempts, shows the webhook of a task of an agent like this. */
async function listed({ task }: Registered, health: string, { agent = "demo", headers = {}, letters = 0 } = {}): Promise<void> {
  const list = async () => (await (await fetch(`${app.worker.url}/${agent}/webhooks`, { headers: { "a2a-version": "1.0", ...headers } })).json()) as { webhooks: Listed[] };
  await until(list, ({ webhooks }) => webhooks.some((one) => one.taskId === task.id && one.health === health && one.deadLetters.length === letters));
}
const generations = (path: string): number[] => sink.arrivals(path).map(({ headers }) => Number(headers["a2a-generation"]));

/** The card of a webhook on the page of all that need mending, which names the task. */
async function cardOf(view: View, { task }: Registered) {
  await view.find("link", new RegExp(task.id.slice(0, 12)));
  const cards = await view.all("article");
  for (const card of cards) if ((await view.text(card)).includes(task.id.slice(0, 12))) return card;
  throw new Error(`no card of ${task.id}`);
}

test("when all is well, the page says so", () =>
  app.visit("#/webhooks/demo", async (view) => {
    await view.sees("All is well");
    await view.inspect("webhooks-none");
  }));

test("what needs mending is listed, and sending again from an event that was given up brings exactly what is wanted", async () => {
  const dead = await begin(demo, {}, { status: 404 }, { status: 422 });
  const failing = await begin(demo, { status: 503, headers: { "retry-after": "3000" } });
  await listed(dead, "active", { letters: 2 });
  await listed(failing, "failing");
  await until(async () => generations(dead.path), (all) => all.length >= 6);
  assert.deepEqual(generations(dead.path), [1, 2, 3, 4, 5, 6]);
  await app.visit("#/webhooks/demo", async (view) => {
    const waits = await cardOf(view, failing);
    assert.match(await view.text(waits), /Failing[^]*in (4\d|50) min \d+ s[^]*The receiver answered 503/);
    const before = await view.text(waits);
    await view.until(async () => (await view.text(waits)) !== before, "the countdown does not run");
    const other = await begin(demo, { status: 404 });
    await listed(other, "active", { letters: 1 });
    await view.click("button", "Refresh");
    await cardOf(view, other);
    const card = await cardOf(view, dead);
    assert.match(await view.text(card), /Working[^]*3[^]*The receiver answered 422[^]*2[^]*The receiver answered 404/);
    await view.inspect("webhooks-list");

    await view.choose("Trouble", "Events given up");
    await view.gone("link", new RegExp(failing.task.id.slice(0, 12)));
    await view.click("button", "Send again from 3");
    const dialog = await view.find("dialog", "Send again");
    await view.sees("Up to 4 events; the newest has generation 6.");
    await view.inspect("webhooks-send-again");
    await view.click("button", "Given up: 2", { within: dialog });
    await view.sees("Up to 5 events");
    await view.click("button", "Send again", { within: dialog });
    await view.notices("The events from generation 2 on are sent again.");
    await view.gone("dialog");
    await view.gone("link", new RegExp(dead.task.id.slice(0, 12)));
  });
  await until(async () => generations(dead.path), (all) => all.length >= 11);
  // Events are sent in order: had more been asked for, it would come before this one.
  await demo.call("RedeliverTaskPushNotifications", { taskId: dead.task.id, id: "mine", fromGeneration: 6 });
  await until(async () => generations(dead.path), (all) => all.length >= 12);
  assert.deepEqual(generations(dead.path), [1, 2, 3, 4, 5, 6, 2, 3, 4, 5, 6, 6], "what was asked for, once and in order");
});

test("the webhooks of a task are shown with their attempts, sent to again, registered and deleted", async () => {
  const { task, path } = await begin(demo, { status: 500 });
  await until(async () => generations(path), (all) => all.length >= 7);
  await app.visit(`#/webhooks/demo/${task.id}`, async (view) => {
    await view.sees(sink.url + path);
    await view.sees(/When[^]*Delivered\s+200\s+6\s+1[^]*Failed\s+500\s+1\s+1/);
    await view.inspect("webhooks-task");

    await view.click("button", "Send again…");
    await view.sees("the newest has generation 6");
    await view.click("button", "The newest alone: 6");
    await view.click("button", "Send again", { within: await view.find("dialog") });
    await view.gone("dialog");
    await until(async () => generations(path), (all) => all.length >= 8);

    view.expect(/status of 400/);
    await view.click("button", "Register a webhook");
    await view.fill("URL", "http://169.254.169.254/latest");
    await view.click("button", "Register");
    const field = await view.find("textbox", "URL");
    await view.until(() => field.evaluate((input) => input.getAttribute("aria-invalid") === "true"), "the field is not refused");
    const said = await field.evaluate((input) => document.getElementById(`${input.id}-error`)?.textContent ?? "");
    assert.match(said, /^Must/, "the server's words stand beside the field");
    await view.inspect("webhooks-register");
    const other = `/other-${randomUUID()}`;
    await view.fill("URL", sink.url + other);
    await view.choose("Events", "status");
    await view.click("button", "Register");
    await view.sees("The webhook is registered");
    const secret = /whsec_[\w+/=]+/.exec(await view.text())?.[0] ?? "";
    assert.ok(secret.length > 30);
    await view.inspect("webhooks-secret");
    await view.click("button", "Done");
    await view.gone("dialog");
    await view.sees(sink.url + other);
    assert.ok(!(await view.text()).includes(secret), "no other answer shows it");

    const cards = await view.all("article");
    assert.equal(cards.length, 2);
    await view.click("button", "Delete…", { within: cards[1]! });
    await view.inspect("webhooks-delete");
    await view.click("button", "Delete", { within: await view.find("dialog") });
    await view.notices("The webhook is deleted.");
    await view.until(async () => (await view.all("article")).length === 1, "the webhook is still there");
  });
  assert.deepEqual(generations(path).slice(-1), [6]);
  const { configs } = await demo.call<{ configs: { id: string }[] }>("ListTaskPushNotificationConfigs", { taskId: task.id });
  assert.deepEqual(configs.map(({ id }) => id), ["mine"]);
});

test("hostile texts in what is told of a webhook stay texts", async () => {
  const hostile = await begin(demo, { status: 410 });
  await listed(hostile, "suspended", { letters: 1 });
  const d1 = await app.worker.d1();
  const error = `${MARKUP} ${LONG} ${TURNED}`.replaceAll("'", "''");
  const set = `json_set(shown, '$.lastError', '${error}', '$.deadLetters[0].error', '${error}', '$.id', '${MARK}')`;
  await d1.prepare(`UPDATE webhooks SET shown = ${set} WHERE task = '${hostile.task.id}'`).run();
  await app.visit("#/webhooks/demo?state=suspended", async (view) => {
    await assertHarmless(view);
    await view.inspect("webhooks-hostile");
  });
  await demo.call("DeleteTaskPushNotificationConfig", { taskId: hostile.task.id, id: "mine" });
});

test("an agent that knows its callers is asked to sign in to, and operators see the webhooks of all owners", async () => {
  const alice = new Agent(`${app.worker.url}/guarded`, { "x-api-key": SECRETS.KEY_ALICE });
  const registered = await begin(alice, { status: 410 });
  const { task, path } = registered;
  await listed(registered, "suspended", { letters: 1, agent: "guarded", headers: { "x-api-key": SECRETS.KEY_ALICE } });
  const keys = [{ audience: "guarded", slot: { in: "header", name: "x-api-key" }, secret: SECRETS.KEY_OPS }];
  await app.visit("#/agents", async (view) => {
    await view.page.evaluate((kept) => {
      sessionStorage.setItem("a2a-edge.credentials", kept);
      sessionStorage.setItem("a2a-edge.operator", "true");
    }, JSON.stringify(keys));
    await view.page.reload();
    await view.go("#/webhooks/guarded");
    await view.sees("@key:blue");
    await view.fill("Owner", "@key:blue", "searchbox");
    await view.press("Enter");
    await view.click("link", "Attempts");
    await view.sees(/only the owner of the task registers and deletes them/);
    await view.find("heading", new URL(sink.url).host);
    await view.sees("Newest attempts");
    assert.ok(!(await view.text()).includes(path), "operators see where it leads, not the whole URL");
    assert.deepEqual(await view.all("button", /Register|Delete/), []);
    await view.click("button", "Send again…");
    await view.sees(/the newest has generation/);
    await view.click("button", /From the first event/);
    await view.click("button", "Send again", { within: await view.find("dialog") });
    await view.gone("dialog");
    await view.sees("Working");
  });
  await until(async () => generations(path), (all) => all.length >= 7);
  assert.deepEqual([...new Set(generations(path))], [1, 2, 3, 4, 5, 6], task.id);
});
