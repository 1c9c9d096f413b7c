// Tools of MCP servers as skills: on cards, with permissions, and while their servers are down.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { secretsOf } from "./access.ts";
import { Agent, textOf, toolCall, until } from "./client.ts";
import { startWorker, type Worker } from "./harness.ts";
import { startEverything, type McpPeer } from "./mcp-servers.ts";
import { Modern } from "./mcp-tool-servers.ts";
import { Relay } from "./relay.ts";

interface Skill {
  id: string;
  name: string;
  description: string;
  tags: string[];
}

const secrets = secretsOf("MODERN_TOKEN", "GUILD_GUEST_KEY", "GUILD_MEMBER_KEY");
let everything: McpPeer, relay: Relay, modern: Modern, worker: Worker;
/** True if the reference server is down. */
let isDown = false;

before(async () => {
  [everything, modern] = await Promise.all([startEverything(), Modern.start()]);
  relay = await Relay.open(() => (isDown ? "http://127.0.0.1:1" : new URL(everything.url).origin));
  worker = await startWorker({ vars: { EVERYTHING_URL: relay.url, MODERN_URL: modern.url, ...secrets }, hasTwin: true });
});
after(async () => {
  await worker?.stop();
  relay?.close();
  await everything?.stop();
  modern?.stop();
});

async function skillsOf(slug: string, origin = worker.url): Promise<Skill[]> {
  const response = await fetch(`${origin}/${slug}/.well-known/agent-card.json`);
  return ((await response.json()) as { skills: Skill[] }).skills;
}

const guild = (secret: string): Agent => new Agent(`${worker.url}/guild`, { "X-Guild-Key": secret });

describe("the card of an agent with tools of MCP servers", () => {
  test("shows them from the first request on, told apart by their servers", async () => {
    const skills = await skillsOf("workshop");
    const ids = skills.map(({ id }) => id);
    assert.deepEqual(ids.slice(0, 3), ["echo", "add", "ask_seat"]);
    assert.ok(ids.includes("modern.echo") && ids.includes("everything.echo") && ids.includes("get-sum"), ids.join());
    assert.ok(!ids.includes("gzip-file-as-resource"), "which the agent does not choose");
    const [add] = skills.filter(({ id }) => id === "add");
    assert.deepEqual(add, { id: "add", name: "Adds numbers", description: "Adds numbers", tags: ["modern"] });
    const [seat] = skills.filter(({ id }) => id === "ask_seat");
    assert.deepEqual([seat?.name, seat?.description], ["Ask seat", "Asks for a seat."]);
    assert.equal(new Set(ids).size, ids.length);
  });

  test("does not show those that need permissions, which others neither see nor call", async () => {
    assert.deepEqual((await skillsOf("guild")).map(({ id }) => id).sort(), ["ask_seat", "author", "sleep"]);
    const [guest, member] = [guild(secrets.GUILD_GUEST_KEY), guild(secrets.GUILD_MEMBER_KEY)];
    for (const [agent, sees] of [[guest, false], [member, true]] as const) {
      const card = await agent.call<{ skills: Skill[] }>("GetExtendedAgentCard", {});
      const [add] = card.skills.filter(({ id }) => id === "add");
      assert.equal(add?.description, sees ? "Adds, for members." : undefined);
    }
    for (const tool of ["add", "modern.add"]) {
      const refused = await guest.sendForTask(toolCall(tool, { a: 1, b: 2 }));
      assert.equal(refused.status.state, "TASK_STATE_REJECTED");
      assert.doesNotMatch(textOf(refused.status.message), /- add:/);
      const done = await member.sendForTask(toolCall(tool, { a: 1, b: 2 }));
      assert.deepEqual(done.artifacts?.[0]?.parts, [{ data: { sum: 3 } }]);
    }
  });
});

describe("when a server is down", () => {
  test("another Worker, and one that starts anew, has its skills, calls name it, and it is found again", async () => {
    const before = await skillsOf("workshop");
    const keys = async (): Promise<number> => {
      const { results } = await (await worker.d1()).prepare("SELECT key FROM remembered WHERE key LIKE 'mcp:%'").run<{ key: string }>();
      return results.length;
    };
    await until(keys, (count) => count === 2);
    isDown = true;
    const lists = relay.count("tools/list");
    assert.deepEqual(await skillsOf("workshop", worker.twin), before, "which knows them from the database alone");
    await worker.restart();
    assert.deepEqual(await skillsOf("workshop"), before);
    assert.equal(relay.count("tools/list"), lists, "nobody asks for what is fresh");
    const workshop = new Agent(`${worker.url}/workshop`);
    const failed = await workshop.sendForTask(toolCall("get-sum", { a: 1, b: 2 }));
    assert.equal(failed.status.state, "TASK_STATE_FAILED");
    assert.match(textOf(failed.status.message), /get-sum failed: the MCP server everything cannot be reached/);
    assert.ok(!JSON.stringify(failed).includes(relay.url), "its URL may be secret");
    const others = await workshop.sendForTask(toolCall("add", { a: 1, b: 2 }));
    assert.deepEqual(others.artifacts?.[0]?.parts, [{ data: { sum: 3 } }]);
    isDown = false;
    const again = await workshop.sendForTask(toolCall("get-sum", { a: 1, b: 2 }));
    assert.equal(again.status.state, "TASK_STATE_COMPLETED");
  });

  test("a tool that it has since a while is found when it is called", async () => {
    await (await worker.d1()).prepare("UPDATE remembered SET fetched_ms = ?1 WHERE key LIKE 'mcp:%'").bind(Date.now()).run();
    await worker.restart();
    modern.tools = [...modern.tools, { name: "late", inputSchema: { type: "object" } }];
    const workshop = new Agent(`${worker.url}/workshop`);
    const unknown = await workshop.sendForTask(toolCall("late"));
    assert.match(textOf(unknown.status.message), /there is no tool "late"/, "its list is a moment old");
    await (await worker.d1()).prepare("UPDATE remembered SET fetched_ms = fetched_ms - 120000 WHERE key LIKE 'mcp:%'").run();
    await worker.restart();
    const called = await new Agent(`${worker.url}/workshop`).sendForTask(toolCall("late"));
    assert.equal(textOf(called.status.message), "late failed: there is no late", "which the server says");
  });

  test("nothing that is stored shows its URL or its credentials", async () => {
    const { results } = await (await worker.d1()).prepare("SELECT * FROM remembered WHERE key LIKE 'mcp:%'").run<object>();
    const stored = JSON.stringify(results);
    for (const secret of [relay.url, modern.url, secrets.MODERN_TOKEN]) assert.ok(!stored.includes(secret), secret);
  });
});
