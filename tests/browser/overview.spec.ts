// The overview of the console: its numbers are those of what tasks did, for those who may see them.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { Agent, until } from "../e2e/client.ts";
import { agents, HOUR_MS, hourOf, OPERATOR, overviewOf, SECRETS, sums, type Overview } from "../e2e/overview.ts";
import { startConsole, type Console } from "./console.ts";
import { assertHarmless, hostileAgents } from "./hostile.ts";
import type { View } from "./view.ts";

let app: Console;
before(async () => {
  app = await startConsole({ vars: { ...SECRETS, AGENTS: agents("alpha", "beta", "gamma") } });
  const alpha = new Agent(`${app.worker.url}/alpha`);
  for (const text of ["hello", "hello", "hello", "fail", "reject", "ask", "auth"]) await alpha.send(text);
  await alpha.cancelTask((await alpha.sendForTask("ask")).id);
  for (const text of ["hello", "fail"]) await new Agent(`${app.worker.url}/beta`).send(text);
  await until(() => overviewOf(app.worker, "alpha"), (seen) => endedIn(seen) === 6 && seen.unfinished.inputRequired === 1 && seen.unfinished.authRequired === 1);
  await until(() => overviewOf(app.worker, "beta"), (seen) => endedIn(seen) === 2);
});
after(() => app?.stop());

/** Where a duration lies. */
const DURATION = /^(under )?[\d.]+( (ms|s))?( to [\d.]+)? (ms|s)$/;

/** How many tasks an overview counts. */
const endedIn = (overview: Overview): number => Object.values(sums(overview)).reduce((sum, number) => sum + number);

/** The numbers at the head of the page, by their names. */
async function tiles(view: View): Promise<Record<string, string>> {
  await view.sees("Tasks that ended");
  return view.page.evaluate(() => {
    const all = [...document.querySelectorAll(".tile")].map((tile) => [tile.querySelector("dt")?.textContent ?? "", tile.querySelector(".figure")?.textContent ?? ""]);
    return Object.fromEntries(all) as Record<string, string>;
  });
}

/** The cells of the row of an agent. */
function rowOf(view: View, slug: string): Promise<string[]> {
  return view.page.evaluate((wanted) => {
    const rows = [...document.querySelectorAll(".by-agent tbody tr")];
    const row = rows.find((one) => one.querySelector("th .quiet")?.textContent === wanted);
    return [...(row?.querySelectorAll("td") ?? [])].map((cell) => cell.innerText.replaceAll(/\s+/g, " ").trim());
  }, slug);
}

/** The sums of the columns of the table below the first chart. */
async function sumsInTable(view: View): Promise<number[]> {
  await view.unfold("As a table");
  await view.page.waitForSelector(".chart table");
  return view.page.evaluate(() => {
    const rows = [...(document.querySelector(".chart table")?.querySelectorAll("tbody tr") ?? [])];
    const numbers = rows.map((row) => [...row.querySelectorAll("td")].slice(0, 4).map((cell) => Number(cell.textContent)));
    return numbers.reduce((sums, row) => sums.map((sum, nth) => sum + (row[nth] ?? 0)), [0, 0, 0, 0]);
  });
}

