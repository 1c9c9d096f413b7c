import assert from "node:assert/strict";
import { test } from "node:test";
import { survivesCrashes, testAgent } from "a2a-edge/testing";
import { orders } from "../src/orders.ts";

/** The agent, and a shop that remembers where to tell of a payment. */
async function make() {
  const shop = { notify: "" };
  const agent = await testAgent(orders, {
    fetch: async (request) => {
      shop.notify = (await request.json<{ notify: string }>()).notify;
      return new Response();
    },
  });
  return Object.assign(agent, { shop });
}

test("a payment completes the order, also after a deploy", async () => {
  const agent = await make();
  assert.equal((await agent.send("a chair")).state, "working");
  await agent.crash();
  assert.ok(await agent.post(agent.shop.notify, "49 EUR"));
  const { state, artifacts } = agent.task();
  assert.deepEqual([state, artifacts["result"]?.text], ["completed", "49 EUR"]);
});

test("nobody pays", async () => {
  const agent = await make();
  await agent.send("a chair");
  const { state, text } = await agent.pass("8 days");
  assert.deepEqual([state, text], ["failed", "nobody has paid within a week"]);
});

test("no crash orders twice", async () => {
  await survivesCrashes(make, async (agent) => {
    await agent.send("a chair");
  });
});
