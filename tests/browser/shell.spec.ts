// The frame around the pages: where it is served and with which headers, how one moves in it, and that these specs notice what they look for.

import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { packageDir } from "../../scripts/lib/paths.mjs";
import { startWorker } from "../e2e/harness.ts";
import { startConsole, type Console } from "./console.ts";

/** What each page shows when nothing was done yet, as soon as it has asked for everything. */
const IDLE = {
  Agents: "Gives back any text", Chat: "Gives back any text", Tasks: "There are no tasks yet.", Webhooks: "All is well", Overview: "No task has ended in this period.",
};
const PAGES = Object.keys(IDLE);
const HASHED = readdirSync(join(packageDir, "build-console", "assets", "console", "assets"));
const BROWSER = { headers: { accept: "text/html,*/*;q=0.8" } };

let app: Console;
before(async () => {
  app = await startConsole();
});
after(() => app?.stop());

const get = (path: string, options: RequestInit = {}): Promise<Response> => fetch(app.worker.url + path, { redirect: "manual", ...options });

test("the console has one address, to which the others lead", async () => {
  for (const path of ["/console", "/console/index.html"]) {
    const { status, headers } = await get(path);
    assert.deepEqual([status, headers.get("location")], [307, "/console/"], path);
  }
  const page = await get("/console/");
  assert.equal(page.status, 200);
  assert.match(await page.text(), /<title>a2a-edge console<\/title>/);
  assert.equal((await get("/console/", { method: "HEAD" })).status, 200);
});

test("every file of the console says what it may do, and that no other page may have it", async () => {
  for (const path of ["/console/", ...HASHED.map((name) => `/console/assets/${name}`)]) {
    const { status, headers } = await get(path);
    assert.equal(status, 200, path);
    const policy = headers.get("content-security-policy") ?? "";
    assert.match(policy, /^default-src 'none'; script-src 'self'; style-src 'self';/, path);
    for (const rule of ["base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'", "connect-src 'self' https: http://localhost:* http://127.0.0.1:*", "require-trusted-types-for 'script'"]) {
      assert.ok(policy.split("; ").includes(rule), `${path}: ${rule}`);
    }
    assert.doesNotMatch(policy.replace(/connect-src [^;]*/, ""), /unsafe|https?:|\*/, path);
    for (const [name, value] of [
      ["x-content-type-options", "nosniff"], ["referrer-policy", "no-referrer"], ["cross-origin-opener-policy", "same-origin"],
      ["cross-origin-resource-policy", "same-origin"], ["access-control-allow-origin", null],
    ] as const) {
      assert.equal(headers.get(name), value, `${path}: ${name}`);
    }
    assert.match(headers.get("permissions-policy") ?? "", /camera=\(\)/, path);
    assert.equal(headers.get("cache-control"), path === "/console/" ? "no-cache" : "public, max-age=31536000, immutable", path);
  }
});

test("a file that is not there is not kept by browsers", async () => {
  const { status, headers } = await get("/console/assets/index-00000000.js");
  assert.equal(status, 404);
  assert.doesNotMatch(headers.get("cache-control") ?? "", /immutable|max-age=[1-9]/);
});

test("nothing else is looked up among the assets: the Worker answers", async () => {
  for (const path of ["/console/other", "/console/api/other", "/_headers", "/index.html", "/console-other", "/demo", "/"]) {
    assert.notEqual((await get(path)).headers.get("x-request-id"), null, path);
  }
  assert.equal((await get("/console/other")).status, 404);
});

test("the page of an agent leads to the agent in the console", async () => {
  const page = await (await get("/demo", BROWSER)).text();
  const [, link = ""] = /href="(\/console\/[^"]*)"/.exec(page) ?? [];
  assert.equal(link, "/console/#/agents/demo");
  await app.visit(link, (view) => view.sees("Demo"));
});

test("a Worker without assets has no console, says how it gets one, and its pages do not lead there", async () => {
  const worker = await startWorker();
  try {
    const answer = await fetch(`${worker.url}/console/`, BROWSER);
    assert.equal(answer.status, 404);
    assert.match(await answer.text(), /\[assets\].*docs\/console\.md/);
    assert.doesNotMatch(await (await fetch(`${worker.url}/demo`, BROWSER)).text(), /\/console/);
  } finally {
    await worker.stop();
  }
});

