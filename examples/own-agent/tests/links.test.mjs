// Calls the agents of the Worker at A2A_EDGE_URL, which `a2a-edge test` serves.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import { after, before, test } from "node:test";
import { Role, TaskState } from "@a2a-js/sdk";
import { ClientFactory } from "@a2a-js/sdk/client";

const url = process.env.A2A_EDGE_URL;

/** The site whose pages are looked at; `/slow` answers when `release` is called. */
let site;
let release;
const released = new Promise((resolve) => (release = resolve));
const called = [];

before(async () => {
  const server = createServer(async (request, response) => {
    called.push(request.url);
    if (request.url === "/slow") await released;
    response.statusCode = request.url === "/gone" ? 404 : 200;
    response.end(request.method === "HEAD" ? undefined : "<title>A page</title>");
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  site = `http://127.0.0.1:${server.address().port}`;
  after(() => server.close().closeAllConnections());
});

const connect = (path) => new ClientFactory().createFromUrl(url, path);

const saying = (text) => ({
  message: { messageId: randomUUID(), role: Role.ROLE_USER, parts: [{ content: { $case: "text", value: text } }] },
});

const textOf = (parts) => parts.map(({ content }) => (content.$case === "text" ? content.value : "")).join("");

test("the executor in Rust reports on each link, with progress", async () => {
  const client = await connect();
  const events = [];
  for await (const { payload } of client.sendMessageStream(saying(`${site}/a ${site}/gone`))) events.push(payload);
  const progress = events.filter(({ $case }) => $case === "statusUpdate").map(({ value }) => textOf(value.status.message?.parts ?? []));
  assert.deepEqual(progress, ["link 1 of 2", "link 2 of 2", "2 links, 1 broken"]);
  const report = events.filter(({ $case }) => $case === "artifactUpdate").map(({ value }) => textOf(value.artifact.parts));
  assert.deepEqual(report, [`200 ${site}/a\n`, `404 ${site}/gone is broken\n`]);
});

test("a task that is canceled ends at once, and calls nobody any more", async () => {
  const client = await connect();
  const request = { ...saying(`${site}/slow ${site}/never`), configuration: { returnImmediately: true } };
  const begun = await client.sendMessage(request);
  const canceled = await client.cancelTask({ id: begun.id });
  assert.equal(canceled.status.state, TaskState.TASK_STATE_CANCELED);
  release();
  assert.equal((await client.getTask({ id: begun.id })).status.state, TaskState.TASK_STATE_CANCELED);
  assert.ok(!called.includes("/never"));
});

test("the tool in Rust is a skill of its agent, and answers", async () => {
  const client = await connect("/pages/.well-known/agent-card.json");
  const card = await client.getAgentCard();
  assert.deepEqual(card.skills.map(({ id }) => id), ["page_title"]);
  const task = await client.sendMessage(saying(`${site}/page`));
  assert.equal(task.status.state, TaskState.TASK_STATE_COMPLETED);
  assert.deepEqual(task.artifacts[0].parts[0].content.value, { url: `${site}/page`, title: "A page" });
});
