// Ways through the console: the title of each view, the way back to a list, what stays while the server is away, and texts that turn the direction of writing.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Agent, message, until } from "../e2e/client.ts";
import { agentsOf } from "../e2e/isolation.ts";
import { freePort } from "../../scripts/lib/port.mjs";
import { startConsole, type Console } from "./console.ts";
import { HOSTILE, hostileAgents, TURNED } from "./hostile.ts";
import { script } from "./chat.ts";
import type { View } from "./view.ts";

const SKILLS = 60;

/** The agents of the tests, with one of many skills. */
function agents(): string {
  const { agents, ...built } = JSON.parse(agentsOf(hostileAgents())) as { agents: { slug: string; card: string }[] };
  const demo = agents.find(({ slug }) => slug === "demo")!;
  const card = JSON.parse(demo.card) as { skills: object[] };
  card.skills = Array.from({ length: SKILLS }, (_, at) => ({ id: `skill-${at}`, name: `Skill ${at}`, description: "One of many.", tags: [] }));
  return JSON.stringify({ ...built, agents: [...agents, { ...demo, slug: "many", default: false, card: JSON.stringify(card) }] });
}

let app: Console;
let demo: Agent;
before(async () => {
  app = await startConsole({ vars: { AGENTS: agents() } });
  demo = new Agent(`${app.worker.url}/demo`);
});
after(() => app?.stop());

/** Pixels above the window. */
const top = (view: View): Promise<number> => view.page.evaluate(() => Math.round(scrollY));

test("each view has its own title, which is told to screen readers, and the focus at its beginning", async () => {
  const { id } = await demo.sendForTask("hello");
  await app.visit("#/agents", async (view) => {
    const titled = (title: string) => view.until(async () => (await view.page.title()) === `${title} · a2a-edge console`, async () => `the title is ${await view.page.title()}`);
    const told = (text: string) => view.until(() => view.page.$$eval("[role=status]", (all, text) => all.some((one) => one.textContent.trim() === text), text), `nobody is told "${text}"`);
    await titled("Agents");
    for (const [route, title] of [
      ["#/agents/demo", "Demo · Card · Agents"], ["#/agents/demo/check", "Demo · Check · Agents"], ["#/chat/demo", "Demo · Chat"], [`#/tasks/demo/${id}`, `Task ${id.slice(0, 12)}… · Trace · Tasks`],
      ["#/tasks", "Tasks"],
    ] as const) {
      await view.go(route);
      await titled(title);
      await told(title.replaceAll(" · ", ", "));
    }
    assert.match(await view.focused(), /^main/);
  });
});

test("the way back leads to the rows that were loaded, to the place on the page, and to the link that had the focus", async () => {
  const { contextId } = await demo.sendForTask("hello 1");
  for (let count = 2; count <= 40; count++) await demo.sendForTask(message({ contextId, parts: [{ text: `hello ${count}` }] }));
  await until(() => demo.listTasks({ contextId }), ({ totalSize }) => totalSize === 40);
  await app.visit(`#/tasks?agent=demo&context=${contextId}`, async (view) => {
    await view.click("button", "Show more");
    await view.sees("40 of 40 tasks");
    const links = await view.all("link", /^hello \d+$/);
    const link = links[36]!;
    const address = await link.evaluate((one) => one.getAttribute("href"));
    await link.focus();
    const before = await top(view);
    assert.ok(before > 0, "the list is longer than the window");
    await view.press("Enter");
    await view.find("heading", /^Task [0-9a-f]{64}$/);
    await view.becomes(() => top(view), 0);
    await view.page.goBack();
    await view.sees("40 of 40 tasks");
    await view.becomes(() => top(view), before);
    await view.becomes(() => view.page.evaluate(() => document.activeElement?.getAttribute("href")), address);
  });
});

test("a chat with few agents, and an error in a chat, are as high as what they hold", () => app.visit("#/chat", async (view) => {
  const heights = (selector: string) => view.page.$$eval(selector, (all) => all.map((one) => one.getBoundingClientRect().height));
  await view.find("link", /Demo/);
  await view.page.evaluate(() => document.querySelectorAll(".pick li:nth-child(n+3)").forEach((one) => one.remove()));
  const [header = 0] = await heights(".chat-page > header");
  const [list = 0] = await heights(".pick");
  assert.ok(header < 120 && list < 260, `${header} and ${list} px`);
  view.expect(/status of 404/);
  await view.go("#/chat/nobody");
  await view.find("alert");
  assert.ok((await heights(".problem button"))[0]! < 60);
}));

test("an agent of many skills is shown from its beginning, and says how many there are", () => app.visit("#/chat/many", async (view) => {
  await view.find("heading", "Skill 11");
  assert.equal(await top(view), 0);
  assert.deepEqual(await view.all("heading", "Skill 12"), []);
  await view.click("button", `Show all ${SKILLS} skills`);
  await view.find("heading", `Skill ${SKILLS - 1}`);
}));

test("characters that turn the direction of writing are shown by their numbers, and texts find their own direction", () => app.visit(`#/agents/${HOSTILE}`, async (view) => {
  assert.ok(TURNED.includes("\u202E"));
  await view.sees("[U+202E]gnp.exe[U+202C]");
  await view.sees("[U+2067]right to left");
  assert.doesNotMatch(await view.text(), /[\u202a-\u202e\u2066-\u2069]/);
  assert.deepEqual(await view.page.$$eval("main :is(p, h1, h2, h3, td, dd, code):not([dir])", (all) => all.map((one) => one.outerHTML.slice(0, 100))), []);
}));

