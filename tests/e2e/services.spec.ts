// Other Workers that are bound to this one in the place of servers: of an HTTP tool of an agent file, and an MCP server of remotes.toml.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { fresh } from "./access.ts";
import { agentsOf } from "./agent-files.ts";
import { Agent, textOf, toolCall, until } from "./client.ts";
import { startWorker, type Worker } from "./harness.ts";

const FILES = {
  "agents/desk.toml": `name = "Desk"
description = "Has tools of other Workers."
version = "1.0.0"
default = true

[access]
open = true

[executor]
kind = "tools"

[executor.tools]
mcp = ["files"]

[[tools]]
name = "stock"
description = "Says how many there are."
service = "SHOP"
path = "/v1/{item}?key=\${SHOP_KEY}"
headers = { X-Team = "{team}" }

[tools.arguments]
item = "The name of an item."
team = { optional = true }

[[tools]]
name = "closed"
description = "Is not bound."
service = "CLOSED"
`,
  "remotes.toml": `[mcp.files]
service = "FILES"
path = "/mcp/files"
bearer_token = "\${FILES_TOKEN}"
`,
};

/** Tells what it was asked. */
const SHOP = `
  export default {
    fetch: (request) => Response.json({ method: request.method, url: request.url, team: request.headers.get("x-team") }),
  };`;

/** An MCP server of 2026-07-28 with one tool, which tells where it was called. */
const MCP = `
  const RESULTS = {
    "server/discover": () => ({ supportedVersions: ["2026-07-28"], capabilities: { tools: {} } }),
    "tools/list": () => ({ tools: [{ name: "where", description: "Tells where it was called.", inputSchema: { type: "object" } }] }),
    "tools/call": (request) => ({ content: [{ type: "text", text: [new URL(request.url).pathname, request.headers.get("authorization")].join(" ") }] }),
  };
  export default {
    async fetch(request) {
      const { id, method } = await request.json();
      return Response.json({ jsonrpc: "2.0", id, result: RESULTS[method](request) });
    },
  };`;

const vars = { AGENTS: "", SHOP_KEY: fresh(), FILES_TOKEN: fresh() };

let worker: Worker, desk: Agent;
before(async () => {
  worker = await startWorker({ vars, agents: agentsOf(FILES), services: { SHOP, FILES: MCP } });
  desk = new Agent(worker.url);
});
after(() => worker?.stop());

test("a tool is called at the bound Worker, and its secrets are kept", async () => {
  const { artifacts } = await desk.sendForTask(toolCall("stock", { item: "green tea", team: "blue" }));
  const { method, url, team } = artifacts?.[0]?.parts[0]?.data as Record<string, string>;
  const { pathname, search } = new URL(url ?? "");
  assert.deepEqual([method, pathname, search, team], ["GET", "/v1/green%20tea", "?key=[SHOP_KEY]", "blue"]);
});

test("a binding that is missing fails the call, and is named", async () => {
  const { status } = await desk.sendForTask(toolCall("closed"));
  assert.equal(status.state, "TASK_STATE_FAILED");
  assert.match(textOf(status.message), /GET \/ of the service CLOSED was not called: this Worker has no service binding "CLOSED": add \[\[services\]\]/);
});

test("an MCP server is the bound Worker, with its credentials", async () => {
  const { artifacts } = await desk.sendForTask(toolCall("where"));
  assert.deepEqual(artifacts?.[0]?.parts, [{ text: "/mcp/files Bearer [FILES_TOKEN]" }]);
});

test("its tools are skills of the card", async () => {
  const skills = async (): Promise<string[]> => {
    const card = await (await fetch(`${worker.url}/.well-known/agent-card.json`)).json();
    return (card as { skills: { id: string }[] }).skills.map(({ id }) => id);
  };
  assert.deepEqual(await until(skills, (found) => found.length === 3), ["stock", "closed", "where"]);
});
