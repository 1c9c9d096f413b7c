// A task some of whose steps have failed is marked, in the list and on its own page, whatever it came to.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Agent, until, type Task } from "../e2e/client.ts";
import { calls, ModelServer, say } from "../e2e/model-server.ts";
import { Sink } from "../e2e/sink.ts";
import { startConsole, type Console } from "./console.ts";

let app: Console;
let model: ModelServer;
let sink: Sink;
let thinker: Agent;
before(async () => {
  [model, sink] = await Promise.all([ModelServer.start(), Sink.open()]);
  app = await startConsole({ vars: { MODEL_URL: model.url, MODEL_KEY: "key", SINK: sink.url } });
  thinker = new Agent(`${app.worker.url}/thinker`);
});
after(async () => {
  await app?.stop();
  model?.stop();
  sink?.close();
});

/** A completed task whose calls of a tool are answered with these statuses. */
async function taskOf(statuses: number[]): Promise<Task> {
  const items = statuses.map((status, at) => `${status}-${at}`);
  items.forEach((item, at) => sink.plan(`/orders/${item}`, { status: statuses[at]!, body: "said by the server" }));
  model.answers(calls(items.map((item) => ["order", { item }, item])), say("done"));
  return thinker.sendForTask("order");
}

test("a completed task with failed steps is marked in the list and as a task, and others are not", async () => {
  const [fine, one, two] = [await taskOf([200]), await taskOf([500, 200]), await taskOf([500, 200, 404])];
  await until(() => thinker.listTasks({ status: "TASK_STATE_COMPLETED" }), ({ totalSize }) => totalSize === 3);
  const marks: [Task, string][] = [[fine, ""], [one, "1 failed step"], [two, "2 failed steps"]];
  await app.visit("#/tasks?agent=thinker", async (view) => {
    await view.sees("3 of 3 tasks");
    for (const [{ id }, mark] of marks) {
      const rows = await Promise.all((await view.all("row")).map((row) => view.text(row)));
      const row = rows.find((text) => text.includes(id.slice(0, 12))) ?? "";
      assert.match(row, mark === "" ? /Completed(?!.*failed step)/s : new RegExp(`Completed\\s+${mark}`));
    }
    await view.inspect("tasks-failed-steps");
    for (const [{ id }, mark] of marks) {
      await view.go(`#/tasks/thinker/${id}?view=log`);
      await view.find("heading", `Task ${id}`);
      await view.find("region", "Log");
      if (mark !== "") await view.sees(mark);
      else assert.doesNotMatch(await view.text(), /failed/);
      const [what, calls] = [await view.text(), { "": 1, "1 failed step": 2, "2 failed steps": 3 }[mark]];
      if (mark === "") assert.match(what, /Completed after [\d.]+ m?s\./);
      else assert.match(what, new RegExp(`Completed after [\\d.]+ m?s, but ${mark[0]} of ${calls} calls failed: order`));
    }
    await view.click("button", "Show where");
    const current = (await view.all("listitem")).map(async (row) => ((await row.evaluate((one) => one.getAttribute("aria-current"))) === "true" ? view.text(row) : ""));
    assert.match((await Promise.all(current)).join(""), /order\s+.*failed/s);
    await view.inspect("task-failed-steps");
    // The overview counts such tasks, and leads to them.
    await view.go("#/overview/thinker");
    await view.sees("With failed steps");
    const tile = () => view.page.evaluate(() => [...document.querySelectorAll(".tile")].find((one) => one.querySelector("dt")?.textContent === "With failed steps")?.querySelector("dd")?.innerText.replaceAll(/\s+/g, " "));
    assert.equal(await tile(), "66.7% 2 tasks");
    await view.find("link", "2 (66.7%)");
    await view.inspect("overview-failed-steps");
    await view.unfold("As a table");
    const cells = () => view.page.evaluate(() => [...(document.querySelector(".chart table")?.querySelectorAll("tbody tr") ?? [])].map((row) => Number(row.lastElementChild?.textContent)));
    assert.equal((await cells()).reduce((sum, count) => sum + count, 0), 2);
    await view.click("link", "With failed steps");
    await view.reaches("#/tasks?agent=thinker&steps=failed&since=day");
    await view.sees(/2 with failed steps among the newest 3/);
  });
});

test("the list can be of tasks with failed steps alone", async () => {
  await app.visit("#/tasks?agent=thinker", async (view) => {
    await view.sees("3 of 3 tasks");
    await view.choose("Steps", "With failed steps");
    await view.sees("2 with failed steps among the newest 3 of 3 tasks");
    assert.equal((await view.all("row")).length, 3, "the head and two tasks");
    await view.inspect("tasks-with-failed-steps");
  });
});