test("each page can be reached from each other, is named in the title, and is where the browser's history leads back to", () =>
  app.visit("", async (view) => {
    await view.find("heading", "Agents");
    for (const page of PAGES) {
      await view.click("link", page);
      await view.find("heading", page);
      await view.until(async () => (await view.page.title()) === `${page} · a2a-edge console`, `the title does not name ${page}`);
      const current = await view.page.$$eval("nav [aria-current=page]", (links) => links.map(({ textContent }) => textContent));
      assert.deepEqual(current, [page]);
    }
    await view.page.goBack();
    await view.find("heading", PAGES.at(-2) ?? "");
    assert.ok(view.record.requests.every(({ url }) => new URL(url).origin === app.worker.url));
  }));

test("an address that leads nowhere says so, and leads to the agents", () =>
  app.visit("#/no/such/page", async (view) => {
    await view.find("heading", "There is no such page");
    await view.inspect("no-such-page");
    await view.click("link", "See the agents");
    await view.find("heading", "Agents");
  }));

test("all of it can be reached by keyboard: the content first, then the pages in their order", () =>
  app.visit("#/agents", async (view) => {
    await view.find("heading", "Agents");
    await view.press("Tab");
    await view.focuses('link "Skip to the content"');
    await view.screenshot("skip-link");
    await view.press("Enter");
    await view.focuses(/^main /);

    await view.page.evaluate(() => (document.activeElement as HTMLElement).blur());
    await view.page.reload();
    await view.find("link", "Demo");
    const reached: string[] = [];
    for (let tabs = 0; tabs < 12; tabs += 1) {
      await view.press("Tab");
      reached.push(await view.focused());
    }
    const pages = reached.filter((name) => PAGES.some((page) => name === `link "${page}"`));
    assert.deepEqual(pages, PAGES.map((page) => `link "${page}"`));
    for (const name of reached) assert.doesNotMatch(name, /""/, "everything that has the focus has a name");

    await (await view.find("link", "Tasks")).focus();
    await view.press("Enter");
    await view.find("heading", "Tasks");
    await view.focuses(/^main /);
  }));

for (const [page, text] of Object.entries(IDLE)) {
  test(`the page ${page} of an idle Worker is without barriers, in light and dark, wide and narrow`, () =>
    app.visit(`#/${page.toLowerCase()}`, async (view) => {
      await view.find("heading", page);
      await view.sees(text);
      await view.inspect(`shell-${page.toLowerCase()}`);
    }));
}

test("on a phone the navigation stays within reach", () =>
  app.visit("#/agents", async (view) => {
    await view.find("heading", "Agents");
    await view.click("link", "Tasks");
    await view.find("heading", "Tasks");
  }, { size: "phone" }));

test("without JavaScript the page says that it needs it", async () => {
  const context = await app.browser.createBrowserContext();
  const page = await context.newPage();
  await page.setJavaScriptEnabled(false);
  await page.goto(app.url);
  assert.match(await page.$eval("noscript", ({ textContent }) => textContent ?? ""), /needs JavaScript/);
  await context.close();
});

test("the content policy keeps out what got into the page, and these specs notice what they look for", async () => {
  const attempts: [RegExp, () => void][] = [
    [/content policy: .*script-src/, () => {
      const script = document.createElement("script");
      script.setAttribute("src", "https://evil.example/x.js");
      document.body.append(script);
    }],
    [/TrustedHTML/, () => void (document.createElement("p").innerHTML = "<b>x</b>")],
    [/content policy: .*connect-src/, () => void fetch("http://evil.example/").catch(() => undefined)],
    [/content policy: .*img-src/, () => document.body.append(Object.assign(new Image(), { src: "https://evil.example/x.png", alt: "" }))],
    [/console error: told/, () => console.error("told")],
    [/uncaught: .*thrown/, () => void setTimeout(() => { throw new Error("thrown"); })],
    [/dialog: alert hello/, () => void setTimeout(() => alert("hello"))],
  ];
  for (const [noticed, attempt] of attempts) {
    const failed = app.visit("#/agents", async (view) => {
      await view.find("heading", "Agents");
      await view.page.evaluate(attempt).catch((error: Error) => assert.match(error.message, noticed));
      await view.until(() => view.problems().some((problem) => noticed.test(problem)), `${String(noticed)} was not noticed`);
    });
    await assert.rejects(failed, noticed);
  }
  await assert.rejects(app.visit("#/agents", async (view) => {
    await view.find("heading", "Agents");
    await view.page.evaluate(() => {
      const button = document.createElement("button");
      button.style.cssText = "color: #777; background: #888; width: 200vw";
      document.querySelector("main")?.append(button);
    });
    await view.inspect("failed/barrier");
  }), (error: Error) => /button-name/.test(error.message) && /wider than the screen/.test(error.message));
});
