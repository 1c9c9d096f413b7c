// What the console advises about cards: where they were found, what their agents answer, and cards that are none.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { lint, type Found } from "../../console/src/lint/index.ts";
import { probe, type Outcome } from "../../console/src/lint/probe.ts";
import { AT, RPC, findings, good, told, type Json } from "./cards.ts";

describe("where a card was found", () => {
  const places: [string, string, Partial<Found>, string[]][] = [
    ["at the older name", "https://agents.example/.well-known/agent.json", {}, ["warning "]],
    ["anywhere", "https://agents.example/card", {}, ["advice "]],
    ["by http", "http://agents.example/.well-known/agent-card.json", {}, ["warning "]],
    ["at another host of this Worker", "https://worker.dev/.well-known/agent-card.json", { isLocal: true }, ["warning supportedInterfaces[0].url", "warning supportedInterfaces[1].url"]],
  ];
  for (const [title, foundAt, more, expected] of places) {
    test(title, () => assert.deepEqual(told(findings(good(), { foundAt, ...more })), expected));
  }

  test("behind a proxy, the advice names the setting of this Worker", () => {
    const card = good();
    for (const one of card["supportedInterfaces"]) one.url = "http://agents.example/invoices";
    assert.match(findings(card, { isLocal: true })[0]?.fix ?? "", /PUBLIC_URL/);
  });

  test("on this machine, two names of it are the same host", () => {
    const card = good();
    for (const one of card["supportedInterfaces"]) one.url = "http://localhost:8787/invoices";
    assert.deepEqual(findings(card, { foundAt: "http://127.0.0.1:8787/invoices/.well-known/agent-card.json" }), []);
  });

  test("a Worker in development is meant to be open, and unsigned cards are common there", () => {
    const { securitySchemes: _, securityRequirements: __, signatures: ___, ...card } = good();
    assert.deepEqual(told(findings(card, { isDevelopment: true, isLocal: true })), ["advice signatures"]);
  });
});

test("a card of 0.3 is told as one, by what was read of it", () => {
  const { supportedInterfaces: _, ...rest } = good();
  const text = JSON.stringify({ ...rest, url: RPC, protocolVersion: "0.3.0" });
  const card = { ...good(), supportedInterfaces: [good()["supportedInterfaces"][1]] } as unknown as Found["card"];
  assert.deepEqual(told(lint({ card, text, foundAt: AT, isLocal: false })), ["warning supportedInterfaces"]);
});

test("what is no card is told as none", () => {
  for (const text of ["", "null", "[]", "<html>"]) {
    const found = lint({ card: {} as Found["card"], text, foundAt: AT, isLocal: false });
    assert.ok(found.some(({ about, severity }) => about === "" && severity === "error"), text);
  }
});

test("a card of any shape is read without failing", () => {
  const values = [null, 7, "text", [], {}, [null], [7], [[]], { a: null }];
  for (const member of Object.keys(good())) {
    for (const value of values) assert.ok(Array.isArray(findings({ ...good(), [member]: value })), member);
  }
});

test("errors come before warnings, and those before advice", () => {
  const card = { ...good(), name: "", signatures: [], securitySchemes: undefined, securityRequirements: undefined };
  assert.deepEqual(told(findings(card)), ["error name", "warning signatures", "advice securitySchemes"]);
});

test("a signature that fits no key is an error", () => {
  assert.deepEqual(told(findings(good(), { isGenuine: false })), ["error signatures"]);
  assert.deepEqual(told(findings(good(), { isGenuine: true })), []);
});

describe("a probe shows", () => {
  const NOT_FOUND: Outcome = { isOk: false, status: 404, reason: "TASK_NOT_FOUND", message: "task not found" };
  const REFUSED: Outcome = { isOk: false, status: 400, reason: "UNSUPPORTED_OPERATION", message: "unsupported" };
  const all = { GetTask: NOT_FOUND, SubscribeToTask: NOT_FOUND, ListTaskPushNotificationConfigs: REFUSED, GetExtendedAgentCard: REFUSED };
  const cases: [string, Json, Found["probe"], string[]][] = [
    ["nothing where all is as declared", {}, all, []],
    ["an agent that cannot be reached", {}, { ...all, GetTask: { isOk: false, status: 0, message: "no route" } }, ["error supportedInterfaces[0].url"]],
    ["an agent that is not set up", {}, { ...all, GetTask: { isOk: false, status: 200, code: -32603, message: "not set up" } }, ["error "]],
    ["streams that are refused", {}, { ...all, SubscribeToTask: REFUSED }, ["error capabilities.streaming"]],
    ["streams that are not declared", { streaming: false }, all, ["advice capabilities.streaming"]],
    ["webhooks that are refused", { pushNotifications: true }, { ...all, ListTaskPushNotificationConfigs: { ...REFUSED, reason: "PUSH_NOTIFICATION_NOT_SUPPORTED" } }, ["error capabilities.pushNotifications"]],
    ["webhooks that are not declared", {}, { ...all, ListTaskPushNotificationConfigs: NOT_FOUND }, ["advice capabilities.pushNotifications"]],
    ["an extended card that is refused", { extendedAgentCard: true }, all, ["error capabilities.extendedAgentCard"]],
  ];
  for (const [title, capabilities, seen, expected] of cases) {
    test(title, () => {
      const card = good();
      Object.assign(card["capabilities"], capabilities);
      assert.deepEqual(told(findings(card, { probe: seen })), expected);
    });
  }

  test("nothing of what needs credentials, where there are none", () => {
    const denied: Outcome = { isOk: false, status: 401, reason: "UNAUTHENTICATED", message: "credentials are needed" };
    const seen = { GetTask: denied, SubscribeToTask: denied, ListTaskPushNotificationConfigs: denied, GetExtendedAgentCard: denied };
    assert.deepEqual(findings(good(), { probe: seen }), []);
    const { securitySchemes: _, securityRequirements: __, ...open } = good();
    assert.deepEqual(told(findings(open, { probe: seen })), ["error securitySchemes", "advice securitySchemes"]);
  });

  test("what each method comes to, by calls that change nothing and ask nobody to sign in", async () => {
    const called: [string, object, unknown][] = [];
    const refuse = async (method: string, params: object, options: { isQuiet?: boolean } = {}) => {
      called.push([method, params, options.isQuiet]);
      throw Object.assign(new Error("task not found"), { status: 404, reason: "TASK_NOT_FOUND" });
    };
    const seen = await probe({ call: refuse as never, stream: async function* (...given) { await refuse(...given); } });
    assert.deepEqual(seen.SubscribeToTask, { isOk: false, status: 404, code: undefined, reason: "TASK_NOT_FOUND", message: "task not found" });
    const id = "0".repeat(64);
    assert.deepEqual(called, [
      ["GetTask", { id }, true], ["SubscribeToTask", { id }, true], ["ListTaskPushNotificationConfigs", { taskId: id }, true], ["GetExtendedAgentCard", {}, true],
    ]);
  });
});
