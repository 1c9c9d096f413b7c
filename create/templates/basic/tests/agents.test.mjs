// Calls the agents of the Worker at A2A_EDGE_URL, which `npm test` serves with the variables of test.vars.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import { after, test } from "node:test";
import { Role, TaskState } from "@a2a-js/sdk";
import { ClientFactory } from "@a2a-js/sdk/client";

/** The service of places, at PLACES_URL. */
const places = createServer((request, response) => {
  const { searchParams } = new URL(request.url, "http://localhost");
  response.setHeader("content-type", "application/json");
  response.end(JSON.stringify({ results: [{ name: searchParams.get("name"), country: "Portugal" }] }));
}).listen(47831, "127.0.0.1");
await once(places, "listening");
after(() => {
  places.close();
  places.closeAllConnections();
});

/** Sends a text to an agent and returns the task. */
async function send(slug, text) {
  const client = await new ClientFactory().createFromUrl(process.env.A2A_EDGE_URL, `/${slug}/.well-known/agent-card.json`);
  const parts = [{ content: { $case: "text", value: text } }];
  return client.sendMessage({ message: { messageId: randomUUID(), role: Role.ROLE_USER, parts } });
}

test("hello greets", async () => {
  const { status, artifacts } = await send("hello", "hello");
  assert.equal(status.state, TaskState.TASK_STATE_COMPLETED);
  assert.match(artifacts[0].parts[0].content.value, /^Hello!/);
});

test("hello repeats everything else", async () => {
  const { artifacts } = await send("hello", "good morning");
  assert.deepEqual(artifacts[0].parts[0].content, { $case: "text", value: "You said: good morning" });
});

test("places asks the service", async () => {
  const { artifacts } = await send("places", "Lisbon");
  assert.deepEqual(artifacts[0].parts[0].content, { $case: "data", value: { name: "Lisbon", country: "Portugal" } });
});
