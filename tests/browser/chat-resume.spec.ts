// Chat after a reload, a cut, a crash, and in two tabs: no event is lost, none is shown twice.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { received, until } from "../e2e/client.ts";
import { Sink } from "../e2e/sink.ts";
import { completed, say, script, stepsShown, upTo } from "./chat.ts";
import { startConsole, type Console } from "./console.ts";
import type { View } from "./view.ts";

let app: Console;
let sink: Sink;
before(async () => {
  sink = await Sink.open();
  app = await startConsole();
});
after(async () => {
  await app?.stop();
  sink?.close();
});

/** What is shown of the conversation, without what goes by time. */
const shown = (view: View): Promise<string> => view.page.$eval(".talk", (talk) => talk.textContent ?? "");

test("a reload in the middle goes on where the task is", () =>
  app.visit("#/chat/faults", async (view) => {
    sink.plan("/reload/15", "hold");
    await say(view, `steps 30 ${sink.url}/reload`);
    await view.becomes(() => stepsShown(view), upTo(14));
    await view.reaches(/[0-9a-f]{64}$/);
    await view.page.reload();
    await view.becomes(() => stepsShown(view), upTo(14));
    assert.match(await shown(view), /Working/);
    await (await sink.arrival("/reload/15")).answer();
    await view.sees("Completed");
    await view.becomes(() => stepsShown(view), upTo(30));
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
    await completed(view, 2);
    const said = ["Which colour?", "mauve", "I know red", "You chose blue", "and more"];
    const areInOrder = async (parts: string[]): Promise<boolean> => {
      const text = await shown(view);
      const places = parts.map((part) => text.indexOf(part));
      return places.every((place, at) => place > (places[at - 1] ?? -1));
    };
    assert.ok(await areInOrder(said), await shown(view));
    await view.page.reload();
    await completed(view, 2);
    await view.until(() => areInOrder(said), () => shown(view));
    // They are still in order when more was said.
    await say(view, "the last words");
    await completed(view, 3);
    assert.ok(await areInOrder([...said, "the last words"]), await shown(view));
  }));

test("streams that are cut again and again lose and double nothing", async () => {
  const rules = [{ then: [{ do: "working" }, { do: "steps", repeat: 20, url: `${sink.url}/cuts` }, { do: "complete" }] }];
  const faults = [
    { on: ["SendStreamingMessage"], times: 1, close_after: 4, half_event: true, abort: true },
    { on: ["SubscribeToTask"], times: 1, status: 503 },
    { on: ["SubscribeToTask"], times: 3, close_after: 3, abort: true },
    { on: ["SubscribeToTask"], times: 1, close_after: 2, half_event: true },
  ];
  await script(app, rules, faults);
  sink.plan("/cuts/20", "hold");
  await app.visit("#/chat/double", async (view) => {
    view.expect(/status of 503/);
    view.expect(/ERR_/);
    await say(view, "go");
    // The task does not end before each of the streams was cut, and another one was begun.
    const subscriptions = async () => (await received(app.worker.url)).filter(({ agent, operation }) => agent === "double" && operation === "SubscribeToTask");
    await until(subscriptions, ({ length }) => length === 6);
    await (await sink.arrival("/cuts/20")).answer();
    await view.sees("Completed");
    await view.becomes(() => stepsShown(view), upTo(20));
    assert.equal((await subscriptions()).length, 6);
    assert.equal((await view.all("article", /^Task /)).length, 1);
  });
});

test("a send whose answer is lost is made again, and begins one task", async () => {
  await script(app, [{ then: [{ do: "complete", text: "Once." }] }], [{ on: ["SendStreamingMessage"], times: 1, status: 502, lost: true }]);
  await app.visit("#/chat/double", async (view) => {
    view.expect(/status of 502/);
    await say(view, "only once, please");
    await view.sees(/Once\./);
    const sends = (await received(app.worker.url)).filter(({ operation, text }) => operation === "SendStreamingMessage" && text === "only once, please");
    assert.equal(sends.length, 2, "the page has sent it twice");
    assert.equal((await app.worker.given()).filter((id) => id === sends[0]?.messageId).length, 1, "the agent was given the message once");
  });
});

test("a message that comes too soon is sent again when the server wants it, or at once when the person does", async () => {
  await script(app, [{ then: [{ do: "complete", text: "Taken." }] }], [{ on: ["SendStreamingMessage"], times: 2, status: 429, headers: { "Retry-After": "1" } }, { on: ["SendStreamingMessage"], times: 1, status: 429, headers: { "Retry-After": "60" } }]);
  await app.visit("#/chat/double", async (view) => {
    view.expect(/status of 429/);
    await say(view, "too soon");
    await view.sees(/The message is sent again in \d\d s/);
    await view.click("button", "Now");
    await view.sees("Taken.");
    const [sent] = (await received(app.worker.url)).filter(({ text }) => text === "too soon");
    assert.equal((await app.worker.given()).filter((id) => id === sent?.messageId).length, 1);
  });
});

test("a crash of the server is waited for, and the task goes on", () =>
  app.visit("#/chat/faults", async (view) => {
    view.expect(/ERR_/);
    sink.plan("/crash/10", "hold");
    await say(view, `steps 20 ${sink.url}/crash`);
    await view.becomes(() => stepsShown(view), upTo(9));
    await sink.arrival("/crash/10");
    await app.worker.kill9();
    await view.sees(/Reconnecting/);
    await view.screenshot("chat-reconnecting");
    await app.worker.restart();
    // The page may wait a quarter of a minute before it tries again.
    await until(() => stepsShown(view), ({ length }) => length >= 20);
    await completed(view, 1);
    assert.deepEqual(await stepsShown(view), upTo(20));
  }));

test("two tabs on one task are both live", () =>
  app.visit("#/chat/demo", async (view) => {
    await say(view, "ask");
    await view.sees(/Which colour\?/);
    await view.reaches(/[0-9a-f]{64}$/);
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