test("a long text that streams is followed to its end, and its markdown stays markdown", async () => {
  const piece = `${"word ".repeat(200)}\n\n`;
  const chunks = Array.from({ length: 24 }, (_, at) => `## Part ${at}\n\n${piece}`);
  await script(app, [{ then: [{ do: "working" }, { do: "artifact", chunks, delay_ms: 60 }, { do: "complete" }] }]);
  await app.visit("#/chat/double", async (view) => {
    await view.page.evaluate(() => {
      const seen = ((window as unknown as { away: string[] }).away = [] as string[]);
      let height = 0;
      const frame = (): void => {
        const page = document.documentElement;
        const away = page.scrollHeight - innerHeight - scrollY;
        if (document.querySelector(".long-text") !== null) seen.push("source");
        // What has grown since the last frame is followed at the end of this one.
        if (document.querySelector(".artifact") !== null && page.scrollHeight === height && away > innerHeight) seen.push(`${away} px above the end`);
        height = page.scrollHeight;
        requestAnimationFrame(frame);
      };
      requestAnimationFrame(frame);
    });
    await view.fill("Message", "go");
    await view.press("Enter");
    await view.find("heading", "Part 23");
    await view.sees("Completed");
    assert.deepEqual(await view.page.evaluate(() => (window as unknown as { away: string[] }).away), []);
  });
});

test("many skills are searched on the page of a card, which its address keeps", () => app.visit("#/agents/many", async (view) => {
  await view.sees(`${SKILLS} skills`);
  await view.fill("Search the skills", "skill 5", "searchbox");
  await view.sees(`15 of ${SKILLS} skills`);
  await view.reaches("#/agents/many?q=skill+5");
  await view.find("heading", "Skill 57");
  assert.deepEqual(await view.all("heading", "Skill 6"), []);
  await view.fill("Search the skills", "fly", "searchbox");
  await view.sees("No skill has “fly” in its name, its description or its tags.");
}));

test("a tool without arguments is called, and nothing asks to fill them in", () => app.visit("#/chat/assistant", async (view) => {
  const offers = (): Promise<string[]> => view.page.$$eval(".offer", (all) => all.map((one) => (one as HTMLElement).innerText));
  await view.until(async () => (await offers()).some((text) => /Add Numbers[^]*Fill in its arguments/.test(text)), async () => (await offers()).join());
  const at = (await offers()).findIndex((text) => text.startsWith("Is Admin"));
  assert.doesNotMatch((await offers())[at]!, /arguments/);
  await view.click("button", "Call it", { within: (await view.page.$$(".offer"))[at]! });
  await view.click("button", "Call");
  await view.sees("Completed");
}));

/** A task of `demo` with a webhook that nobody listens to, which the list of those in trouble shows. */
async function withFailingWebhook(): Promise<string> {
  const configuration = { returnImmediately: true, taskPushNotificationConfig: { id: "mine", url: `http://127.0.0.1:${await freePort()}/nobody` } };
  const { task } = await demo.call<{ task: { id: string } }>("SendMessage", { message: message("stays"), configuration });
  const list = async () => (await (await fetch(`${app.worker.url}/demo/webhooks`, { headers: { "a2a-version": "1.0" } })).json()) as { webhooks: { taskId: string }[] };
  await until(list, ({ webhooks }) => webhooks.some(({ taskId }) => taskId === task.id));
  return task.id;
}

test("the way back leads to all webhooks that were loaded", async () => {
  const id = await withFailingWebhook();
  const database = await app.worker.d1();
  const copies = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 60) " +
    "INSERT INTO webhooks SELECT printf('%064x', i), id, owner, agent, health, given_up, since_ms - i, updated_ms, version, shown FROM webhooks, n WHERE task = ?1";
  await database.prepare(copies).bind(id).run();
  try {
    await app.visit("#/webhooks/demo", async (view) => {
      const cards = async (): Promise<number> => (await view.all("article")).length;
      await view.becomes(cards, 50);
      await view.click("button", "More of demo");
      await view.becomes(cards, 61);
      await view.click("link", "Attempts");
      await view.find("heading", "Webhooks of a task");
      await view.page.goBack();
      await view.becomes(cards, 61);
    });
  } finally {
    await database.prepare("DELETE FROM webhooks WHERE task <> ?1").bind(id).run();
  }
});

test("a server that is stopped is one box, and what was shown before stays", async () => {
  const { id } = await demo.sendForTask("stays");
  await until(() => demo.listTasks({}), ({ tasks }) => tasks.some((one) => one.id === id));
  const failing = await withFailingWebhook();
  for (const [route, text] of [["#/tasks", id.slice(0, 12)], ["#/webhooks", failing.slice(0, 12)], ["#/overview", "Tasks that ended"]] as const) {
    await app.visit(route, async (view) => {
      await view.sees(text);
      view.expect(/ERR_|Failed to load/);
      await app.worker.kill9();
      try {
        await view.click("button", "Refresh");
        await view.sees("The server cannot be reached.");
        assert.equal((await view.text()).split("The server cannot be reached.").length - 1, 1, route);
        assert.ok((await view.text()).includes(text), route);
      } finally {
        await app.worker.restart();
      }
    });
  }
});
