// Calls the agents with an executor or tools in Rust, of the Worker at A2A_EDGE_URL, which `npm test` serves with the variables of test.vars.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import { after, test } from "node:test";
import { Role, TaskState } from "@a2a-js/sdk";
import { ClientFactory } from "@a2a-js/sdk/client";

const url = process.env.A2A_EDGE_URL;

/** The server at PUBLISH_URL, which also contains the pages that the agents read. */
const published = [];
const server = createServer(async (request, response) => {
  const { pathname, searchParams } = new URL(request.url, "http://localhost");
  let body = "";
  for await (const piece of request) body += piece;
  if (pathname === "/posts") published.push({ headers: request.headers, body: JSON.parse(body) });
  if (pathname === "/speed") {
    response.setHeader("content-type", "application/json");
    return response.end(JSON.stringify({ score: searchParams.get("device") === "phone" ? 61 : 97, key: request.headers.authorization }));
  }
  response.statusCode = pathname === "/gone" ? 404 : 200;
  response.end(request.method === "HEAD" ? undefined : "<title>A page</title>");
});
const site = "http://127.0.0.1:47832";
await once(server.listen(new URL(site).port, "127.0.0.1"), "listening");

after(() => {
  server.close();
  server.closeAllConnections();
});

const connect = (slug) => new ClientFactory().createFromUrl(url, `/${slug}/.well-known/agent-card.json`);

const textPart = (value) => ({ content: { $case: "text", value } });
const dataPart = (value) => ({ content: { $case: "data", value } });
const saying = (part, taskId) => ({ message: { messageId: randomUUID(), role: Role.ROLE_USER, parts: [part], taskId } });

const textOf = (message) => (message?.parts ?? []).map(({ content }) => (content.$case === "text" ? content.value : "")).join("");

test("a text is published when somebody has approved it, and its links were called", async () => {
  const client = await connect("publisher");
  const text = `The new site: ${site}/a ${site}/gone`;
  const events = [];
  for await (const { payload } of client.sendMessageStream(saying(textPart(text)))) {
    events.push(payload);
    const callback = /post to (\S+)/.exec(payload.$case === "statusUpdate" ? textOf(payload.value.status.message) : "")?.[1];
    if (callback) assert.equal((await fetch(callback, { method: "POST" })).ok, true);
  }
  const links = events.filter(({ $case }) => $case === "artifactUpdate").map(({ value }) => textOf(value.artifact));
  assert.deepEqual(links, [`200 ${site}/a\n`, `404 ${site}/gone\n`]);
  assert.equal(textOf(events.at(-1).value.status.message), "published");

  const [{ headers, body }, ...others] = published;
  assert.deepEqual(others, []);
  assert.deepEqual(body, { text });
  assert.equal(headers.authorization, "Bearer not-a-real-key");
  assert.ok(headers["idempotency-key"]);
});

test("the publisher asks for a link where there is none", async () => {
  const client = await connect("publisher");
  const task = await client.sendMessage(saying(textPart("hello")));
  assert.equal(task.status.state, TaskState.TASK_STATE_INPUT_REQUIRED);
  assert.equal(textOf(task.status.message), "Which text? It needs a link.");
});

test("a plain text goes to the tool in Rust", async () => {
  const client = await connect("pages");
  const task = await client.sendMessage(saying(textPart(`${site}/a`)));
  assert.deepEqual(task.artifacts[0].parts[0].content, { $case: "data", value: { url: `${site}/a`, title: "A page" } });
});

test("a tool that lacks an argument asks for it, and shows nothing of its secret", async () => {
  const client = await connect("pages");
  const asked = await client.sendMessage(saying(dataPart({ tool: "page_speed", arguments: { device: "desktop" } })));
  assert.equal(asked.status.state, TaskState.TASK_STATE_INPUT_REQUIRED);
  const task = await client.sendMessage(saying(textPart(`${site}/a`), asked.id));
  assert.equal(task.status.state, TaskState.TASK_STATE_COMPLETED);
  assert.deepEqual(task.artifacts[0].parts[0].content, { $case: "data", value: 97 });
  assert.doesNotMatch(JSON.stringify(task), /not-a-real-key/);
});
