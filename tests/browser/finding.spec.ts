// Finding by the keyboard: the palette, the keys of lists, the filter by a text, and saved views.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { KeyInput } from "puppeteer-core";
import { Agent, message, until, type Task } from "../e2e/client.ts";
import { agentsOf, SECRETS } from "../e2e/isolation.ts";
import { startConsole, type Console } from "./console.ts";
import { assertHarmless, HOSTILE, hostileAgents, LONG, MARKUP } from "./hostile.ts";
import type { View } from "./view.ts";

let app: Console;
let demo: Agent;
let tasks: Task[];
before(async () => {
  app = await startConsole({ vars: { ...SECRETS, AGENTS: agentsOf(hostileAgents()) } });
  demo = new Agent(`${app.worker.url}/demo`);
  const first = await demo.sendForTask("Reserve a table for Quincy");
  tasks = [first];
  for (const text of ["Reserve a boat", "100%_sure", "ask"]) tasks.push(await demo.sendForTask(message({ contextId: first.contextId, parts: [{ text }] })));
  await until(() => demo.listTasks({ contextId: first.contextId }), ({ totalSize }) => totalSize === tasks.length);
});
after(() => app?.stop());

const FIND = "Find pages, agents, skills, views and tasks";
async function chord(view: View, key: KeyInput): Promise<void> {
  await view.page.keyboard.down("Control");
  await view.page.keyboard.press(key);
  await view.page.keyboard.up("Control");
}
/** Opens the palette by its key and types. */
async function seek(view: View, text: string): Promise<void> {
  await chord(view, "k");
  await view.focuses(`combobox "${FIND}"`);
  await view.page.keyboard.type(text);
}
const options = (view: View): Promise<string[]> => view.page.$$eval("[role=option]", (all) => all.map((one) => (one as HTMLElement).innerText.replace(/\s+/g, " ").trim()));
const chosen = (view: View): Promise<string> => view.page.$eval("[role=option][aria-selected=true]", (one) => (one as HTMLElement).innerText.replace(/\s+/g, " ").trim());
const finds = (view: View, wanted: RegExp) => view.until(async () => (await options(view)).some((one) => wanted.test(one)), async () => `no ${wanted} in ${(await options(view)).join(" | ")}`);
const done = (view: View) => view.until(async () => !/are searched/.test(await view.page.$eval(".palette [role=status]", (one) => one.textContent ?? "")), "the search does not end");

describe("the palette", () => {
  test("finds pages, agents, skills and tasks, and goes there by the keyboard alone", () => app.visit("#/agents", async (view) => {
    await view.find("link", "Chat with Demo");
    await seek(view, "overv");
    await finds(view, /^Page Overview/);
    await view.press("Enter");
    // Agents that want to know who asks say so on the pages that ask all agents.
    view.expect(/status of 401/);
    await view.reaches("#/overview");
    await view.gone("dialog");

    await seek(view, "quincy");
    await finds(view, /^Task Reserve a table for Quincy Completed, demo/);
    await done(view);
    assert.ok(!(await options(view)).some((one) => /boat/.test(one)));
    await view.inspect("palette");
    await widths(view);
    while (!/^Task Reserve/.test(await chosen(view))) await view.press("ArrowDown");
    await view.press("Enter");
    await view.find("heading", `Task ${tasks[0]?.id}`);

    // Also while something is typed.
    await view.go("#/chat/demo");
    await (await view.find("textbox", "Message")).focus();
    await seek(view, "add_numbers");
    await finds(view, /^Skill .*add_numbers, a skill of/);
    await view.press("Escape");
    await view.gone("dialog");
    await view.focuses('textbox "Message"');
  }));

  test("finds a task and a context by their ids, and what is in none says so", () => app.visit("#/agents", async (view) => {
    const { id, contextId } = tasks[1]!;
    await view.find("link", "Chat with Demo");
    await seek(view, id.slice(0, 20));
    await finds(view, /^Task Reserve a boat/);
    await view.press("Escape");
    await seek(view, contextId);
    await finds(view, new RegExp(`^Context ${contextId} The tasks of a context, demo`));
    while (!/^Context/.test(await chosen(view))) await view.press("ArrowDown");
    await view.press("Enter");
    await view.sees("4 of 4 tasks");
    await seek(view, "%_");
    await finds(view, /^Task 100%_sure/);
    await done(view);
    assert.equal((await options(view)).filter((one) => one.startsWith("Task")).length, 1, "no character has a meaning of its own");
    await view.press("Escape");
    await seek(view, "nothing like this");
    await done(view);
    assert.deepEqual(await options(view), ["Page All tasks with “nothing like this” The list of tasks"]);
    await view.press("Enter");
    view.expect(/status of 401/);
    await view.sees("No task matches the filters");
  }));

  test("a server that is stopped is told, and what the page knows is found", () => app.visit("#/agents", async (view) => {
    await view.find("link", "Chat with Demo");
    view.expect(/ERR_|Failed to load/);
    await app.worker.kill9();
    try {
      await seek(view, "demo");
      await finds(view, /^Agent Demo/);
      await view.sees(/no answer from .*demo/);
    } finally {
      await app.worker.restart();
    }
  }));

  test("texts of agents and tasks do nothing in it", async () => {
    const hostile = new Agent(`${app.worker.url}/${HOSTILE}`);
    for (const text of [MARKUP, LONG]) await hostile.sendForTask(text);
    await until(() => hostile.listTasks({}), ({ totalSize }) => totalSize === 2);
    await app.visit("#/agents", async (view) => {
      await view.page.evaluate((text) => localStorage.setItem("a2a-edge.views", text), JSON.stringify([{ name: MARKUP.slice(0, 40), query: { text: MARKUP.slice(0, 90) } }, { name: 7 }, "x"]));
      await view.page.reload({ waitUntil: "load" });
      await view.find("link", /^Chat with/);
      await seek(view, "hostile-text");
      await finds(view, /^Task/);
      await assertHarmless(view);
      await view.inspect("palette-hostile");
      await view.press("Escape");
      await view.go(`#/tasks?agent=${HOSTILE}`);
      await view.sees("2 of 2 tasks");
      await assertHarmless(view);
    });
  });
});

