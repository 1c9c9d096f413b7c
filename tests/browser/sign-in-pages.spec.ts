// Signing in from pages that ask agents for something: a chat that streams, and the lists of operators.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { received } from "../e2e/client.ts";
import { KEYS, VARS } from "../e2e/club.ts";
import { startConsole, type Console } from "./console.ts";
import { REFUSED, WRONG, guardedAgents, hides, secrets, typed } from "./guarded.ts";

let app: Console;
before(async () => {
  app = await startConsole({ vars: { ...VARS, ...secrets, AGENTS: guardedAgents() } });
});
after(() => app?.stop());

test("a stream that is refused in a chat asks for the key, and the message is sent once", () =>
  app.visit("#/chat/club", async (view) => {
    view.expect(REFUSED);
    await view.page.evaluate((secret) => {
      sessionStorage.setItem("a2a-edge.credentials", JSON.stringify([{ audience: "*", slot: { in: "header", name: "X-Club-Key" }, scheme: "API key", secret }]));
    }, WRONG);
    await view.page.reload();
    await view.fill("Message", "hello");
    await view.press("Enter");
    await view.find("dialog", "Sign in to Club");
    await typed(view, KEYS.member);
    await view.press("Enter");
    await view.gone("dialog");
    await view.sees(/Completed|Failed|Rejected/);
    const sent = (await received(app.worker.url)).filter(({ message }) => message !== null);
    assert.ok(sent.every(({ agent, text }) => agent === "club" && text === "hello"));
    assert.deepEqual(await app.worker.given(), [sent[0]?.messageId], "the agent was given the message once");
    await hides(view, KEYS.member);
  }));

test("an operator's requests for tasks say so, and nobody else's do", () =>
  app.visit("#/tasks?agent=ops", async (view) => {
    const said: string[] = [];
    view.page.on("request", (request) => {
      const { pathname } = new URL(request.url());
      if (pathname.startsWith("/ops")) said.push(request.headers()["act-as"] ?? "");
    });
    view.expect(REFUSED);
    await view.find("dialog", "Sign in to ops");
    await typed(view, secrets.OPS_KEY);
    await view.press("Enter");
    await view.gone("dialog");
    await view.sees("There are no tasks yet.");
    assert.ok(said.length > 0, "the agent was asked");
    assert.equal(said.join(""), "");
    await view.click("switch", "Operator");
    await view.until(() => said.some((value) => value === "operator"), "no request says it");
  }));
