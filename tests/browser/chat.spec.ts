// Chat: messages, artifacts as they come, questions, forms, files, cancel; by mouse, by keyboard, on a phone.

import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import type { ElementHandle } from "puppeteer-core";
import { received, type Part } from "../e2e/client.ts";
import { Sink } from "../e2e/sink.ts";
import { completed, say, script } from "./chat.ts";
import { startConsole, type Console } from "./console.ts";

let app: Console;
let sink: Sink;
before(async () => {
  sink = await Sink.open();
  app = await startConsole({ vars: { STATE_KEY: randomBytes(32).toString("base64") } });
});
after(async () => {
  await app?.stop();
  sink?.close();
});

/** The parts of the newest message that an agent has received. */
const partsReceived = async (): Promise<Part[]> => (await received(app.worker.url)).findLast(({ message }) => message !== null)?.message?.parts ?? [];

test("an agent is picked, tells what it does, and an example is filled in", () =>
  app.visit("#/chat", async (view) => {
    await view.sees(/Whom would you like to talk to/);
    await view.find("link", /^Demo Gives back/);
    await view.inspect("chat-pick");
    await view.click("link", /^Demo Gives back/);
    await view.sees(/Asks for a colour/);
    await view.inspect("chat-welcome");
    await view.click("button", "chunks");
    await view.focuses('textbox "Message"');
    await view.press("Enter");
    await view.sees(/one two three/);
    await view.sees("Completed");
  }));

