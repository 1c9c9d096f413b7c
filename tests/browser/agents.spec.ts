// The agents of a Worker: their list, their cards as pages and as JSON, what is advised about them, and how to call them.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { generateKeyPairSync } from "node:crypto";
import { after, before, test } from "node:test";
import { promisify } from "node:util";
import type { HTTPRequest } from "puppeteer-core";
import { KEYS, VARS } from "../e2e/club.ts";
import { secret, startWorker, testAgents } from "../e2e/harness.ts";
import { readCard } from "../../console/src/api/card.ts";
import { lint } from "../../console/src/lint/index.ts";
import { snippetsFor } from "../../console/src/pages/agents/snippets.ts";
import { startConsole, type Console } from "./console.ts";
import { HOSTILE, MARK, assertHarmless, hostileAgents } from "./hostile.ts";
import type { View } from "./view.ts";

let app: Console;
before(async () => {
  app = await startConsole({ vars: { ...VARS, AGENTS: some("demo", "assistant", "club", "locks", "guild", "numbers", HOSTILE) } });
});
after(() => app?.stop());

/** These agents alone: axe looks at each of their elements. */
function some(...slugs: string[]): string {
  const { agents, ...built } = JSON.parse(hostileAgents()) as { agents: { slug: string }[] };
  return JSON.stringify({ ...built, agents: agents.filter(({ slug }) => slugs.includes(slug)) });
}

const run = promisify(execFile);

const CARD = "/.well-known/agent-card.json";

/** The names of the agents that the list shows. */
const listed = async (view: View): Promise<string[]> => {
  const names = await Promise.all((await view.all("heading")).map((heading) => view.text(heading)));
  return names.filter((name) => name !== "Agents");
};

test("all agents are listed, with what they can do and who may call them", () =>
  app.visit("#/agents", async (view) => {
    await view.find("link", "Demo");
    const items = await Promise.all((await view.all("listitem")).map((item) => view.text(item)));
    const demo = items.find((text) => text.includes("/demo")) ?? "";
    for (const part of ["Ready", "4 skills", "Open to everybody", "Streams", "A2A 1.0, 0.3"]) assert.ok(demo.includes(part), `${part} in ${demo}`);
    const club = items.find((text) => text.includes("/club")) ?? "";
    assert.match(club, /API key, Bearer token/);
    const guild = items.find((text) => text.includes("/guild")) ?? "";
    assert.match(guild, /Misconfigured|Partly ready/, "an agent without its secrets");
    await assertHarmless(view);
    await view.inspect("agents-list");
  }));

test("a search narrows the list, its text stays in the address, and no hit offers all of them again", () =>
  app.visit("#/agents", async (view) => {
    await view.fill("Search", "add_numbers", "searchbox");
    await view.until(async () => !(await listed(view)).includes("Demo"), "Demo is still listed");
    await view.reaches("#/agents?q=add_numbers");
    assert.ok((await listed(view)).includes("Assistant"));
    await view.fill("Search", "nothing has this name", "searchbox");
    await view.sees("No agent has");
    await view.click("button", "Show all agents");
    await view.find("link", "Demo");
  }));

test("an agent elsewhere is opened by its URL, also without https, and what is no URL is told at the field", () =>
  app.visit("#/agents", async (view) => {
    await view.fill("Open an agent elsewhere", "not a url");
    await view.press("Enter");
    await view.sees("That is no URL");
    await view.fill("Open an agent elsewhere", "agents.example.com/a");
    await view.press("Enter");
    await view.reaches("#/remote/https%3A%2F%2Fagents.example.com%2Fa");
  }));

test("a card is a page: skills with examples that open the chat, interfaces, capabilities, access", () =>
  app.visit("#/agents/demo", async (view) => {
    await view.find("heading", "Demo");
    await view.sees("Gives back any text as an artifact");
    for (const part of ["JSONRPC", "HTTP+JSON", "urn:a2a-edge:generation:v1", "text/plain, application/json", "Open: the card asks for no credentials."]) await view.sees(part);
    const example = await view.find("link", "count 10 every 200");
    assert.equal(await example.evaluate((link) => (link as HTMLAnchorElement).hash), "#/chat/demo?skill=chunks&text=count+10+every+200");
    await view.inspect("agents-card");
  }));

