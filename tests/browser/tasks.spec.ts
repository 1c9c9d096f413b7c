// The page of tasks: the list with its filters, and one task as a live timeline.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { Agent, followUp, message, until, type Task } from "../e2e/client.ts";
import { agentsOf, CALLERS, SECRETS } from "../e2e/isolation.ts";
import { Sink } from "../e2e/sink.ts";
import { startConsole, type Console } from "./console.ts";
import { assertHarmless, HOSTILE, hostileAgents } from "./hostile.ts";
import type { View } from "./view.ts";

let app: Console;
let demo: Agent;
let sink: Sink;
before(async () => {
  sink = await Sink.open();
  app = await startConsole({ vars: { ...SECRETS, AGENTS: agentsOf(hostileAgents()) } });
  demo = new Agent(`${app.worker.url}/demo`);
});
after(async () => {
  await app?.stop();
  sink?.close();
});

const at = (task: Task, agent = "demo") => `#/tasks/${agent}/${task.id}?view=log`;
const rows = async (view: View) => (await view.all("row")).length - 1;
const timeline = async (view: View) => view.text(await view.find("region", "Log"));
/** Waits until lists, which are written a moment after their tasks, have this many that fit. */
const listed = (agent: Agent, params: Record<string, unknown>, count: number) => until(() => agent.listTasks(params), ({ totalSize }) => totalSize === count);
/** Waits until this task is shown, and not the page before. */
const shows = async (view: View, task: Task) => void (await view.find("heading", `Task ${task.id}`), await view.find("navigation", "Views of the task"));
/** Signs in with a key, as the dialog keeps it, and acts in a role. */
async function signIn(view: View, key: string, isOperator: boolean): Promise<void> {
  await view.page.evaluate((secret, role) => {
    sessionStorage.setItem("a2a-edge.credentials", JSON.stringify([{ audience: "*", slot: { in: "header", name: "X-Api-Key" }, secret }]));
    sessionStorage.setItem("a2a-edge.operator", role);
  }, key, String(isOperator));
  await view.page.reload({ waitUntil: "load" });
}

describe("the list", () => {
  let context: string;
  before(async () => {
    const first = await demo.sendForTask("hello");
    context = first.contextId;
    for (let count = 1; count < 30; count++) await demo.sendForTask(message({ contextId: context, parts: [{ text: count % 10 === 0 ? "fail" : `hello ${count}` }] }));
    await demo.sendForTask("ask");
    await listed(demo, { contextId: context, status: "TASK_STATE_COMPLETED" }, 28);
    await listed(demo, { contextId: context, status: "TASK_STATE_FAILED" }, 2);
  });

  test("is filtered by agent, state and context, which the address keeps", () => app.visit("#/tasks", async (view) => {
    // Agents that want to know who asks are asked, too: a cookie may say it.
    view.expect(/status of 401/);
    await view.sees("2 agents show tasks to callers that they know: guarded, other");
    await view.find("table");
    await view.choose("Agent", "demo");
    await view.choose("State", "Failed");
    await view.sees("2 of 2 tasks");
    await view.reaches(/agent=demo.*state=TASK_STATE_FAILED/);
    await view.choose("State", "All states");
    await view.fill("Context", context, "searchbox");
    await view.press("Enter");
    await view.sees("25 of 30 tasks");
    await view.choose("Changed", "Last hour");
    await view.until(() => view.record.requests.some(({ url }) => url.includes("statusTimestampAfter=")), "no request says since when");
    await view.sees("25 of 30 tasks");
    await view.page.reload({ waitUntil: "load" });
    await view.sees("25 of 30 tasks");
    await view.reaches(/agent=demo&context=[\w-]+&since=hour$/);
    assert.deepEqual(await view.all("button", "Apply"), [], "each filter applies at once");
    await view.fill("Context", "there is no such context", "searchbox");
    await view.press("Enter");
    await view.sees("No task matches the filters");
    await view.go("#/tasks?state=TASK_STATE_REJECTED");
    await view.sees("2 agents show tasks to callers that they know: guarded, other");
    await view.sees("No task matches the filters");
  }));

  test("shows more, newest first, and goes to a task by keyboard", () => app.visit(`#/tasks?agent=demo&context=${context}`, async (view) => {
    await view.sees("25 of 30 tasks");
    await view.click("button", "Show more");
    await view.sees("30 of 30 tasks");
    assert.equal(await rows(view), 30);
    assert.match(await view.text((await view.all("row"))[1]!), /hello 29/);
    await (await view.find("link", "hello 29")).focus();
    await view.press("ArrowDown", "Enter");
    await view.find("heading", /^Task [0-9a-f]{64}$/);
    await view.sees("hello 28");
  }));

  test("shows a new task when it is read again, and looks well", () => app.visit("#/tasks?agent=demo", async (view) => {
    await view.find("table");
    const { id, contextId } = await demo.sendForTask("just now");
    await listed(demo, { contextId }, 1);
    await view.click("button", "Refresh");
    await view.sees(id.slice(0, 12));
    await view.inspect("tasks-list");
  }));
});

