// A first minute: an agent is greeted in one click, and a task outlives its server, which is killed from the page in development.

import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { after, before, test } from "node:test";
import { until } from "../e2e/client.ts";
import { startConsole, type Console } from "./console.ts";
import type { View } from "./view.ts";

let app: Console;
/** What has to happen when the page has the server killed, as `npm start` does it. */
let killing: Promise<void> | undefined;
let refuses = false;
const command = createServer((_, response) => {
  response.writeHead(refuses ? 404 : 202).end();
  if (!refuses) response.on("close", () => (killing = app.worker.kill9().then(() => app.worker.restart())));
});
before(async () => {
  await once(command.listen(0, "127.0.0.1"), "listening");
  app = await startConsole({ vars: { DEV_KILL_URL: `http://127.0.0.1:${(command.address() as AddressInfo).port}/secret` } });
});
after(async () => {
  await killing;
  await app?.stop();
  command.closeAllConnections();
  command.close();
});

const sightings = (view: View): Promise<string[]> => view.page.$$eval(".sightings li > :last-child", (all) => all.map((one) => one.textContent));

/** Waits until the task is at work, so that the server may be killed. */
async function mayKill(view: View): Promise<void> {
  const kill = await view.find("button", "Kill the server now and watch");
  await view.until(() => kill.evaluate((button) => button.ariaDisabled === "false"), "the server may be killed");
}

test("an agent is greeted in one click, and its task and the chat are one click further", () =>
  app.visit("#/agents", async (view) => {
    await view.click("link", "A first minute");
    await view.find("heading", "A first minute");
    const box = await view.find("combobox", "Agent");
    const offered = await box.evaluate((select) => [...(select as HTMLSelectElement).options].map(({ value }) => value));
    const { agents } = (await (await fetch(`${app.worker.url}/console/api/agents`)).json()) as { agents: { slug: string; isOpen: boolean; isDefault: boolean; health: { state: string } }[] };
    assert.deepEqual(offered.toSorted(), agents.filter(({ isOpen, health }) => isOpen && health.state !== "misconfigured").map(({ slug }) => slug).toSorted());
    assert.equal(offered[0], agents.find(({ isDefault, isOpen }) => isDefault && isOpen)?.slug ?? offered[0]);
    await view.choose("Agent", "demo");
    await view.sees("Gives back any text as an artifact");
    await view.inspect("start");
    await (await view.find("button", "Say hello")).focus();
    await view.press("Enter");
    await view.sees("Completed");
    await view.find("button", "Say hello again");
    await view.inspect("start-greeted");
    await view.click("link", "What happened in the task");
    await view.reaches(/#\/tasks\/demo\/[0-9a-f]{64}$/);
    await view.page.goBack();
    await view.find("heading", "Write an agent");
  }));

test("the server is killed in the middle of a task, comes back, and nothing is lost", () =>
  app.visit("#/start", async (view) => {
    // What fails while there is no server is told by the browser, too.
    view.expect(/ERR_|Failed to load/);
    refuses = false;
    await view.fill(/^Message to \/demo/, "count 30 every 100");
    await view.press("Tab");
    await view.focuses('button "Begin a task"');
    await view.press("Enter");
    await mayKill(view);
    await view.press("Tab");
    await view.focuses('button "Kill the server now and watch"');
    await view.press("Enter");
    await view.sees("The stream broke.");
    await view.sees("The server is back, and the stream goes on behind event");
    await view.sees(/The task has ended: Completed\. Events \d+ to \d+ have come, each once: nothing was lost\./);
    const lines = await sightings(view);
    assert.equal(lines.length, 5, lines.join("\n"));
    assert.match(await view.text(), /(?:tick ?){30}/);
    assert.doesNotMatch(await view.text(), /(?:tick ?){31}/);
    await view.inspect("start-outlived");
    await view.click("button", "Begin another task");
    await until(() => sightings(view), (shown) => shown.length === 1);
  }));

test("why the server is not killed is told, and the task goes on", () =>
  app.visit("#/start", async (view) => {
    refuses = true;
    view.expect(/status of 502/);
    await view.fill(/^Message to \/demo/, "count 30 every 100");
    await view.click("button", "Begin a task");
    await mayKill(view);
    await view.click("button", "Kill the server now and watch");
    await view.sees("The command that serves answered 404");
    await view.sees("The task has ended: Completed.");
    assert.equal((await sightings(view)).length, 2);
  }));
