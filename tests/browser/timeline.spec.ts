// The log of a task with many entries: its first one, its failures, entries of one kind, entries that are alike, and the way back to all that was read.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Agent, message, until, untilEnded, type Task } from "../e2e/client.ts";
import { agentsOf } from "../e2e/isolation.ts";
import { testAgents } from "../e2e/harness.ts";
import { Sink } from "../e2e/sink.ts";
import { script } from "./chat.ts";
import { startConsole, type Console } from "./console.ts";
import type { View } from "./view.ts";

/** How many states follow each other with other words, and how many with the same. */
const [OTHER, ALIKE] = [260, 40];

let app: Console;
let sink: Sink;
let double: Agent;
before(async () => {
  sink = await Sink.open();
  app = await startConsole({ vars: { AGENTS: agentsOf(testAgents), WEBHOOK_RETRY_MS: "100" } });
  double = new Agent(`${app.worker.url}/double`);
});
after(async () => {
  await app?.stop();
  sink?.close();
});

/** A task that has ended in this state, with many entries. */
async function long(end: "complete" | "fail"): Promise<Task> {
  const working = (text: string) => ({ do: "working", text });
  const steps = [...Array.from({ length: OTHER }, (_, at) => working(`line ${at}`)), ...Array.from({ length: ALIKE }, () => working("waits for the lock"))];
  await script(app, [{ then: [...steps, { do: "artifact", id: "poem", text: "roses" }, { do: end, text: "the end" }] }]);
  const { task } = await double.call<{ task: Task }>("SendMessage", { message: message("the very first words"), configuration: { returnImmediately: true } });
  return untilEnded(double, task.id);
}

const timeline = async (view: View): Promise<string> => view.text(await view.find("region", "Log"));
/** How many pages of the timeline the tab has asked for. */
const pages = (view: View): number => view.record.requests.filter(({ url }) => url.includes("/timeline")).length;

test("a long log is read from its first entry by one click, by kind, and stays as it was on the way back", async () => {
  const { id } = await long("complete");
  const all = OTHER + ALIKE + 4;
  await app.visit(`#/tasks/double/${id}?view=log`, async (view) => {
    await view.sees(`${ALIKE - 1} more like this`);
    assert.doesNotMatch(await timeline(view), /the very first words/);
    await view.inspect("timeline-long");
    await view.click("button", "First entry");
    await view.sees(`From the first of ${all} entries`);
    await view.sees("the very first words");
    assert.equal((await timeline(view)).split("waits for the lock").length - 1, 1, "alike entries are one");
    await view.unfold(/more like this/);
    await view.becomes(async () => (await timeline(view)).split("waits for the lock").length - 1, ALIKE);

    await view.click("button", "Next failure");
    await view.sees("Nothing has failed");
    await view.choose("Show", "Artifacts");
    await view.reaches(`#/tasks/double/${id}?view=log&show=artifacts`);
    await view.sees("roses");
    assert.doesNotMatch(await timeline(view), /line \d/);
    await view.choose("Show", "Everything");
    await view.sees("the very first words");

    const read = pages(view);
    await view.go("#/agents");
    await view.find("heading", "Agents");
    await view.page.goBack();
    await view.sees("the very first words");
    await view.sees("line 259");
    assert.ok(pages(view) <= read + 1, "only what is behind the last entry is asked for");
  });
  await app.visit(`#/tasks/double/${id}?show=said`, (view) => view.sees("the very first words"));
});

/** The entry that is marked: the beginning of its text, and whether it is in the window. */
const marked = (view: View) => view.page.$$eval(".entry[aria-current=true]", (all) => all.map((one) => [(one as HTMLElement).innerText.split("\n")[0], one.getBoundingClientRect().top > 0 && one.getBoundingClientRect().bottom < innerHeight]));

test("one failure after the other is found", async () => {
  const { id } = await long("fail");
  await app.visit(`#/tasks/double/${id}?view=log`, async (view) => {
    await view.click("button", "Next failure");
    await view.sees("Failure 1 of 1");
    await view.until(async () => /^State Failed.* true$/.test((await marked(view)).flat().join(" ")), async () => JSON.stringify(await marked(view)));
  });
  sink.plan("/gone", { status: 410 });
  const demo = new Agent(`${app.worker.url}/demo`);
  const configuration = { taskPushNotificationConfig: { id: "mine", url: `${sink.url}/gone` }, returnImmediately: true };
  const { task } = await demo.call<{ task: Task }>("SendMessage", { message: message("fail"), configuration });
  await untilEnded(demo, task.id);
  await sink.arrival("/gone");
  await app.visit(`#/tasks/demo/${task.id}?show=failures`, async (view) => {
    await view.sees("1 attempt to reach webhooks, 1 failed");
    await view.sees(/2 of \d+ entries/);
    await view.click("button", "Next failure");
    await view.sees("Failure 1 of");
    await view.focuses('button "Next failure"');
    await view.press("Enter");
    await view.sees("Failure 2 of");
    await view.becomes(async () => (await marked(view))[0]?.[0], "1 attempt to reach webhooks, 1 failed");
  });
});

test("attempts to reach webhooks do not stand between the steps of the agent", async () => {
  sink.plan("/hook", {}, { status: 404 }, { status: 404 });
  const demo = new Agent(`${app.worker.url}/demo`);
  const configuration = { taskPushNotificationConfig: { id: "mine", url: `${sink.url}/hook` }, returnImmediately: true };
  const { task } = await demo.call<{ task: Task }>("SendMessage", { message: message("chunks"), configuration });
  await untilEnded(demo, task.id);
  await until(async () => sink.arrivals("/hook").length, (count) => count >= 6);
  await app.visit(`#/tasks/demo/${task.id}?view=log`, async (view) => {
    await view.sees("6 attempts to reach webhooks, 2 failed");
    const rows = await view.page.$$eval(".timeline .entry", (all) => all.map((one) => one.textContent));
    assert.deepEqual(rows.map((row) => /webhook/i.test(row)), [...rows.slice(1).map(() => false), true], rows.join("\n"));
    await view.unfold(/attempts to reach webhooks/);
    await view.sees("given up · attempt 1 · status 404");
  });
});