describe("a task", () => {
  test("is a live timeline that goes on while it is looked at, in two tabs", async () => {
    const task = await demo.sendForTask("ask");
    await app.visit(at(task), async (view) => {
      await view.sees("Which colour?");
      await view.sees("Input required");
      await view.sees("Message 1, attempt 1");
      const other = await view.beside();
      await other.sees("Which colour?");
      await demo.sendForTask(followUp(task, "green"));
      for (const tab of [view, other]) {
        await tab.sees("Message of the client");
        await tab.sees("Completed");
        await tab.sees("Message 2, attempt 1");
        await tab.gone("button", "Cancel task");
      }
      const text = await timeline(view);
      assert.ok(text.indexOf("Message 1, attempt 1") < text.indexOf("Message 2, attempt 1"), text);
    });
  });

  test("shows its events as they come, its steps and its results", async () => {
    const faults = new Agent(`${app.worker.url}/faults`);
    sink.plan("/steps/2", "hold");
    const task = await faults.sendForTask(`steps 3 ${sink.url}/steps`, { returnImmediately: true });
    await app.visit(at(task, "faults"), async (view) => {
      await view.sees("step 2 of 3");
      await view.sees("Since");
      await view.sees("Live");
      assert.doesNotMatch(await timeline(view), /step 3 of 3/);
      await (await sink.arrival("/steps/2")).answer();
      await view.sees("step 3 of 3");
      await view.gone("button", "Cancel task");
      await view.sees("Completed");
    });
    const done = await demo.sendForTask("chunks");
    await app.visit(at(done), async (view) => {
      await view.find("region", "Results");
      await view.until(async () => /chunks · .*complete/.test(await timeline(view)), () => timeline(view));
      await view.inspect("task");
    });
  });

  test("is canceled once that is confirmed", async () => {
    const task = await demo.sendForTask("ask");
    await app.visit(at(task), async (view) => {
      await view.click("button", "Cancel task");
      await view.find("dialog", "Cancel this task?");
      await view.click("button", "Keep it");
      await view.gone("dialog");
      await view.click("button", "Cancel task");
      await view.click("button", "Cancel the task");
      await view.gone("dialog");
      await view.sees("Canceled");
      assert.equal((await demo.getTask(task.id)).status.state, "TASK_STATE_CANCELED");
      assert.equal(view.record.requests.filter(({ url }) => url.endsWith(":cancel")).length, 1, "only what is confirmed is sent");
    });
  });

  test("leads to its chat, its webhooks and the tasks of its context, and is copied as JSON", async () => {
    const task = await demo.sendForTask("hello");
    await app.visit(at(task), async (view) => {
      await view.find("link", "Open in chat");
      for (const [name, route] of [["Open in chat", `#/chat/demo/${task.id}`], ["Webhooks", `#/webhooks/demo/${task.id}`], [task.contextId, `#/tasks?agent=demo&context=${task.contextId}`]] as const) {
        const links = await view.all("link", name);
        const targets = await Promise.all(links.map((link) => link.evaluate((element) => element.getAttribute("href"))));
        assert.ok(targets.includes(route), `${name}: ${targets.join(" ")}`);
      }
      // The page may write to the clipboard, and nobody may read it.
      await view.page.evaluate(() => {
        navigator.clipboard.writeText = (text) => Promise.resolve(void (document.documentElement.dataset["copied"] = text));
      });
      await view.click("button", "Copy as JSON");
      await view.notices("Copied.");
      const copied = JSON.parse(await view.page.evaluate(() => document.documentElement.dataset["copied"] ?? "")) as { taskId: string; entries: { kind: string }[] };
      assert.deepEqual([copied.taskId, copied.entries[0]?.kind], [task.id, "task"]);
    });
  });

  test("that does not exist is told, and a long one is read from its end", async () => {
    await app.visit(`#/tasks/demo/${"f".repeat(64)}`, async (view) => {
      view.expect(/status of 404/);
      await view.find("alert");
    });
    const task = await demo.sendForTask("guess");
    for (let turn = 0; turn < 30; turn++) await demo.sendForTask(followUp(task, "1"));
    await app.visit(at(task), async (view) => {
      await view.sees("Message 31, attempt 1");
      assert.doesNotMatch(await timeline(view), /Message 1, attempt 1/);
      await view.click("button", "Show earlier entries");
      await view.sees("Message 1, attempt 1");
    });
  });
});

