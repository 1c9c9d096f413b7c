// Questions as forms: every kind of field by keyboard alone, what is wrong beside its field, files, and schemas that attack the page.

import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import type { ElementHandle } from "puppeteer-core";
import { Agent, type Part, type Task } from "../e2e/client.ts";
import { AgentServer, lines, withHttpAgents } from "../e2e/http-agents.ts";
import { completed, say } from "./chat.ts";
import { startConsole, type Console } from "./console.ts";
import { assertHarmless, LONG, MARKUP } from "./hostile.ts";
import type { View } from "./view.ts";

const BOOKING = {
  type: "object",
  title: "Booking",
  description: "What the hotel has to know.",
  required: ["name", "nights", "room", "breakfast", "arrival", "address"],
  properties: {
    name: { type: "string", title: "Name of the guest", minLength: 2, maxLength: 20 },
    nights: { type: "integer", minimum: 1, maximum: 14, description: "How many nights." },
    room: { type: "string", enum: ["single", "double"], enumNames: ["Single room", "Double room"] },
    breakfast: { type: "boolean" },
    arrival: { type: "string", format: "date" },
    mail: { type: "string", format: "email", title: "Mail" },
    code: { type: "string", pattern: "^[A-Z]{2}\\d{3}$", default: "AB123" },
    guests: { type: "array", items: { type: "string", minLength: 2 }, maxItems: 3, title: "Other guests" },
    extras: { type: "array", items: { enum: ["bike", "sauna"] } },
    address: { type: "object", title: "Address", required: ["street"], properties: { street: { type: "string" }, zip: { $ref: "#/$defs/zip" } } },
  },
  $defs: { zip: { type: "integer", title: "Postal code" } },
};

/** A pattern that keeps the engine of a browser busy for years, at a text of a few letters. */
const ENDLESS = { type: "object", required: ["word"], properties: { word: { type: "string", pattern: "^(([a-z])+.)+[A-Z]([a-z])+$" } } };

let deep: object = { type: "string" };
for (let depth = 0; depth < 40; depth += 1) deep = { type: "object", properties: { inner: deep } };

const SCHEMAS: Record<string, object> = {
  booking: BOOKING,
  endless: ENDLESS,
  deep: { type: "object", properties: { deep } },
  huge: { type: "object", properties: Object.fromEntries(Array.from({ length: 400 }, (_, at) => [`member${at}`, { type: "string" }])) },
  round: { type: "object", properties: { self: { $ref: "#" }, odd: { type: 7, enum: "x", anyOf: 3 }, none: null } },
  hostile: { type: "object", title: MARKUP, description: MARKUP, properties: { [MARKUP]: { type: "string", title: LONG, description: MARKUP, enum: [MARKUP, LONG] }, __proto__x: { title: MARKUP, default: MARKUP } } },
  scan: { type: "object", required: ["scan"], properties: { scan: { type: "string", contentEncoding: "base64", title: "Scan" } } },
};

let app: Console;
let server: AgentServer;
let forms: Agent;
before(async () => {
  // The first message names the schema; the answer is the result.
  server = await AgentServer.open(({ turn, text }, response) =>
    turn.turn === 1
      ? lines(response, { do: "input_required", parts: [{ text: text === "plain" ? "How many?" : "Please fill this in." }, ...(text in SCHEMAS ? [{ data: SCHEMAS[text] }] : [])] })
      : lines(response, { do: "artifact", text: "Thank you." }, { do: "complete" }),
  );
  const { agents, ...rest } = JSON.parse(withHttpAgents({ forms: { url: server.url } })) as { agents: { slug: string; card: string }[] };
  const own = agents.find(({ slug }) => slug === "forms");
  if (own !== undefined) own.card = JSON.stringify({ ...(JSON.parse(own.card) as object), defaultInputModes: ["text/plain", "application/json", "image/png"] });
  app = await startConsole({ vars: { AGENTS: JSON.stringify({ ...rest, agents }) } });
  forms = new Agent(`${app.worker.url}/forms`);
});
after(async () => {
  await app?.stop();
  server?.close();
});

/** The parts that the agent has got as the answer in a task. */
const answered = (id: string): Part[] | undefined => server.of(id).find(({ turn }) => turn.turn === 2)?.turn.message.parts;

/** Visits the page of a task that asks by the schema of this name. */
async function asked(name: string, work: (view: View, task: Task) => Promise<void>): Promise<void> {
  const task = await forms.sendForTask(name);
  assert.equal(task.status.state, "TASK_STATE_INPUT_REQUIRED");
  await app.visit(`#/tasks/forms/${task.id}`, (view) => work(view, task));
}

/** The problem beside the field that has the focus. */
const problemBeside = (view: View): Promise<string> =>
  view.page.evaluate(() => {
    const input = document.activeElement;
    const ids = (input?.getAttribute("aria-describedby") ?? "").split(" ");
    return ids.map((id) => document.getElementById(id)).find((element) => element?.matches(".field-problem"))?.innerText ?? "";
  });

