// What waits for the person: counted in the menu and the title, answered in its place and on the page of its task.
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { after, before, test } from "node:test";
import { Agent, followUp, message, until, type Task } from "../e2e/client.ts";
import { agentsOf, SECRETS } from "../e2e/isolation.ts";
import { startConsole, type Console } from "./console.ts";
import { assertHarmless, HOSTILE, hostileAgents } from "./hostile.ts";
import type { View } from "./view.ts";

let app: Console;
let demo: Agent;
let asking: Agent;
before(async () => {
  app = await startConsole({ vars: { ...SECRETS, STATE_KEY: randomBytes(32).toString("base64"), AGENTS: agentsOf(hostileAgents()) } });
  demo = new Agent(`${app.worker.url}/demo`);
  asking = new Agent(`${app.worker.url}/asking`);
});
after(() => app?.stop());

const open = new Set<Task>();
/** Waits until the lists know that this many tasks of an agent wait. */
const waits = (agent: Agent, count: number) => until(() => agent.listTasks({ waiting: true }), ({ totalSize }) => totalSize === count);
const card = (view: View, name: string) => view.until(async () => (await view.all("link", name)).length > 0, `no question of the task ${name}`);
const titled = (view: View, count: number) => view.becomes(async () => /^\((\d+)\)/.exec(await view.page.title())?.[1] ?? "0", String(count));
/** The key of a caller, and whether it acts as an operator, as the dialog keeps them. */
async function signIn(view: View, key: string, isOperator: boolean, audience = "guarded"): Promise<void> {
  await view.page.evaluate((secret, role, of) => {
    sessionStorage.setItem("a2a-edge.credentials", JSON.stringify([{ audience: of, slot: { in: "header", name: "X-Api-Key" }, secret }]));
    sessionStorage.setItem("a2a-edge.operator", role);
  }, key, String(isOperator), audience);
  await view.page.reload({ waitUntil: "load" });
}

test("questions are counted, answered by words, a form or credentials, and gone", async () => {
  const question = await demo.sendForTask("ask");
  const credentials = await demo.sendForTask("auth");
  const form = await asking.sendForTask(message({ parts: [{ data: { tool: "add_numbers", arguments: {} } }] }));
  for (const task of [question, credentials, form]) open.add(task);
  await Promise.all([waits(demo, 2), waits(asking, 1)]);
  await app.visit("#/agents", async (view) => {
    await titled(view, 3);
    // Agents that want to know who asks say so on the page, and nowhere before.
    view.expect(/status of 401/);
    await view.click("link", "Waiting 3 tasks");
    await view.find("heading", "Waiting for you");
    await card(view, "ask");
    await view.sees("Which colour?");
    await view.sees("Please sign in and say so.");
    await view.inspect("waiting");
    await widths(view);

    await view.fill("Answer to ask", "green");
    await view.press("Enter");
    await view.notices("The answer is sent.");
    await view.focuses('heading "Waiting for you"');
    await until(() => demo.getTask(question.id), ({ status }) => status.state === "TASK_STATE_COMPLETED");
    await titled(view, 2);
    await view.gone("textbox", "Answer to ask");

    await view.fill("a", "4", "spinbutton");
    await view.fill("b", "5", "spinbutton");
    const region = await view.find("region", "Questions");
    await view.click("button", "Answer", { within: region });
    await view.gone("region", "Questions");
    await until(() => asking.getTask(form.id), ({ status }) => status.state === "TASK_STATE_COMPLETED");

    await view.unfold("Send credentials");
    await view.fill("Value", "top-secret-4711");
    await view.click("button", "Send credentials");
    await view.sees("Nothing waits for you");
    await titled(view, 0);
    assert.ok(!(await view.page.content()).includes("top-secret-4711"), "the page has them nowhere");
    assert.doesNotMatch(JSON.stringify(await view.page.evaluate(() => ({ ...sessionStorage, ...localStorage }))), /top-secret-4711/);
    await view.inspect("waiting-nothing");
  });
});

test("a question is answered on the page of its task; one that was answered meanwhile is not answered twice", async () => {
  const [first, second] = [await demo.sendForTask("ask"), await demo.sendForTask("ask")];
  await waits(demo, 2);
  await app.visit(`#/tasks/demo/${first.id}`, async (view) => {
    await titled(view, 2);
    await view.find("heading", "It waits for you");
    await view.inspect("task-waiting");
    await view.fill(/^Answer to the task/, "red");
    await view.press("Enter");
    await view.gone("heading", "It waits for you");
    await view.find("region", "Results");
    await titled(view, 1);

    view.expect(/status of 401/);
    await view.go("#/waiting");
    await card(view, "ask");
    await view.fill("Answer to ask", "green");
    // Another client is quicker.
    const done = await demo.sendForTask(followUp(second, "blue"));
    await view.press("Enter");
    await view.notices("The question is no longer open");
    await view.sees("Nothing waits for you");
    const { history = [] } = await demo.getTask(second.id);
    assert.deepEqual(history.filter(({ role }) => role === "ROLE_USER").map(({ parts }) => parts[0]?.text), ["ask", "blue"]);
    assert.equal(done.status.state, "TASK_STATE_COMPLETED");
  });
});

