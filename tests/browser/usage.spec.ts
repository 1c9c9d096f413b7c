// The usage page of the console: what callers have used, for themselves and for operators.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { Agent } from "../e2e/client.ts";
import { testAgents } from "../e2e/harness.ts";
import { agentsOf, SECRETS } from "../e2e/isolation.ts";
import { addSum, beforeMidnight, dayAgo, withQuotas } from "../e2e/usage.ts";
import { startConsole, type Console } from "./console.ts";
import type { View } from "./view.ts";

let app: Console;
before(async () => {
  await beforeMidnight();
  const limited = withQuotas(agentsOf(testAgents), { guarded: { tokens_per_day: 36, cost_per_day: 0.000004 }, other: { tokens_per_day: 1_000_000 } });
  app = await startConsole({ vars: { ...SECRETS, USAGE_CURRENCY: "EUR", AGENTS: limited } });
  for (const slug of ["guarded", "other"]) await new Agent(`${app.worker.url}/${slug}`, { "x-api-key": SECRETS.KEY_BOB }).sendForTask("hello");
  const database = await app.worker.d1();
  for (const [days, owner, slug, turns] of [[0, "key:bob", "guarded", 1], [2, "key:bob", "guarded", 3], [40, "key:bob", "guarded", 100], [1, "key:bob", "other", 5], [2, "@key:blue", "guarded", 7]] as const) {
    await addSum(database, dayAgo(days), owner, slug, turns, slug === "other" ? { "gpt-5-mini": 3, "llama \"x\"": 1 } : { "gpt-5-mini": turns });
  }
});
after(() => app?.stop());

/** Signs in for all agents, as somebody with this key. */
async function signIn(view: View, secret: string): Promise<void> {
  const kept = JSON.stringify([{ audience: "*", scheme: "key", slot: { in: "header", name: "X-Api-Key" }, secret }]);
  await view.page.evaluate((text) => sessionStorage.setItem("a2a-edge.credentials", text), kept);
  await view.page.reload();
}

/** The rows of the table below the chart. */
const rows = (view: View): Promise<string[][]> =>
  view.page.evaluate(() => [...document.querySelectorAll("section.card tbody tr")].map((row) => [...row.children].map((cell) => cell.textContent)));

/** What was used of the limits of the day. */
const limits = (view: View): Promise<string[]> =>
  view.page.evaluate(() => [...document.querySelectorAll<HTMLElement>(".limits-today li")].map((one) => one.innerText.replaceAll(/\s+/g, " ").trim()));

/** The numbers at the head of the page. */
const tiles = (view: View): Promise<string[]> => view.page.evaluate(() => [...document.querySelectorAll(".tile .figure")].map((tile) => tile.textContent));

const row = (name: string, turns: number): string[] => [name, ...[turns, turns, 20 * turns, 3 * turns].map((count) => count.toLocaleString("en")), `€${(4 * turns) / 1e6}`];

describe("the usage page", () => {
  test("shows a caller its own usage by day and by agent", () =>
    app.visit("#/usage", async (view) => {
      view.expect(/status of 401/);
      await view.sees(/agents show usage to callers that they know/);
      await signIn(view, SECRETS.KEY_BOB);
      await view.sees("What you have used");
      await view.becomes(() => tiles(view), ["180", "27", "9", "€0.000036"]);
      assert.deepEqual(await rows(view), [row(dayAgo(0), 1), row(dayAgo(1), 5), row(dayAgo(2), 3)]);
      await view.find("image", /^Tokens by day: 207 tokens: 180 read, 27 written; at most 115 in one day\.$/);
      assert.deepEqual(await limits(view), ["guarded 100% of a cost of €0.000004 today: used up, further messages are refused until midnight UTC", "guarded 63.9% of 36 tokens today", "other 0% of 1,000,000 tokens today"]);
      await view.sees("Limits reset at midnight UTC.");
      await view.inspect("usage");
      await view.choose("By", "model");
      await view.becomes(() => rows(view), [row("gpt-5-mini", 7), row("without a name", 1), row("llama \"x\"", 1)]);
      await view.inspect("usage-models");
      await view.choose("By", "agent");
      await view.becomes(() => rows(view), [row("other", 5), row("guarded", 4)]);
      await view.click("link", "guarded");
      await view.reaches("#/usage/guarded");
      await view.becomes(() => rows(view), [row(dayAgo(0), 1), row(dayAgo(2), 3)]);
      await (await view.find("radio", "30 days")).focus();
      await view.press("ArrowRight");
      await view.reaches("#/usage/guarded?period=quarter");
      await view.becomes(() => rows(view), [row(dayAgo(0), 1), row(dayAgo(2), 3), row(dayAgo(40), 100)]);
    }));

  test("shows operators that of all callers, who lead to their tasks, and saves it as CSV", () =>
    app.visit("#/usage/guarded?by=owner", async (view) => {
      view.expect(/status of 401/);
      await view.find("dialog");
      await signIn(view, SECRETS.KEY_OPS);
      await view.sees("You have used nothing in this period");
      await view.click("switch", "Operator");
      await view.sees("What all callers have used");
      await view.choose("By", "owner");
      await view.becomes(() => rows(view), [row("@key:blue", 7), row("key:bob", 4)]);
      assert.deepEqual(await limits(view), ["guarded key:bob 100% of a cost of €0.000004 today: used up, further messages are refused until midnight UTC", "guarded key:bob 63.9% of 36 tokens today"]);
      await view.inspect("usage-operator");
      const saved = view.page.evaluate(() => new Promise<[string, string]>((resolve) => {
        const made: Blob[] = [];
        const create = URL.createObjectURL.bind(URL);
        URL.createObjectURL = (blob: Blob) => (made.push(blob), create(blob));
        HTMLAnchorElement.prototype.click = function click(this: HTMLAnchorElement) {
          void made[0]?.text().then((text) => resolve([this.download, text]));
        };
      }));
      await view.click("button", "Save as CSV");
      const [name, csv] = await saved;
      assert.equal(name, `usage-by-owner-${dayAgo(29)}-${dayAgo(0)}.csv`);
      assert.equal(csv, "owner,turns,requests,inputTokens,outputTokens,cost,currency\r\n'@key:blue,7,7,140,21,0.000028,EUR\r\nkey:bob,4,4,80,12,0.000016,EUR\r\n");
      await view.click("link", "key:bob");
      await view.sees("1 of 1 task");
    }));

  test("says why there is nothing, and which agents refuse", () =>
    app.visit("#/usage/demo", async (view) => {
      view.expect(/status of 401/);
      await view.sees("You have used nothing in this period");
      await view.inspect("usage-nothing");
      await view.go("#/usage");
      await view.sees(/agents show usage to callers that they know/);
      await view.go("#/usage/nobody");
      await view.sees("There is no agent nobody that can run");
    }));
});
