// Signing in: by each kind of scheme, when an agent asks for it in the middle of something, and what is kept of it.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { KEYS, TOKEN, VARS } from "../e2e/club.ts";
import { startConsole, type Console } from "./console.ts";
import { REFUSED, WRONG, guardedAgents, hides, secrets, typed } from "./guarded.ts";

let app: Console;
before(async () => {
  app = await startConsole({ vars: { ...VARS, ...secrets, AGENTS: guardedAgents() } });
});
after(() => app?.stop());

test("an agent that asks in the middle of something gets a key, and goes on; a wrong one is told at its field", () =>
  app.visit("#/agents/club/extended", async (view) => {
    view.expect(REFUSED);
    const dialog = await view.find("dialog", "Sign in to Club");
    await view.sees("Credentials are needed");
    await view.focuses(/^textbox "API key/);
    await view.inspect("sign-in");
    await typed(view, WRONG);
    await view.press("Enter");
    await view.sees("The credentials are refused");
    const field = await view.find("textbox", /^API key/, { within: dialog });
    assert.equal(await field.evaluate((input) => input.getAttribute("aria-invalid")), "true");
    await view.focuses(/^textbox "API key/);
    await view.inspect("sign-in-refused");
    await typed(view, KEYS.member);
    await view.press("Enter");
    await view.gone("dialog");
    await view.sees("1 skill more than in the public card");
    await view.find("button", "Signed in");
    await hides(view, KEYS.member);
    await view.inspect("agents-extended");

    const other = await view.beside("#/agents/club");
    await other.find("button", "Sign in");
    await view.page.reload();
    await view.sees("1 skill more than in the public card");
  }));

test("a bearer token is taken, also when it was copied with the name of its scheme, and is forgotten by signing out", () =>
  app.visit("#/agents/club", async (view) => {
    await view.click("button", "Sign in");
    await view.choose("Scheme", "Bearer token (token)");
    await view.fill(/^Bearer token/, `Bearer ${TOKEN}`);
    await view.press("Enter");
    await view.gone("dialog");
    await view.click("link", "Extended card");
    await view.sees("1 skill more");
    await view.click("button", "Signed in");
    await view.sees("header Authorization, as Bearer, for Club alone");
    await view.inspect("signed-in");
    await hides(view, TOKEN);
    view.expect(REFUSED);
    await Promise.all([view.page.waitForNavigation(), view.click("button", "Sign out: Bearer token, header Authorization, as Bearer")]);
    // Who has signed out is not asked to sign in until they do something.
    await view.sees("Credentials are needed");
    assert.deepEqual(await view.all("dialog"), []);
    await view.click("button", "Try again");
    await view.find("dialog", "Sign in to Club");
    await view.press("Escape");
    await view.find("button", "Sign in");
  }));

test("a secret that expires in the middle is asked for again, with the reason", () =>
  app.visit("#/agents/club", async (view) => {
    view.expect(REFUSED);
    await view.page.evaluate((secret) => {
      sessionStorage.setItem("a2a-edge.credentials", JSON.stringify([{ audience: "club", slot: { in: "header", name: "X-Club-Key" }, scheme: "API key", secret }]));
    }, WRONG);
    await view.page.reload();
    await view.click("link", "Extended card");
    await view.find("dialog", "Sign in to Club");
    await view.sees("The credentials are refused");
    await typed(view, KEYS.insider);
    await view.press("Enter");
    await view.sees("2 skills more");
  }));

test("name and password, a key in the query, and two schemes together", async () => {
  await app.visit("#/agents/people", async (view) => {
    view.expect(REFUSED);
    await view.click("button", "Sign in");
    await view.fill("Name", "alice");
    await view.fill("Password", WRONG);
    await view.press("Enter");
    await view.sees("The credentials are refused");
    await typed(view, secrets.ALICE_PASSWORD);
    await view.press("Enter");
    await view.gone("dialog");
    await view.find("button", "Signed in");
    await hides(view, secrets.ALICE_PASSWORD);
  });
  await app.visit("#/agents/query", async (view) => {
    await view.click("button", "Sign in");
    await view.sees("in the query parameter key");
    await typed(view, secrets.PAGE_KEY);
    await view.press("Enter");
    await view.gone("dialog");
    await view.find("button", "Signed in");
  });
  await app.visit("#/agents/both", async (view) => {
    // The list of agents, which tells the health of this one, also tells whom a secret can be for.
    await view.sees("Ready");
    await view.click("button", "Sign in");
    await view.fill(/^API key/, secrets.PAGE_KEY);
    await view.fill("Name", "alice");
    await view.fill("Password", secrets.ALICE_PASSWORD);
    await view.press("Enter");
    await view.gone("dialog");
    await view.click("button", "Signed in");
    // Other agents take the same header, so they are offered it, too.
    await view.sees("header X-Page-Key, for all agents of this server");
    await view.sees("header Authorization, as Basic, for all agents of this server");
  });
});

test("a secret can be for all agents of the server, but none other gets it unless that is chosen", () =>
  app.visit("#/agents/keyed", async (view) => {
    await view.click("button", "Sign in");
    await view.find("radio", "All agents of this server");
    await typed(view, secrets.PAGE_KEY);
    await view.click("radio", "All agents of this server");
    await view.click("button", "Sign in", { within: await view.find("dialog") });
    await view.gone("dialog");
    // What waits is then counted at all agents, of which some refuse the secret.
    view.expect(REFUSED);
    await view.until(() => view.record.missing().length === 0, "no agent is asked with the secret");
    await view.click("button", "Signed in");
    await view.sees("header X-Page-Key, for all agents of this server");
    await Promise.all([view.page.waitForNavigation(), view.click("button", "Sign out of all")]);
    await view.find("button", "Sign in");
    assert.equal(await view.page.evaluate(() => sessionStorage.getItem("a2a-edge.credentials")), null);
  }));

test("a cookie is not typed: the page says which one, and goes on when it is there", () =>
  app.visit("#/agents/cookie", async (view) => {
    view.expect(REFUSED);
    await view.click("button", "Sign in");
    await view.sees("the cookie session, which the browser sends by itself");
    await view.inspect("sign-in-cookie");
    await view.click("button", "Try again");
    await view.sees(/redentials are needed/);
    await view.page.setCookie({ name: "session", value: secrets.PAGE_KEY, url: app.worker.url, httpOnly: true });
    await view.click("button", "Try again");
    await view.gone("dialog");
    await view.notices("The agent knows you.");
    await hides(view, secrets.PAGE_KEY);
  }));

test("Cloudflare Access and client certificates are explained, with what to do", () =>
  app.visit("#/agents/edge", async (view) => {
    await view.click("button", "Sign in");
    const link = await view.find("link", "Sign in with Cloudflare Access");
    assert.equal(await link.evaluate((a) => (a as HTMLAnchorElement).pathname), "/edge");
    await view.choose("Scheme", "Client certificate (tls)");
    await view.sees("which the browser offers when the connection is made");
    await view.inspect("sign-in-certificate");
  }));

test("without an agent in view, one is chosen among those that ask for credentials", () =>
  app.visit("#/agents", async (view) => {
    await view.find("link", "Club");
    await view.click("button", "Sign in");
    await view.choose("Agent", "ops");
    await view.fill(/in the header X-Ops-Key$/, secrets.OPS_KEY);
    await view.press("Enter");
    await view.gone("dialog");
    await view.find("button", "Signed in");
  }));

test("the switch for operators says what it does, who can, and stays for the tab", () =>
  app.visit("#/agents", async (view) => {
    await view.find("link", "Club");
    await view.click("button", "What an operator is");
    await view.sees("you see the tasks of all callers");
    await view.sees(/Agents that know operators: .*\bops\b/);
    await view.inspect("operator");
    await view.click("button", "Act as an operator");
    await view.gone("dialog");
    const isOn = async (): Promise<boolean> => (await view.find("switch", "Operator")).evaluate((input) => (input as HTMLInputElement).checked);
    await view.until(isOn, "the switch is off");
    await view.page.reload();
    await view.until(isOn, "the switch is off after a reload");
    await view.inspect("operator-on");
  }));

test("the dialog is used by keyboard: the focus stays in it, Escape closes it, and it is where it was before", () =>
  app.visit("#/agents/club", async (view) => {
    await view.find("heading", "Club");
    await (await view.find("button", "Sign in")).focus();
    await view.focuses('button "Sign in"');
    await view.press("Enter");
    await view.find("dialog", "Sign in to Club");
    await view.focuses(/^textbox "API key/);
    for (let step = 0; step < 12; step += 1) {
      await view.press("Tab");
      const isInside = await view.page.evaluate(() => document.activeElement === document.body || document.activeElement?.closest("dialog") !== null);
      assert.ok(isInside, await view.focused());
    }
    await view.press("Escape");
    await view.gone("dialog");
    await view.focuses('button "Sign in"');
  }));