test("an operator sees the tasks of all callers and who they are of, and acts on them", async () => {
  const alice = new Agent(`${app.worker.url}/guarded`, CALLERS["the owner"]!.headers);
  const task = await alice.sendForTask("ask");
  await listed(alice, { contextId: task.contextId, status: "TASK_STATE_INPUT_REQUIRED" }, 1);
  await app.visit("#/agents", async (view) => {
    await signIn(view, SECRETS.KEY_OPS, true);
    await view.go("#/tasks?agent=guarded");
    await view.sees(task.id.slice(0, 12));
    await view.click("link", "ask");
    await shows(view, task);
    await view.sees("Which colour?");
    await view.sees("@key:blue");
    await view.inspect("task-operator");
    await view.click("button", "Cancel task");
    await view.click("button", "Cancel the task");
    await view.sees("Canceled");
  });
  await app.visit("#/agents", async (view) => {
    await signIn(view, SECRETS.KEY_BOB, false);
    view.expect(/status of 404/);
    await view.go(at(task, "guarded"));
    await view.find("alert");
    assert.doesNotMatch(await view.text(), /Which colour/);
  });
  await app.visit("#/agents", async (view) => {
    await signIn(view, SECRETS.KEY_OPS, false);
    view.expect(/status of 404/);
    await view.go(at(task, "guarded"));
    await view.sees("What belongs to another caller is not found by you. Operators find it.");
    await view.click("button", "Act as an operator");
    await view.sees("Which colour?");
  });
});

test("what agents say runs nothing, in the list and in a task", async () => {
  const hostile = new Agent(`${app.worker.url}/${HOSTILE}`);
  const tasks = [await hostile.sendForTask("go"), await hostile.sendForTask("ask"), await hostile.sendForTask("fail")];
  await listed(hostile, {}, tasks.length);
  await app.visit(`#/tasks?agent=${HOSTILE}`, async (view) => {
    await view.find("table");
    await assertHarmless(view);
    for (const task of tasks) {
      await view.go(at(task, HOSTILE));
      await shows(view, task);
      await assertHarmless(view);
      await view.click("link", "Trace");
      await view.click("button", /^Turn Message 1/);
      await view.find("group", "Details of Message 1");
      await assertHarmless(view);
    }
  });
});
