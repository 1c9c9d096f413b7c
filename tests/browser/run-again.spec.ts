// A task is run again, by its agent or by another one, and two tasks are compared: by mouse, by keyboard, and on a narrow screen.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Agent, received, until } from "../e2e/client.ts";
import { AgentServer, lines, withHttpAgents } from "../e2e/http-agents.ts";
import { startConsole, type Console } from "./console.ts";
import type { View } from "./view.ts";

let app: Console;
let server: AgentServer;
let swift: Agent;
before(async () => {
  // The second agent uses less of its model than the first, and asks before it fails.
  server = await AgentServer.open(({ turn, text, path }, response) => {
    const [tokens, costMicros] = path === "/swift" ? [1200, 900] : [700, 300];
    if (text.startsWith("ask") && turn.turn === 1) return lines(response, { do: "input_required", text: "Which one?" });
    if (text === "fail") return lines(response, { do: "fail", text: "It did not work." });
    return lines(response, { do: "artifact", text: `${path} did it` }, { do: "complete", text: "Well.", usage: { requests: 1, inputTokens: tokens, outputTokens: 10, costMicros } });
  });
  app = await startConsole({ vars: { AGENTS: withHttpAgents({ swift: { url: `${server.url}/swift` }, frugal: { url: `${server.url}/frugal` } }) } });
  swift = new Agent(`${app.worker.url}/swift`);
});
after(async () => {
  await app?.stop();
  server?.close();
});

/** What is said of the numbers of both tasks. */
const betterIn = (view: View): Promise<string[]> => view.page.$$eval(".better", (all) => all.map((one) => `${one.closest(".side-task")?.getAttribute("aria-label")} ${one.closest("div")?.querySelector("dt")?.textContent}`));

test("a task is run by another agent in one click, with its parts and metadata, and both are compared", async () => {
  const parts = [{ text: "build" }, { data: { deep: [1] } }, { raw: Buffer.from("notes").toString("base64"), filename: "notes.txt", mediaType: "text/plain" }];
  const { id, contextId } = await swift.sendForTask({ parts, metadata: { skillId: "lie" } });
  await app.visit(`#/tasks/swift/${id}`, async (view) => {
    await (await view.find("button", "Run again")).focus();
    await view.press("Tab", "Enter");
    await view.find("button", /\/frugal$/);
    await view.inspect("run-again-menu");
    await view.press("Escape");
    await view.focuses(/"Run with another agent"/);
    await view.press("Enter");
    await view.click("button", /\/frugal$/);
    await view.reaches(new RegExp(`#/compare\\?a=swift%2F${id}&b=frugal%2F[0-9a-f]{64}$`));
    await view.sees("Both are completed.");
    await view.sees("/frugal did it");
    await view.becomes(async () => (await betterIn(view)).filter((one) => !/ Time$/.test(one)), ["Second task Tokens", "Second task Cost"]);
    assert.match(await view.text(), /The second did better: .*tokens 500 fewer, cost 0\.0006 cheaper/);
    const [first, second] = (await received(app.worker.url)).flatMap(({ message }) => (message === null ? [] : [message]));
    assert.deepEqual(second?.parts, parts);
    assert.deepEqual(second?.metadata, { skillId: "lie" });
    assert.notEqual(second?.messageId, first?.messageId);
    const turn = server.asked.find(({ path }) => path === "/frugal")?.turn;
    assert.notEqual(turn?.contextId, contextId);
    await view.inspect("compare");
    // Below each other where there is no room.
    await view.page.setViewport({ width: 320, height: 700 });
    const tops = await view.page.$$eval(".side-task", (all) => all.map((one) => one.getBoundingClientRect()).map(({ left, top }) => [left, top]));
    assert.equal(tops[0]?.[0], tops[1]?.[0]);
    assert.equal(await view.page.evaluate(() => document.documentElement.scrollWidth), 320);
    await view.screenshot("compare-narrow");
    await view.page.setViewport({ width: 1280, height: 800 });
    // The address is enough to be here again.
    await view.page.reload();
    await view.sees("Both are completed.");
  });
});

test("a task is run again from the list; what failed is not called better, and a question is answered beside the other task", async () => {
  await swift.sendForTask("fail");
  const { id } = await swift.sendForTask("ask");
  await until(() => swift.listTasks({}), ({ tasks }) => tasks.some((one) => one.id === id));
  await app.visit("#/tasks?agent=swift", async (view) => {
    await view.inspect("tasks-run-again");
    await view.click("button", `Run again ${id.slice(0, 12)}…`);
    await view.reaches(new RegExp(`a=swift%2F${id}&b=swift%2F`));
    await view.sees("The numbers are compared when both tasks have ended.");
    const side = await view.find("region", "Second task");
    const box = await view.find("textbox", /^Answer to the task/, { within: side });
    await box.focus();
    await view.page.keyboard.type("this one");
    await view.click("button", "Answer", { within: side });
    await view.sees("/swift did it");
    // The first still waits.
    await view.click("link", /^[0-9a-f]{12}…$/, { within: await view.find("region", "First task") });
    await view.reaches(`#/tasks/swift/${id}`);
    await view.click("link", "Compare");
    await view.sees("These are the newest ones of swift");
    await view.inspect("compare-choose");
    await view.click("link", /Failed/);
    await view.sees("It did not work.");
    assert.deepEqual(await betterIn(view), []);
  });
});

test("why a task cannot be run again is told", async () => {
  const gone = await swift.sendForTask("build");
  await app.visit(`#/tasks/swift/${gone.id}`, async (view) => {
    view.expect(/status of 404/);
    await view.sees("/swift did it");
    await swift.call("DeleteTask", { id: gone.id });
    await view.click("button", "Run again");
    await view.find("heading", "It was not run again");
    await view.sees(/not found/i);
    await view.inspect("run-again-refused");
    await view.press("Escape");
    await view.focuses('button "Run again"');
  });
});

test("a message that was lost on its way is sent once, however often it is tried", async () => {
  const { id } = await swift.sendForTask("build");
  const count = async (): Promise<number> => (await swift.listTasks({})).totalSize;
  const begun = await count();
  await app.visit(`#/tasks/swift/${id}`, async (view) => {
    view.expect(/ERR_/);
    await view.sees("/swift did it");
    // The server gets the message, and its answer is lost.
    await view.page.evaluate(() => {
      const whole = window.fetch;
      window.fetch = async (...args: Parameters<typeof fetch>) => {
        const answer = await whole(...args);
        if (!String((args[1] as RequestInit | undefined)?.body ?? "").includes("SendMessage")) return answer;
        window.fetch = whole;
        throw new TypeError("ERR_ lost");
      };
    });
    await view.page.evaluate(() => console.error("ERR_ is expected"));
    await view.click("button", "Run again");
    await view.sees("The server cannot be reached.");
    await view.click("button", "Try again");
    await view.sees("Both are completed.");
    await until(count, (now) => now > begun);
    assert.equal(await count(), begun + 1);
  });
});
