// Tools and executors in TypeScript: what they say, their steps, waits and questions, as clients see them.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { followUp, textOf, toolCall, until, untilEnded, type Agent, type Part } from "./client.ts";
import { agentAt, startFunctions, startShop } from "./functions.ts";
import type { Worker } from "./harness.ts";
import { sendStreaming } from "./stream.ts";

let worker: Worker;
let shop: Awaited<ReturnType<typeof startShop>>;
const agent = (slug: string): Agent => agentAt(worker, slug);
before(async () => {
  shop = await startShop();
  worker = await startFunctions({ vars: { LOCK_KEY: "the-key-of-the-lock" } });
});
after(async () => {
  await worker.stop();
  shop.stop();
});

const partsOf = (task: { artifacts?: { parts: Part[] }[] }): Part[] => (task.artifacts ?? []).flatMap(({ parts }) => parts);

describe("executors in TypeScript", () => {
  test("stream what a generator yields, as one artifact (§3.1.2)", async () => {
    const events = await sendStreaming(`${worker.url}/poet`, "roses are red violets are blue");
    const texts: string[] = [];
    let state: string | undefined;
    for await (const { data } of events) {
      for (const { text } of data.result?.artifactUpdate?.artifact.parts ?? []) texts.push(text ?? "");
      state = data.result?.statusUpdate?.status.state ?? state;
    }
    assert.equal(texts.join(""), "roses are red violets are blue ");
    assert.ok(texts.filter((text) => text !== "").length > 1, "it arrives in pieces");
    assert.equal(state, "TASK_STATE_COMPLETED");
  });

  test("ask, and take the answer as the next turn (§3.4.3)", async () => {
    const asked = await agent("tables").sendForTask("a table");
    assert.equal(asked.status.state, "TASK_STATE_INPUT_REQUIRED");
    assert.equal(textOf(asked.status.message), "For how many?");
    const task = await agent("tables").sendForTask(followUp(asked, "4"));
    assert.equal(task.status.state, "TASK_STATE_COMPLETED");
    assert.deepEqual(partsOf(task), [{ text: "a table for 4" }]);
  });

  test("wait outside of memory for what another system posts, also after a crash", async () => {
    const { id } = await agent("orders").sendForTask(shop.url, { returnImmediately: true });
    await until(() => agent("orders").getTask(id), ({ status }) => textOf(status.message) === "ordered; waiting for the payment");
    const orders = shop.heard.filter(({ body }) => body.includes("notify"));
    assert.equal(orders.length, 1);
    const { notify } = JSON.parse(orders[0]?.body ?? "") as { notify: string };
    await worker.kill9();
    await worker.restart();
    const posted = await fetch(notify.replace(/^https?:\/\/[^/]+/, worker.url), { method: "POST", headers: { "content-type": "text/plain" }, body: "49 EUR" });
    assert.equal(posted.status, 202);
    const task = await untilEnded(agent("orders"), id);
    assert.equal(task.status.state, "TASK_STATE_COMPLETED");
    assert.deepEqual(partsOf(task).map(({ text }) => text), ["49 EUR"]);
    assert.equal(shop.heard.filter(({ body }) => body.includes("notify")).length, 1, "the order is a step");
    const said = (task.history ?? []).filter(({ role }) => role === "ROLE_AGENT").map((message) => textOf(message));
    assert.equal(said.filter((text) => text.startsWith("ordered")).length, 1, "the note before the wait is there once");
  });

  test("tell their usage: programs of verbs, and others also outside of steps and with a message", async () => {
    const told = (metadata?: Record<string, unknown>): unknown => metadata?.["urn:a2a-edge:usage"];
    const usage = { requests: 2, inputTokens: 20, outputTokens: 3, cost: 0.000045 };
    const ends: unknown[] = [];
    for await (const { data } of await sendStreaming(`${worker.url}/verbs`, "hello")) {
      const update = data.result?.statusUpdate as { metadata?: Record<string, unknown> } | undefined;
      if (update?.metadata !== undefined) ends.push(told(update.metadata));
    }
    assert.deepEqual(ends, [usage], "in the event that ends the turn");
    assert.deepEqual(told((await agent("verbs").sendForTask("hello")).metadata), usage);
    assert.match(textOf((await agent("verbs").sendForTask("wrong")).status.message), /verb 1: `inputTokens` of `usage` must be a whole number from 0 to/);
    const { status, metadata } = await agent("meter").sendForTask("hello");
    assert.deepEqual([status.state, textOf(status.message), told(metadata)], ["TASK_STATE_COMPLETED", "read", { requests: 1, inputTokens: 20, outputTokens: 3 }]);
  });

  test("stand beside pages of the project's own", async () => {
    const answer = await fetch(`${worker.url}/own`);
    assert.equal(await answer.text(), "the project's own page");
    assert.equal((await fetch(`${worker.url}/poet/.well-known/agent-card.json`)).status, 200);
  });
});

describe("tools in TypeScript", () => {
  test("get arguments that fit their schema, and are called from a data part", async () => {
    const task = await agent("toolbox").sendForTask(toolCall("add", { a: 2 }));
    assert.deepEqual(partsOf(task), [{ data: { sum: 3 } }]);
    const wrong = await agent("toolbox").sendForTask(toolCall("add", { a: "two" }));
    assert.match(JSON.stringify(wrong), /a: must be of type number, got string/);
    const asked = await agent("toolbox").sendForTask(toolCall("add", {}));
    assert.equal(asked.status.state, "TASK_STATE_INPUT_REQUIRED");
  });

  test("are skills of the card, and tools of MCP", async () => {
    const card = (await (await fetch(`${worker.url}/toolbox/.well-known/agent-card.json`)).json()) as { skills: { id: string; description: string }[] };
    const { description } = card.skills.find(({ id }) => id === "add") ?? {};
    assert.equal(description, "Adds two numbers.");
  });

  test("get the secrets that they name, whose texts callers do not see, and no bindings of the engine", async () => {
    const task = await agent("toolbox").sendForTask(toolCall("locked"));
    const [part] = partsOf(task);
    assert.deepEqual(part?.data, { opened: "[LOCK_KEY]", by: "anonymous", env: ["LOCK_KEY"] });
  });

  test("fail with what the author has written for callers, and with nothing else", async () => {
    const full = await agent("toolbox").sendForTask(toolCall("broken", { how: "failure" }));
    assert.match(JSON.stringify(full), /the hall is full.*upstream|upstream.*the hall is full/);
  });
});