test("keys search, go from row to row, and list themselves, unless something is typed or they are turned off", () => app.visit("#/tasks?agent=demo", async (view) => {
  await view.sees("4 of 4 tasks");
  await view.press("j");
  await view.focuses('link "ask"');
  await view.press("j");
  await view.focuses('link "100%_sure"');
  await view.press("k", "Enter");
  await view.find("heading", `Task ${tasks[3]?.id}`);
  await view.page.goBack();
  await view.sees("4 of 4 tasks");
  // The way back leads to the link, too.
  await view.focuses('link "ask"');
  await view.press("/");
  await view.focuses('searchbox "Text"');
  await view.page.keyboard.type("/jk?");
  assert.equal(await (await view.find("searchbox", "Text")).evaluate((field) => (field as HTMLInputElement).value), "/jk?");
  await view.fill("Text", "", "searchbox");
  await (await view.find("link", "ask")).focus();
  await view.press("?" as KeyInput);
  await view.find("dialog", "Keys");
  await view.inspect("keys");
  await view.click("checkbox", /^Single keys/);
  await view.press("Escape");
  await view.gone("dialog");
  await view.focuses('link "ask"');
  await view.press("j", "?" as KeyInput);
  await view.focuses('link "ask"');
  assert.deepEqual(await view.all("dialog"), []);
  await chord(view, "k");
  await view.find("dialog", "Find");
}));

test("the list is filtered by a text, names tasks by what was asked, and its filters are saved as a view", () => app.visit("#/tasks?agent=demo", async (view) => {
  await view.sees("4 of 4 tasks");
  await view.fill("Text", "RESERVE", "searchbox");
  await view.press("Enter");
  await view.sees("2 tasks with this text, newest first");
  await view.reaches(/agent=demo&text=RESERVE$/);
  await view.find("link", "Reserve a table for Quincy");
  const row = (await view.all("row")).at(1)!;
  assert.match(await view.text(row), /Reserve a boat\s+[0-9a-f]{12}….*Completed\s+[\d.]+ m?s/s);
  await view.click("button", "Save this view…");
  await view.focuses('textbox "Name"');
  await view.page.keyboard.type("Reservations");
  await view.inspect("save-view");
  await view.press("Enter");
  await view.gone("dialog");
  await view.find("link", "Reservations");
  await view.inspect("tasks-text");
  await view.click("link", "Tasks");
  view.expect(/status of 401/);
  await view.find("table");
  await seek(view, "reservat");
  await finds(view, /^View Reservations demo, RESERVE/);
  await view.press("Enter");
  await view.sees("2 tasks with this text");
  const other = await view.beside();
  await other.sees("2 tasks with this text");
  await other.click("button", "Remove the view Reservations");
  await view.gone("link", "Reservations");
}));

/** Nothing is wider than the screen of a small phone, of a tablet, or of a desktop. */
async function widths(view: View): Promise<void> {
  for (const width of [320, 768, 1280]) {
    await view.page.setViewport({ width, height: 800 });
    await view.page.evaluate(() => new Promise((resolve) => requestAnimationFrame(resolve)));
    const over = await view.page.evaluate(() => Math.max(document.documentElement.scrollWidth - innerWidth, ...[...document.querySelectorAll("dialog")].map((one) => one.getBoundingClientRect().right - innerWidth)));
    assert.ok(over <= 0, `${over} pixels too wide at ${width}`);
    await view.screenshot(`palette-${width}`);
  }
  await view.show({});
}