test("chunks are shown as they come, joined, and the task gets an address", () =>
  app.visit("#/chat/faults", async (view) => {
    sink.plan("/chunks/3", "hold");
    await say(view, `steps 3 ${sink.url}/chunks`);
    // Each chunk is a line with its number. The third comes when the test lets it.
    await view.sees(/1 ok\s+2 ok/);
    await view.sees("step 3 of 3");
    const text = await view.text();
    assert.match(text, /Receiving/);
    assert.match(text, /Working/);
    assert.doesNotMatch(text, /3 ok|Completed/);
    await view.find("button", "Cancel");
    await (await sink.arrival("/chunks/3")).answer();
    await view.sees(/1 ok\s+2 ok\s+3 ok/);
    await view.sees("Completed");
    await view.gone("button", "Cancel");
    await view.reaches(/#\/chat\/faults\/[0-9a-f]{64}$/);
  }));

test("a question is answered in the same task, and another message begins another one in the same context", () =>
  app.visit("#/chat/demo", async (view) => {
    await say(view, "ask");
    await view.sees(/Which colour\?/);
    await view.sees("Input required");
    await view.inspect("chat-question");
    await say(view, "red");
    await view.sees(/You chose red\./);
    assert.equal((await view.all("article", /^Task /)).length, 1);
    await say(view, "hello again");
    await view.until(async () => (await view.all("article", /^Task /)).length === 2, "a second task");
    await completed(view, 2);
    const ids = await view.page.$$eval(".turn-foot a", (links) => links.map((link) => link.getAttribute("title") ?? ""));
    const tasks = await Promise.all(ids.map(async (id) => (await (await fetch(`${app.worker.url}/demo/tasks/${id}`)).json()) as { contextId: string }));
    assert.equal(new Set(tasks.map(({ contextId }) => contextId)).size, 1);
    await view.inspect("chat-two-tasks");
  }));

test("a direct message is an answer without a task, and is there again after a reload of its context", () =>
  app.visit("#/chat/demo", async (view) => {
    await say(view, "message");
    await view.sees(/A message instead of a task\./);
    assert.equal((await view.all("article", /^Task /)).length, 0);
    await view.reaches(/\?context=/);
    await view.page.reload();
    await view.sees(/A message instead of a task\./);
  }));

test("failures and refusals say what is wrong", () =>
  app.visit("#/chat/demo", async (view) => {
    await say(view, "fail");
    await view.sees(/It did not work, as you wished\./);
    await view.sees("Failed");
    await view.click("button", "New conversation");
    await say(view, "reject");
    await view.sees(/I would rather not\./);
    await view.sees("Rejected");
    await view.inspect("chat-failed");
  }));

for (const [text, state] of [["hold 60000", "Working"], ["ask", "Input required"], ["auth", "Authentication required"]] as const) {
  test(`a task is canceled in the state "${state}"`, () =>
    app.visit("#/chat/demo", async (view) => {
      await say(view, text);
      await view.sees(state);
      await view.click("button", "Cancel");
      await view.sees("Canceled");
      await view.gone("button", "Cancel");
    }));
}

test("what is sent without a stream is followed all the same", () =>
  app.visit("#/chat/demo", async (view) => {
    await view.find("button", "Send");
    await view.unfold("Options");
    await view.choose("Send by", "Wait for the answer");
    await say(view, "hold 300");
    await view.sees("Completed");
    await view.choose("Send by", "Return at once, then look");
    await say(view, "count 8 every 100");
    await view.sees(/(tick ){7}tick/);
    await completed(view, 2);
  }));

describe("a message has", () => {
  test("files, that are told to be too large before they are sent", () =>
    app.visit("#/chat/demo", async (view) => {
      const folder = mkdtempSync(join(tmpdir(), "a2a-edge-chat-"));
      try {
        writeFileSync(join(folder, "notes.txt"), "Hello, file.");
        writeFileSync(join(folder, "large.bin"), Buffer.alloc(3_100_000));
        await view.find("button", "Attach");
        const picker = (await view.page.$("input[type=file]")) as ElementHandle<HTMLInputElement>;
        await picker.uploadFile(join(folder, "large.bin"));
        await view.sees(/A message takes 3\.0 MB of files/);
        await picker.uploadFile(join(folder, "notes.txt"));
        await view.sees("notes.txt");
        await say(view, "with a file");
        await view.sees("Completed");
        const [text, file] = await partsReceived();
        assert.equal(text?.text, "with a file");
        assert.deepEqual(file, { raw: Buffer.from("Hello, file.").toString("base64"), filename: "notes.txt", mediaType: "text/plain" });
        await view.inspect("chat-file");
      } finally {
        rmSync(folder, { recursive: true, force: true });
      }
    }));

  test("data, which is checked", () =>
    app.visit("#/chat/demo", async (view) => {
      await view.click("button", "Data");
      await view.fill("Data (JSON)", '{"a": ');
      await view.click("button", "Send");
      await view.sees(/The data is not JSON/);
      await view.fill("Data (JSON)", '{"a": [1, true]}');
      await view.click("button", "Send");
      await view.sees("Completed");
      assert.deepEqual(await partsReceived(), [{ data: { a: [1, true] } }]);
    }));

  test("the arguments of a tool by the form of its schema", () =>
    app.visit("#/chat/assistant?skill=add_numbers", async (view) => {
      await view.sees(/Write a message instead/);
      await view.inspect("chat-form");
      await view.click("button", "Call");
      // What is needed is asked for, before anything is sent.
      await view.focuses('spinbutton "a"');
      await view.fill("a", "2", "spinbutton");
      await view.fill("b", "3", "spinbutton");
      await view.click("button", "Call");
      await view.sees("Completed");
      const calls = (await received(app.worker.url)).flatMap(({ agent, message }) => (agent === "assistant" && message !== null ? [message.parts] : []));
      assert.deepEqual(calls, [[{ data: { tool: "add_numbers", arguments: { a: 2, b: 3 } } }]]);
    }));
});

test("a question with a schema is a form", () =>
  app.visit("#/chat/asking", async (view) => {
    await view.click("button", "Data");
    await view.fill("Data (JSON)", '{"tool": "add_numbers", "arguments": {}}');
    await view.click("button", "Send");
    await view.sees("Input required");
    await view.inspect("chat-question-form");
    await view.fill("a", "4", "spinbutton");
    await view.fill("b", "4", "spinbutton");
    await view.click("button", "Answer");
    await view.sees("Completed");
  }));

test("credentials for a task are sent as such, and shown nowhere", () =>
  app.visit("#/chat/demo", async (view) => {
    await say(view, "auth");
    await view.sees("Authentication required");
    await view.unfold("Send credentials");
    await view.fill("Value", "top-secret-4711");
    await view.inspect("chat-credentials");
    await view.click("button", "Send credentials");
    await view.sees("Credentials, which are not shown");
    await view.gone("button", "Send credentials");
    await view.click("button", "Raw");
    await view.becomes(() => view.page.$$eval(".exchange > summary > strong", (all) => all.filter((one) => one.textContent === "SendStreamingMessage").length), 2);
    assert.ok(!(await view.page.content()).includes("top-secret-4711"), "the page has them nowhere");
    assert.doesNotMatch(JSON.stringify(await view.page.evaluate(() => ({ ...sessionStorage }))), /top-secret-4711/);
  }));

test("a refused message is still there to be changed, with what can be done", async () => {
  await script(app, [{ then: [{ do: "complete", text: "Taken." }] }], [{ on: ["SendStreamingMessage"], times: 1, status: 413 }]);
  await app.visit("#/chat/double", async (view) => {
    view.expect(/status of 413/);
    await say(view, "keep this text");
    await view.sees(/Attach less/);
    await view.becomes(() => view.page.$eval(".composer-text", (box) => (box as HTMLTextAreaElement).value), "keep this text");
    await view.press("Enter");
    await view.sees(/Taken\./);
  });
});

test("everything can be done by keyboard alone", () =>
  app.visit("#/chat/demo", async (view) => {
    await view.sees(/Asks for a colour/);
    const reach = async (name: RegExp): Promise<void> => {
      for (let presses = 0; presses < 60; presses += 1) {
        if (name.test((await view.page.evaluate(() => document.activeElement?.getAttribute("aria-label") ?? document.activeElement?.textContent)) ?? "")) return;
        await view.press("Tab");
      }
      throw new Error(`nothing is named ${name}`);
    };
    await reach(/^Message$/);
    await view.page.keyboard.type("line one");
    await view.page.keyboard.down("Shift");
    await view.press("Enter");
    await view.page.keyboard.up("Shift");
    await view.page.keyboard.type("line two");
    await view.press("Enter");
    await view.sees("Completed");
    assert.equal((await partsReceived())[0]?.text, "line one\nline two");
    await view.focuses('textbox "Message"');
    await view.page.keyboard.type("hold 60000");
    await view.press("Enter");
    await view.find("button", "Cancel");
    await view.page.focus(".skip");
    await reach(/^Cancel$/);
    await view.press("Enter");
    await view.sees("Canceled");
  }));