test("schemes and their alternatives are told in words", () =>
  app.visit("#/agents/locks", async (view) => {
    await view.sees("One of these lets a caller in:");
    for (const part of ["In the header X-Key.", "In the cookie session.", "Client certificate", "Cloudflare Access", "Scopes: read, write"]) await view.sees(part);
    const link = await view.find("link", "https://id.example/authorize");
    assert.equal(await link.evaluate((a) => (a as HTMLAnchorElement).rel), "noreferrer noopener");
    await view.inspect("agents-schemes");
  }));

test("the JSON of each version is that which the server serves", () =>
  app.visit("#/agents/demo", async (view) => {
    for (const [tab, version] of [["JSON 1.0", "1.0"], ["JSON 0.3", "0.3"]] as const) {
      await view.click("link", tab);
      const served = await (await fetch(`${app.worker.url}/demo${CARD}`, { headers: { "a2a-version": version } })).text();
      await view.find("region", `${tab}, as a tree`);
      await view.page.evaluate(() => Object.defineProperty(navigator, "clipboard", { configurable: true, value: { writeText: (text: string) => ((window as any).copied = text, Promise.resolve()) } }));
      await view.click("button", "Copy as served");
      await view.until(() => view.page.evaluate((text) => (window as any).copied === text, served), `${tab} is another text`);
    }
    await view.sees("preferredTransport");
    await view.inspect("agents-json");
  }));

test("a version that the agent does not speak is told with the refusal of the server", () =>
  app.visit("#/agents/numbers/json-0.3", async (view) => {
    view.expect(/status of 400/);
    await view.find("alert");
    await view.sees(/VERSION_NOT_SUPPORTED|0\.3/);
    await view.find("button", "Try again");
  }));

test("advice is grouped by what is to do, and what the agent really answers is asked for", () =>
  app.visit("#/agents/assistant/check", async (view) => {
    await view.sees("has no examples: people do not know what to write");
    const fixes = (await view.text()).split("Add one or two messages that it answers well.").length - 1;
    assert.equal(fixes, 1, "what to do is said once");
    await view.click("button", "Try what the card declares");
    await view.find("cell", /TASK_NOT_FOUND/);
    assert.doesNotMatch(await view.text(), /refused\./);
    await view.inspect("agents-check");
  }));

test("a misconfigured agent is found by asking it", () =>
  app.visit("#/agents/guild/check", async (view) => {
    await view.click("button", "Try what the card declares");
    await view.sees("The agent answers that it has failed");
    await view.find("link", /^Check \(\d+\)$/);
  }));

test("there is nothing wrong with the cards of all agents of the tests, and of those that the build embeds", async () => {
  for (const AGENTS of [testAgents, ""]) {
    const worker = await startWorker({ vars: { ...VARS, AGENTS } });
    try {
      const { agents } = (await (await fetch(`${worker.url}/console/api/agents`)).json()) as { agents: { slug: string }[] };
      assert.ok(agents.length > 1);
      for (const { slug } of agents) {
        for (const version of ["1.0", "0.3"]) {
          const foundAt = `${worker.url}/${slug}${CARD}`;
          const response = await fetch(foundAt, { headers: { "a2a-version": version } });
          if (!response.ok) continue;
          const text = await response.text();
          const found = lint({ card: JSON.parse(text), text, foundAt, isLocal: true, isDevelopment: true });
          const known = { guild: "skills", picky: "capabilities.extensions[0]" }[slug];
          assert.deepEqual(found.filter(({ severity, about }) => severity !== "advice" && about !== known), [], `${slug} ${version}`);
        }
      }
    } finally {
      await worker.stop();
    }
  }
});