describe("an overview", () => {
  test("shows how tasks ended, of all agents and of each", () =>
    app.visit("#/overview", async (view) => {
      view.expect(/status of 401/);
      const all = await tiles(view);
      assert.equal(all["Tasks that ended"], "8");
      assert.equal(all["Failed"], "25%");
      assert.equal(all["Not finished now"], "2");
      assert.equal(all["Webhooks in trouble"], "0");
      assert.match(all["Median duration"] ?? "", DURATION);
      const [ended, failed, withFailedSteps, median, , waiting, webhooks] = await rowOf(view, "alpha");
      assert.deepEqual([ended, failed, withFailedSteps, waiting, webhooks], ["6", "1 (16.7%)", "0", "1 input required 1 authentication required", "All well"]);
      assert.match(median ?? "", DURATION);
      assert.deepEqual((await rowOf(view, "beta")).slice(0, 2), ["2", "1 (50%)"]);
      assert.deepEqual(await sumsInTable(view), [4, 1, 1, 2], "completed, canceled, rejected, failed");
      await view.find("image", /^How tasks ended: 8 tasks: 4 completed, 1 canceled, 1 rejected, 2 failed/);
      await view.find("image", /^How long completed tasks took: the median of all is/);
      await view.inspect("overview");
    }));

  test("shows a week of one agent, which its address names", () =>
    app.visit("#/overview", async (view) => {
      view.expect(/status of 401/);
      const database = await app.worker.d1();
      for (const hours of [3, 30, 100, 166]) {
        const copy = "INSERT OR IGNORE INTO task_hours SELECT agent, ?1, state, number * 10, total_ms, number, number * 2, number * 4, number * 5, number * 6, number * 8, number * 9, number * 9, " +
          `${Array.from({ length: 11 }, () => "number * 10").join(", ")}, with_failed_steps FROM task_hours WHERE agent = 'beta' AND hour = (SELECT max(hour) FROM task_hours WHERE agent = 'beta')`;
        await database.prepare(copy).bind(hourOf(Date.now()) - hours * HOUR_MS).run();
      }
      await tiles(view);
      await view.choose("Agent", "beta");
      await view.reaches("#/overview/beta");
      const ended = async (): Promise<string | undefined> => (await tiles(view))["Tasks that ended"];
      await view.becomes(ended, "22");
      await (await view.find("radio", "Day")).focus();
      await view.press("ArrowRight");
      await view.becomes(ended, "82");
      await view.reaches("#/overview/beta?period=week");
      assert.deepEqual(await sumsInTable(view), [41, 0, 0, 41]);
      await view.inspect("overview-week");
      await (await view.find("radio", "Week")).focus();
      await view.press("ArrowLeft");
      await view.becomes(ended, "22");
      await view.press("ArrowLeft");
      await view.sees("These are the hour under way and the one before.");
      await view.becomes(ended, "2");
    }));

  test("is read anew by a button, and leads to the tasks that it counts", () =>
    app.visit("#/overview/beta", async (view) => {
      const before = Number((await tiles(view))["Tasks that ended"]);
      await new Agent(`${app.worker.url}/beta`).send("hello");
      await until(() => overviewOf(app.worker, "beta", "?hours=24"), (seen) => endedIn(seen) === before + 1);
      await view.click("button", "Refresh");
      await view.becomes(async () => Number((await tiles(view))["Tasks that ended"]), before + 1);
      await view.click("link", /^\d+ \(\d.*%\)$/);
      await view.reaches("#/tasks/beta?state=TASK_STATE_FAILED&since=day");
      await view.sees(/\b1 of 1 tasks?\b/);
    }));

  test("leads from its numbers at the head to what they count", () =>
    app.visit("#/overview/beta?period=week", async (view) => {
      await tiles(view);
      for (const [name, route] of [["Tasks that ended", "#/tasks?agent=beta&since=week"], ["95th percentile", "#/tasks?agent=beta&state=TASK_STATE_COMPLETED&since=week"], ["Not finished now", "#/tasks?agent=beta"], ["Webhooks in trouble", "#/webhooks/beta"]] as const) {
        const link = await view.find("link", name);
        assert.equal(await link.evaluate((one) => one.getAttribute("href")), route);
      }
      await view.click("link", "Failed");
      await view.reaches("#/tasks?agent=beta&state=TASK_STATE_FAILED&since=week");
    }));

  test("tells durations by the bucket that has them, and none above what the tasks took together", async () => {
    const database = await app.worker.d1();
    const count = async (hour: number, number: number, totalMs: number, under: readonly number[]): Promise<void> => {
      const row = ["gamma", hour, 3, number, totalMs, ...under, ...Array.from({ length: 19 - under.length }, () => number), 0];
      await database.prepare(`INSERT INTO task_hours VALUES (${row.map((_, nth) => `?${nth + 1}`).join(", ")})`).bind(...row).run();
    };
    const hour = hourOf(Date.now()) - 2 * HOUR_MS;
    await count(hour, 1, 350, [0, 0, 0, 0, 0]);
    const durations = async (view: View): Promise<(string | undefined)[]> => [(await tiles(view))["Median duration"], (await tiles(view))["95th percentile"]];
    await app.visit("#/overview/gamma", async (view) => {
      await view.becomes(() => durations(view), ["350 ms", "350 ms"]);
      await count(hour - HOUR_MS, 48, 70_000, [0, 0, 0, 0, 0, 0, 0, 40]);
      await view.click("button", "Refresh");
      await view.becomes(() => durations(view), ["1 to 2 s", "2 to 5 s"]);
      await view.screenshot("overview-buckets");
    });
  });
});

test("who is no operator is told what each agent answered, and an operator sees the numbers", () =>
  app.visit("#/overview/guarded", async (view) => {
    view.expect(/status of 40[13]/);
    await view.sees("This page is for operators");
    await view.find("button", "Sign in", { within: await view.find("alert") });
    await view.inspect("overview-stranger");
    const signedInWith = async (secret: string): Promise<void> => {
      const kept = JSON.stringify([{ audience: "guarded", scheme: "key", slot: { in: "header", name: "X-Api-Key" }, secret }]);
      await view.page.evaluate((text) => sessionStorage.setItem("a2a-edge.credentials", text), kept);
      await view.page.reload();
    };
    await signedInWith(SECRETS.KEY_BOB);
    await view.sees(/needs the permission operator/);
    await new Agent(`${app.worker.url}/guarded`, { "x-api-key": SECRETS.KEY_BOB }).sendForTask("hello");
    await until(() => overviewOf(app.worker, "guarded", "", OPERATOR), (seen) => endedIn(seen) === 1);
    await signedInWith(SECRETS.KEY_OPS);
    assert.equal((await tiles(view))["Tasks that ended"], "1");
  }));

test("without counters the page says how to switch them on, and shows what is not finished all the same", async () => {
  const quiet = await startConsole({ vars: { ...SECRETS, AGENTS: agents("alpha"), TASK_STATISTICS: "off" } });
  try {
    await new Agent(`${quiet.worker.url}/alpha`).send("ask");
    await until(() => overviewOf(quiet.worker, "alpha"), ({ unfinished }) => unfinished.inputRequired === 1);
    await quiet.visit("#/overview/alpha", async (view) => {
      await view.sees("Tasks are not counted: the variable TASK_STATISTICS is off.");
      assert.equal((await tiles(view))["Not finished now"], "1");
      await view.sees("No task was counted in this period.");
      await view.inspect("overview-off");
    });
  } finally {
    await quiet.stop();
  }
});

test("hostile names of agents are texts", async () => {
  const hostile = await startConsole({ vars: { AGENTS: hostileAgents() } });
  try {
    await new Agent(`${hostile.worker.url}/hostile`).send("fail");
    await until(() => overviewOf(hostile.worker, "hostile"), (seen) => endedIn(seen) === 1);
    await hostile.visit("#/overview", async (view) => {
      await view.sees("By agent");
      await assertHarmless(view);
      await view.show({ size: "phone" });
      await assertHarmless(view);
      await view.screenshot("overview-hostile-phone");
    });
  } finally {
    await hostile.stop();
  }
});
