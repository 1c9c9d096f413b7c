import assert from "node:assert/strict";
import { test } from "node:test";
import { testAgent } from "a2a-edge/testing";
import { poet } from "../src/poet.ts";

const settings = { base_url: "https://models.example.com/v1", model: "small" };
const chunk = (content: string, end: string | null = null) => `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content }, finish_reason: end }] })}\n\n`;

/** The agent, and a model that says these words. */
const make = (words: string[], status = 200) => testAgent(poet, {
  settings,
  secrets: { MODEL_KEY: "key-of-tests" },
  fetch: ({ headers }) => {
    assert.equal(headers.get("authorization"), "Bearer key-of-tests");
    const body = status === 200 ? `${words.map((word) => chunk(word)).join("")}${chunk("", "stop")}data: [DONE]\n\n` : JSON.stringify({ error: { message: "out of order" } });
    return new Response(body, { status, headers: { "content-type": status === 200 ? "text/event-stream" : "application/json" } });
  },
});

test("what the model says is the result, and the model is told of what was said before", async () => {
  const agent = await make(["Roses ", "are ", "red."]);
  const { state, artifacts } = await agent.send("about roses");
  assert.deepEqual([state, artifacts["result"]?.text], ["completed", "Roses are red."]);
  const asked = (await agent.fetched[0]?.json()) as { model: string; stream: boolean; messages: { role: string; content: string }[] };
  assert.deepEqual([asked.model, asked.stream, asked.messages.at(-1)], ["small", true, { role: "user", content: "about roses" }]);
});

test("an error of the model fails the task", async () => {
  const agent = await make([], 400);
  await assert.rejects(agent.send("about roses"), /out of order/);
  assert.equal(agent.task().state, "failed");
});
