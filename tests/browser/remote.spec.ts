// Agents elsewhere in the console: opened by URL, their card, advice, a chat with a stream, headers, and what goes wrong.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { caller, secretsOf } from "../e2e/access.ts";
import { startWorker, type Worker } from "../e2e/harness.ts";
import { only } from "../e2e/mcp.ts";
import { freePort } from "../../scripts/lib/port.mjs";
import { startServerOf03, type SampleServer } from "../e2e/servers/js.ts";
import { startConsole, type Console } from "./console.ts";
import { HOSTILE, assertHarmless, hostileAgents } from "./hostile.ts";

const { ALICE } = secretsOf("ALICE");

let app: Console;
let there: Worker;
let old: SampleServer;
before(async () => {
  const { agents, ...built } = JSON.parse(hostileAgents()) as { agents: { slug: string }[] };
  const token = { kind: "bearer", callers: [caller("alice", ["ALICE"])] };
  const { agents: [guarded] } = JSON.parse(only({ guarded: { of: "demo", access: { schemes: { token } } } })) as { agents: [object] };
  const few = agents.filter(({ slug }) => ["demo", HOSTILE].includes(slug));
  there = await startWorker({ vars: { AGENTS: JSON.stringify({ ...built, agents: [...few, guarded] }), ALICE } });
  [app, old] = await Promise.all([startConsole({ vars: { AGENTS: JSON.stringify({ ...built, agents: few }) } }), startServerOf03()]);
});
after(() => Promise.all([app?.stop(), there?.stop(), old?.stop()]));

const address = (url: string, page = "remote"): string => `#/${page}/${encodeURIComponent(url)}`;

test("an agent elsewhere is opened by its URL, with its card as it is served and in 1.0", () =>
  app.visit("#/agents", async (view) => {
    await view.fill("Open an agent elsewhere", old.url);
    await view.click("button", "Open");
    await view.sees(/Sample/);
    await view.sees(/by A2A 0\.3 over JSONRPC, with streams/);
    await view.inspect("remote-card");
    await view.click("link", "As served");
    await view.sees(/protocolVersion/);
    await view.click("link", /^Check/);
    await view.sees("The card is of a version before 1.0");
  }));

test("the check of an agent elsewhere names no settings of this Worker", () =>
  app.visit(`${address(`${there.url}/demo`)}/check`, async (view) => {
    await view.sees("Sign the card (spec §8.4).");
    assert.doesNotMatch(await view.text(), /SIGNING_JWK|PUBLIC_URL|dialects\.v0_3/);
  }));

test("one talks to it, and its events come as they do from an agent here", () =>
  app.visit(address(old.url, "chat"), async (view) => {
    await view.fill("Message", "chunks");
    await view.press("Enter");
    await view.sees(/one two three/);
    await view.sees(/Completed/i);
    await view.reaches(/#\/chat\/http%3A%2F%2F127\.0\.0\.1%3A\d+\/[\w-]+$/);
    await view.inspect("remote-chat");
  }));

test("headers that are given open what asks for credentials, and are gone with the page", () =>
  app.visit(address(`${there.url}/guarded`, "chat"), async (view) => {
    await view.fill("Message", "hello");
    await view.press("Enter");
    await view.sees(/redentials are needed/);
    // The schemes of its card are offered where the refusal is told.
    await view.click("button", "Sign in", { within: await view.find("alert") });
    await view.find("dialog", /^Sign in to /);
    await view.sees("Sent to the host of the agent alone");
    await view.press("Escape");
    await view.gone("dialog");
    await view.go(address(`${there.url}/guarded`));
    await view.find("heading", "Skills");
    await view.unfold(/^Headers for this agent/);
    await view.fill(/One a line/, `Authorization: Bearer ${ALICE}`);
    await view.click("button", "Use these headers");
    await view.sees(/Headers for this agent \(1\)/);
    await view.go(address(`${there.url}/guarded`, "chat"));
    await view.fill("Message", "hello again");
    await view.press("Enter");
    await view.sees(/Completed/i);
    assert.equal(await view.page.evaluate(() => JSON.stringify({ ...sessionStorage, ...localStorage })).then((kept) => kept.includes("Bearer")), false);
  }));

test("a hostile card elsewhere is text", () =>
  app.visit(address(`${there.url}/${HOSTILE}`), async (view) => {
    await view.find("heading", "Skills");
    await assertHarmless(view);
  }));

test("what goes wrong is told plainly", async () =>
  app.visit(address(`http://127.0.0.1:${await freePort()}`), async (view) => {
    await view.sees(/did not answer/);
    await view.go(address(`${there.url}/nobody/card.json`));
    await view.sees(/Nothing is served at \/nobody\/card\.json/);
    await view.inspect("remote-absent");
  }));

test("a deployment's console calls from the browser, and says where an agent lets no other page read its answers", async () => {
  const token = { kind: "bearer", callers: [caller("alice", ["ALICE"])] };
  const agents = only({ guarded: { of: "demo", access: { schemes: { token } } } });
  const deployed = await startConsole({ vars: { DEVELOPMENT: "false", AGENTS: agents, ALICE } });
  try {
    await deployed.visit(address(`${there.url}/demo`, "chat"), async (view) => {
      view.expect(/asked another origin/);
      await view.fill("Message", "hello");
      await view.press("Enter");
      await view.sees(/Completed/i);
    });
    await deployed.visit(address(old.url), async (view) => {
      view.expect(/asked another origin/);
      view.expect(/console error:/);
      await view.sees(/does not let pages of other origins read its answers \(CORS\)\./);
      await view.sees(/npm start/);
      await view.inspect("remote-refused");
    });
  } finally {
    await deployed.stop();
  }
});