test("a form on the page of a task is filled in by keyboard alone, and what is wrong stands beside its field", () =>
  asked("booking", async (view, task) => {
    await view.sees("Please fill this in.");
    await view.sees("From 1 to 14.");
    await view.inspect("form-booking");
    await (await view.find("textbox", "Name of the guest")).focus();
    await view.page.keyboard.type("X");
    await view.press("Enter");
    // The first wrong field has the focus, and each tells what is wrong with it.
    await view.focuses('textbox "Name of the guest"');
    assert.equal(await problemBeside(view), "At least 2 characters; this has 1.");
    await view.sees("6 fields are not right yet.");
    await view.inspect("form-wrong");
    assert.equal(answered(task.id), undefined);
    await view.page.keyboard.type("imena");
    await view.press("Tab");
    await view.page.keyboard.type("40");
    await view.press("Tab");
    await view.page.keyboard.type("Double");
    await view.press("Tab");
    await view.page.keyboard.type("No");
    await view.press("Tab");
    await view.focuses(/^Date "arrival"|arrival/);
    await view.page.keyboard.type("02282028");
    await view.until(async () => (await view.focused()).includes("arrival"));
    await view.press("Enter");
    await view.focuses('spinbutton "nights"');
    await view.until(async () => (await problemBeside(view)) === "At most 14.", () => problemBeside(view));
    await view.press("Backspace", "Backspace");
    await view.page.keyboard.type("3");
    await (await view.find("textbox", "Mail optional")).focus();
    await view.page.keyboard.type("nobody");
    await view.press("Tab", "Tab");
    await view.focuses('textbox "Other guests optional"');
    await view.page.keyboard.type("Ola\nX");
    await view.press("Tab", "Tab", "Space");
    await view.press("Tab");
    await view.focuses('textbox "street"');
    await view.page.keyboard.type("Rua 1");
    await view.press("Tab");
    await view.page.keyboard.type("1100");
    await view.press("Enter");
    await view.focuses('textbox "Mail optional"');
    assert.equal(await problemBeside(view), "This is not an email address.");
    await view.page.keyboard.type("@example.com");
    await view.press("Enter");
    await view.focuses('textbox "Other guests optional"');
    assert.equal(await problemBeside(view), "Line 2: At least 2 characters; this has 1.");
    await view.page.keyboard.down("Control");
    await view.press("End");
    await view.page.keyboard.up("Control");
    await view.page.keyboard.type("i");
    await view.press("Tab", "Tab", "Tab", "Tab", "Tab");
    await view.focuses('button "Attach"');
    await view.press("Tab", "Enter");
    await view.sees("Thank you.");
    await view.gone("region", "Waiting for an answer");
    const value = { name: "Ximena", nights: 3, room: "double", breakfast: false, arrival: "2028-02-28", mail: "nobody@example.com", code: "AB123", guests: ["Ola", "Xi"], extras: ["sauna"], address: { street: "Rua 1", zip: 1100 } };
    assert.deepEqual(answered(task.id), [{ data: value }]);
  }));

test("the same form is in the chat", () =>
  app.visit("#/chat/forms", async (view) => {
    await say(view, "endless");
    // The browser's own engine would not come back from this.
    await view.fill("word", "a".repeat(60));
    await view.press("Enter");
    await view.sees("This has not the form that the agent asks for.");
    await view.inspect("form-chat");
    await view.fill("word", "abAbc");
    await view.press("Enter");
    await completed(view, 1);
  }));

test("files go with the answer, and into fields for files", async () => {
  const folder = mkdtempSync(join(tmpdir(), "a2a-edge-forms-"));
  const upload = async (view: View, selector: string): Promise<void> => ((await view.page.$(selector)) as ElementHandle<HTMLInputElement>).uploadFile(join(folder, "scan.png"));
  try {
    writeFileSync(join(folder, "scan.png"), "pixels");
    const raw = Buffer.from("pixels").toString("base64");
    await asked("scan", async (view, task) => {
      await view.click("button", "Answer");
      await view.sees("This is needed.");
      await upload(view, "input[type=file][name]");
      await upload(view, "input[type=file]:not([name])");
      await view.sees("scan.png");
      await view.click("button", "Answer");
      await view.sees("Thank you.");
      assert.deepEqual(answered(task.id), [{ data: { scan: raw } }, { raw, filename: "scan.png", mediaType: "image/png" }]);
    });
    await asked("plain", async (view, task) => {
      await view.click("button", "Answer");
      await view.focuses(/^textbox "Answer to the task/);
      await view.page.keyboard.type("Three");
      await view.inspect("form-text");
      await view.click("button", "Answer");
      await view.sees("Thank you.");
      assert.deepEqual(answered(task.id), [{ text: "Three" }]);
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

test("a schema that is too large is answered with JSON, and one without end, or of odd types, where it is that", async () => {
  await asked("huge", async (view, task) => {
    await view.sees("too large, or too unusual, for a form");
    await view.fill("Answer in JSON", '{"member7": ');
    await view.click("button", "Answer");
    await view.sees("This is not JSON");
    await view.inspect("form-json");
    await view.fill("Answer in JSON", '{"member7": "x"}');
    await view.click("button", "Answer");
    await view.sees("Thank you.");
    assert.deepEqual(answered(task.id), [{ data: { member7: "x" } }]);
  });
  await asked("round", async (view, task) => {
    await view.fill("self optional", '{"self": {}}');
    await view.fill("odd optional", "7");
    await view.click("button", "Answer");
    await view.sees("Thank you.");
    assert.deepEqual(answered(task.id), [{ data: { self: { self: {} }, odd: 7 } }]);
  });
  await asked("deep", async (view) => {
    await view.fill("inner optional", "{}");
    await view.click("button", "Answer");
    await view.sees("Thank you.");
  });
});

test("a hostile schema is text and nothing else", () =>
  asked("hostile", async (view) => {
    await view.find("button", "Answer");
    await assertHarmless(view);
    await view.inspect("form-hostile");
  }));

test("an answer that the agent has got from elsewhere meanwhile is told, and the page goes on", () =>
  asked("plain", async (view, task) => {
    await view.fill(/^Answer to the task/, "Four");
    await forms.call("CancelTask", { id: task.id });
    await view.gone("region", "Waiting for an answer");
    await view.sees("Canceled");
    assert.equal(answered(task.id), undefined);
  }));
