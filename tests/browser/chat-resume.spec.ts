// Chat after a reload, a cut, a crash, and in two tabs: no event is lost, none is shown twice.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { received } from "../e2e/client.ts";
import { startConsole, type Console } from "./console.ts";
import type { View } from "./view.ts";

let app: Console;
before(async () => {
  app = await startConsole();
});
after(() => app?.stop());

const say = async (view: View, text: string): Promise<void> => {
  await view.fill("Message", text);
  await view.press("Enter");
};

const script = async (rules: object[], faults: object[]): Promise<void> => {
  const answer = await fetch(`${app.worker.url}/_dev/script/double`, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify({ rules, faults }) });
  assert.equal(answer.status, 200, await answer.text());
};

/** How often `tick` stands in the artifact. */
const ticks = async (view: View): Promise<number> => (await view.page.$$eval(".artifact", (all) => all.map((one) => one.textContent ?? "").join(""))).split("tick ").length - 1;

/** Whether exactly this many tasks are shown as completed. */
const hasCompleted = async (view: View, number = 1): Promise<boolean> =>
  (await view.page.$$eval(".turn-foot .badge", (all) => all.filter((one) => one.textContent === "Completed").length)) === number;

/** What is shown of the conversation, without what goes by time. */
const shown = (view: View): Promise<string> => view.page.$eval(".talk", (talk) => talk.textContent ?? "");

test("a reload in the middle goes on where the task is", () =>
  app.visit("#/chat/demo", async (view) => {
    await say(view, "count 30 every 100");
    await view.until(async () => (await ticks(view)) > 3, "some ticks");
    await view.page.reload();
    await view.until(async () => (await ticks(view)) > 3, "the ticks before");
    assert.match(await shown(view), /Working/);
    await view.sees("Completed");
    assert.equal(await ticks(view), 30);
  }));

test("a reload shows messages, questions and artifacts in the order in which they came", () =>
  app.visit("#/chat/demo", async (view) => {
    await say(view, "ask");
    await view.sees(/Which colour\?/);
    await say(view, "mauve");
    await view.sees(/I know red, green and blue/);
    await say(view, "blue");
    await view.sees(/You chose blue\./);
    await say(view, "and more");
    await view.until(() => hasCompleted(view, 2), "both have ended");
    const before = await shown(view);
    await view.page.reload();
    await view.until(() => hasCompleted(view, 2), "both are there");
    await view.sees(/mauve/);
    const order = (text: string): number[] => ["Which colour?", "mauve", "I know red", "blue", "You chose", "and more"].map((part) => text.indexOf(part));
    const places = order(await shown(view));
    assert.deepEqual(places, places.toSorted((one, other) => one - other), await shown(view));
    assert.deepEqual(order(before), order(before).toSorted((one, other) => one - other), before);
  }));

test("streams that are cut again and again lose and double nothing", async () => {
  const rules = [{ then: [{ do: "working" }, { do: "artifact", id: "ticks", name: "ticks", chunks: ["tick "], repeat: 40, delay_ms: 50 }, { do: "complete" }] }];
  const faults = [
    { on: ["SendStreamingMessage"], times: 1, close_after: 4, half_event: true, abort: true },
    { on: ["SubscribeToTask"], times: 1, status: 503 },
    { on: ["SubscribeToTask"], times: 3, close_after: 3, abort: true },
    { on: ["SubscribeToTask"], times: 1, close_after: 2, half_event: true },
  ];
  await script(rules, faults);
  await app.visit("#/chat/double", async (view) => {
    view.expect(/status of 503/);
    view.expect(/ERR_/);
    await say(view, "go");
    await view.sees(/Reconnecting/);
    await view.sees("Completed");
    assert.equal(await ticks(view), 40);
    assert.equal((await view.all("article", /^Task /)).length, 1);
  });
});

test("a send whose answer is lost is made again, and begins one task", async () => {
  await script([{ then: [{ do: "complete", text: "Once." }] }], [{ on: ["SendStreamingMessage"], times: 1, status: 502, lost: true }]);
  await app.visit("#/chat/double", async (view) => {
    view.expect(/status of 502/);
    await say(view, "only once, please");
    await view.sees(/Once\./);
    const { messages, requests } = await received(app.worker.url);
    const begun = messages.filter(({ text }) => text === "only once, please");
    assert.equal(begun.length, 1, "the agent was given the message once");
    const sends = requests.filter(({ operation, messageId }) => operation === "SendStreamingMessage" && messageId === begun[0]?.message.messageId);
    assert.equal(sends.length, 2, "the page has sent it twice");
  });
});

test("a crash of the server is waited for, and the task goes on", () =>
  app.visit("#/chat/demo", async (view) => {
    view.expect(/ERR_/);
    await say(view, "count 60 every 100");
    await view.until(async () => (await ticks(view)) > 5, "some ticks");
    await app.worker.kill9();
    await view.sees(/Reconnecting/);
    await view.screenshot("chat-reconnecting");
    await app.worker.restart();
    await view.until(() => hasCompleted(view), "the end").catch(() => undefined);
    await view.until(() => hasCompleted(view), "the end");
    assert.equal(await ticks(view), 60);
  }));

test("two tabs on one task are both live", () =>
  app.visit("#/chat/demo", async (view) => {
    await say(view, "ask");
    await view.sees(/Which colour\?/);
    await view.until(() => /[0-9a-f]{64}$/.test(view.page.url()), "the task has an address");
    const other = await view.beside();
    await other.sees(/Which colour\?/);
    await say(other, "green");
    await other.sees(/You chose green\./);
    await view.page.bringToFront();
    await view.sees(/You chose green\./);
    await view.until(async () => /green/.test(await view.page.$$eval(".message.own", (all) => all.map((one) => one.textContent).join(" "))), "what the other tab has said");
    await view.until(async () => (await shown(view)) === (await shown(other)), "both show the same");
  }));

test("a task that is not there is told, with what to do", () =>
  app.visit(`#/chat/demo/${"0".repeat(64)}`, async (view) => {
    await view.sees(/Begin a new conversation/);
    await view.inspect("chat-unknown-task");
    await view.click("button", "New conversation");
    await say(view, "hello");
    await view.sees("Completed");
  }));