test("an answer is kept while the server is stopped, and is then sent once", async () => {
  const task = await demo.sendForTask("ask");
  await waits(demo, 1);
  await app.visit("#/waiting", async (view) => {
    view.expect(/status of 401|ERR_|Failed to load/);
    await card(view, "ask");
    await view.fill("Answer to ask", "blue");
    await app.worker.kill9();
    try {
      await view.press("Enter");
      await view.sees("The server cannot be reached.");
    } finally {
      await app.worker.restart();
    }
    await view.becomes(async () => (await view.find("textbox", "Answer to ask")).evaluate((field) => (field as HTMLTextAreaElement).value), "blue");
    await titled(view, 1);
    await view.click("button", "Answer");
    await view.sees("Nothing waits for you");
    const { history = [] } = await until(() => demo.getTask(task.id), ({ status }) => status.state === "TASK_STATE_COMPLETED");
    assert.equal(history.filter(({ parts }) => parts[0]?.text === "blue").length, 1);
  });
});

test("each caller sees what waits for it, and an operator what waits for all, without answering", async () => {
  const alice = new Agent(`${app.worker.url}/guarded`, { "x-api-key": SECRETS.KEY_ALICE });
  const task = await alice.sendForTask("ask");
  await waits(alice, 1);
  for (const [key, isOperator, count] of [[SECRETS.KEY_ALICE, false, 1], [SECRETS.KEY_BOB, false, 0], [SECRETS.KEY_OPS, false, 0], [SECRETS.KEY_OPS, true, 1]] as const) {
    await app.visit("#/agents", async (view) => {
      await signIn(view, key, isOperator);
      await view.until(() => view.record.requests.some(({ url }) => /guarded\/tasks\?waiting=true/.test(url)), "nothing is counted");
      await titled(view, count);
      const asked = view.record.requests.filter(({ url }) => url.includes("waiting=true")).map(({ url }) => new URL(url).pathname);
      assert.ok(!asked.includes("/other/tasks"), "an agent that does not know the person is not asked");
      view.expect(isOperator ? /status of 40[13]/ : /status of 401/);
      await view.go("#/waiting");
      if (count === 0) return view.sees("Nothing waits for you");
      await card(view, "ask");
      assert.equal((await view.all("textbox", "Answer to ask")).length, isOperator ? 0 : 1);
      if (!isOperator) return undefined;
      await view.find("heading", "Waiting for callers");
      await view.sees("@key:blue");
      return view.inspect("waiting-operator");
    });
  }
  await alice.call("CancelTask", { id: task.id });
});

test("a hidden tab asks for nothing, and one that is seen again at once", async () => {
  await app.visit("#/agents", async (view) => {
    const counted = () => view.record.requests.filter(({ url }) => url.includes("waiting=true")).length;
    await view.until(() => counted() > 0, "nothing is counted");
    const see = (state: string) => view.page.evaluate((visible) => {
      Object.defineProperty(document, "visibilityState", { configurable: true, get: () => visible });
      document.dispatchEvent(new Event("visibilitychange"));
    }, state);
    await titled(view, 0);
    await see("hidden");
    // A hidden tab is not made to ask by a connection that returns either.
    await view.page.evaluate(() => void dispatchEvent(new Event("online")));
    const before = counted();
    const task = await demo.sendForTask("ask");
    await waits(demo, 1);
    assert.equal(counted(), before);
    await see("visible");
    await view.page.evaluate(() => void dispatchEvent(new Event("online")));
    await titled(view, 1);
    assert.ok(counted() > before);
    await demo.call("CancelTask", { id: task.id });
  });
});

test("an agent that refuses a key is not asked with it again", () => app.visit("#/agents", async (view) => {
  view.expect(/status of 401/);
  await signIn(view, "a-wrong-key", false, "*");
  const counted = (agent: string) => view.record.requests.filter(({ url }) => new URL(url).pathname === `/${agent}/tasks` && url.includes("waiting=true")).length;
  await view.until(() => counted("guarded") === 1 && counted("other") === 1 && counted(HOSTILE) > 0, "nothing is counted");
  // What is asked when the connection returns is asked again.
  const refusals = () => view.page.evaluate(() => performance.getEntriesByType("resource").filter((entry) => /\/(guarded|other)\/tasks\?/.test(entry.name) && (entry as PerformanceResourceTiming).responseStatus === 401).length);
  await view.until(async () => await refusals() === 2, "the key is not refused");
  const before = counted(HOSTILE);
  await view.page.evaluate(() => void dispatchEvent(new Event("online")));
  await view.until(() => counted(HOSTILE) > before, "nothing is counted again");
  assert.deepEqual([counted("guarded"), counted("other")], [1, 1]);
}));

test("what an agent asks runs nothing", async () => {
  const hostile = new Agent(`${app.worker.url}/${HOSTILE}`);
  await hostile.sendForTask("ask");
  await waits(hostile, 1);
  await app.visit("#/waiting", async (view) => {
    view.expect(/status of 401/);
    await assertHarmless(view);
    await view.inspect("waiting-hostile");
  });
});

/** Nothing is wider than the screen of a small phone, of a tablet, or of a desktop. */
async function widths(view: View): Promise<void> {
  for (const width of [320, 768, 1280]) {
    await view.page.setViewport({ width, height: 800 });
    await view.page.evaluate(() => new Promise((resolve) => requestAnimationFrame(resolve)));
    const over = await view.page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    assert.ok(over <= 0, `${over} pixels too wide at ${width}`);
    await view.screenshot(`waiting-${width}`);
  }
  await view.show({});
}
