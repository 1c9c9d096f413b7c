// An attempt at a webhook, a test and the check of a signature, on the page of a task's webhooks, by keyboard alone.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Agent, message, until, untilEnded, type Task } from "../e2e/client.ts";
import { Sink } from "../e2e/sink.ts";
import { startConsole, type Console } from "./console.ts";
import { assertHarmless, MARK, MARKUP, TURNED } from "./hostile.ts";
import type { View } from "./view.ts";

const path = "/hook";
let app: Console;
let sink: Sink;
let demo: Agent;
before(async () => {
  sink = await Sink.open();
  app = await startConsole({ vars: { WEBHOOK_ATTEMPTS: "2", WEBHOOK_RETRY_MS: "100" } });
  demo = new Agent(`${app.worker.url}/demo`);
});
after(async () => {
  await app?.stop();
  sink?.close();
});

const generations = (): number[] => sink.arrivals(path).map(({ headers }) => Number(headers["a2a-generation"]));

/** Goes to an element by the tabulator key alone. */
async function tabTo(view: View, wanted: string): Promise<void> {
  for (let presses = 0; presses < 100; presses += 1) {
    if ((await view.focused()) === wanted) return;
    await view.press("Tab");
  }
  await view.focuses(wanted);
}

test("of an attempt the page shows what was sent and answered, and a test shows how the receiver answers, by keyboard alone", async () => {
  sink.plan(path, { status: 422, body: `${TURNED} ${MARKUP}`, headers: { "content-type": "text/html" } });
  const configuration = { returnImmediately: true, taskPushNotificationConfig: { id: "mine", url: sink.url + path } };
  const { task } = await demo.call<{ task: Task }>("SendMessage", { message: message("chunks"), configuration });
  await untilEnded(demo, task.id);
  await until(async () => generations(), (all) => all.length >= 6);
  await app.visit(`#/webhooks/demo/${task.id}`, async (view) => {
    await view.sees(/Given up\s+422\s+1\s+1/);
    await tabTo(view, 'button "Details of attempt 1 to send generation 1"');
    await view.press("Enter");
    await view.find("dialog", "Attempt 1 to send generation 1");
    await view.find("group", "Body of the notification");
    await view.sees(/webhook-signature\s+v1,… \(made with the signing secret\)/);
    await view.sees(/a2a-generation\s+1/);
    assert.match(await view.text(await view.find("region", "Body of the notification, as a tree")), new RegExp(`task[^]*${task.id}`));
    assert.ok((await view.text(await view.find("region", "Text of the answer"))).includes(MARK));
    await assertHarmless(view);
    await view.inspect("webhooks-sent");
    await view.press("Escape");
    await view.gone("dialog");
    await view.focuses('button "Details of attempt 1 to send generation 1"');

    sink.plan(path, { body: "taken" }, { status: 503, body: "busy" });
    await tabTo(view, 'button "Send a test…"');
    await view.press("Enter");
    await view.find("dialog", "Send a test");
    await tabTo(view, 'button "Send"');
    await view.press("Enter");
    await view.sees(/Delivered[^]*200[^]*taken/);
    await view.inspect("webhooks-test");
    await tabTo(view, 'button "Send another"');
    await view.press("Enter");
    await view.sees(/Failed[^]*503[^]*busy/);
    await view.press("Escape");
    await view.gone("dialog");

    const { headers, body } = sink.arrivals(path)[6]!;
    const lines = (["webhook-id", "webhook-timestamp", "webhook-signature"] as const).map((name) => `${name}: ${String(headers[name])}`);
    const asked: string[] = [];
    view.page.on("request", (request) => void (request.url().endsWith(":verify") && asked.push(request.postData() ?? "")));
    await tabTo(view, 'button "Check a signature…"');
    await view.press("Enter");
    await view.find("dialog", "Check a signature");
    await view.fill("Headers", `x-secret: hush\n${lines.join("\n")}`);
    await view.fill("Body", body);
    await tabTo(view, 'button "Check"');
    await view.press("Enter");
    await view.sees("A receiver that refuses it has another secret");
    await view.fill("Body", `${body} `);
    await tabTo(view, 'button "Check"');
    await view.press("Enter");
    await view.sees(/Not right[^]*The body is the same JSON written otherwise/);
    await view.inspect("webhooks-check");
    // The body of a test is not in the log, that of an event is.
    const event = sink.arrivals(path)[1]!;
    await view.fill("Headers", JSON.stringify(event.headers));
    await view.fill("Body", event.body.slice(0, 30));
    await tabTo(view, 'button "Check"');
    await view.press("Enter");
    await view.sees("Its first 30 bytes are those that were sent.");
    assert.ok(asked.length === 3 && !asked.join().includes("hush"), "other headers stay on the page");
    await view.press("Escape");
    await view.focuses('button "Check a signature…"');
  });
  assert.deepEqual(generations().slice(6), [0, 0]);
});