// Each view with what it shows besides the name of the agent, which all of them show at once.
for (const [tab, role, name] of [
  ["", "heading", "Skills"], ["check", "button", "Try what the card declares"], ["call", "textbox", "Message"],
  ["json", "region", "JSON 1.0, as a tree"], ["json-0.3", "region", "JSON 0.3, as a tree"],
] as const) {
  test(`a hostile card is shown as text in the view "${tab || "card"}"`, () =>
    app.visit(`#/agents/${HOSTILE}/${tab}`, async (view) => {
      await view.find(role, name);
      await assertHarmless(view, MARK);
      await view.inspect(`hostile-agents-${tab || "card"}`);
    }));
}

test("a signed card is verified by the keys of the Worker, one that was changed on its way is not, and other addresses are told", async () => {
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const key = JSON.stringify({ ...privateKey.export({ format: "jwk" }), kid: "console-key" });
  const signed = await startConsole({ vars: { ...VARS, AGENTS: some("club"), SIGNING_JWK: key, PUBLIC_URL: "https://agents.example" } });
  try {
    await signed.visit("#/agents", async (view) => {
      await view.click("link", "Club");
      await view.sees("Genuine");
      await view.sees("By key console-key (ES256)");
      await view.click("link", /^Check/);
      await view.sees("set PUBLIC_URL to the address that clients use");
      await view.page.setRequestInterception(true);
      // A request that is under way when the tab is closed has no answer.
      view.page.on("request", (request) => void pass(request).catch(() => undefined));
      await view.click("link", "All agents");
      await view.click("link", "Club");
      await view.sees("Does not fit its keys");
      await view.click("link", /^Check/);
      await view.sees("No signature fits the card and the keys of its server");
    });
  } finally {
    await signed.stop();
  }
});

/** Lets a request through, and changes a card that answers it. */
async function pass(request: HTTPRequest): Promise<void> {
  if (!request.url().endsWith(CARD)) return request.continue();
  const text = await (await fetch(request.url(), { headers: { "a2a-version": "1.0" } })).text();
  await request.respond({ contentType: "application/json", body: text.replace("Lets members in", "Lets everybody in") });
}

test("the code to copy runs: curl and the SDK for JavaScript get an answer, with the secret from the environment", async () => {
  for (const [slug, value] of [["demo", ""], ["club", secret("CLUB_MEMBER_KEY", KEYS.member)]] as const) {
    const foundAt = `${app.worker.url}/${slug}${CARD}`;
    const card = readCard(await (await fetch(foundAt, { headers: { "a2a-version": "1.0" } })).json());
    const awkward = `it's "quoted" $HOME \`x\` \\ é`;
    for (const { title, code } of snippetsFor(card, foundAt, awkward)) {
      const env = { ...process.env, A2A_SECRET: value };
      if (title === "Python") continue;
      const ran = title === "JavaScript" ? run(process.execPath, ["--input-type=module", "-e", code], { env }) : run("sh", ["-c", code], { env });
      const { stdout } = await ran;
      assert.match(stdout, /TASK_STATE_|state: \d/, `${slug} ${title}: ${stdout}`);
      if (slug === "demo" && title.startsWith("curl")) assert.ok(stdout.includes(JSON.stringify(awkward).slice(1, -1)), stdout);
    }
  }
});

test("everything is reached by keyboard: from the list to a card, to its views, back", () =>
  app.visit("#/agents", async (view) => {
    await view.find("link", "Demo");
    await view.fill("Search", "Demo", "searchbox");
    await view.until(async () => (await listed(view)).length === 1, "more than one agent is listed");
    await view.press("Tab");
    await view.focuses('link "Demo"');
    await view.press("Enter");
    await view.find("link", "How to call it");
    await view.until(async () => {
      await view.press("Tab");
      return (await view.focused()) === 'link "How to call it"';
    }, "the tab is not reached");
    await view.press("Enter");
    await view.find("textbox", "Message");
    await view.page.goBack();
    await view.sees("Open: the card asks for no credentials.");
  }));
