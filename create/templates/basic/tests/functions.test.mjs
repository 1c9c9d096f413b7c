// Calls the executor and the tool of src/ without a server. Time is simulated, and nobody outside is called: `fetch` answers for them.
import assert from "node:assert/strict";
import { test } from "node:test";
import { callTool, survivesCrashes, testAgent } from "a2a-edge/testing";
import { orders } from "../src/orders.ts";
import { find_place } from "../src/tools.ts";

/** An agent, and a shop that takes its orders. */
async function makeAgent() {
  const shop = { orders: [] };
  const agent = await testAgent(orders, {
    fetch: async (request) => {
      shop.orders.push(await request.json());
      return new Response();
    },
  });
  return Object.assign(agent, { pay: () => agent.post(shop.orders.at(-1).notify, "49 EUR") });
}

test("a payment completes the order, also after a deploy", async () => {
  const agent = await makeAgent();
  assert.equal((await agent.send("a chair")).state, "working");
  await agent.crash();
  await agent.pay();
  const { state, artifacts } = agent.task();
  assert.equal(state, "completed");
  assert.equal(artifacts.result.text, "49 EUR");
});

test("nobody pays within a week", async () => {
  const agent = await makeAgent();
  await agent.send("a chair");
  const { state, text } = await agent.pass("8 days");
  assert.deepEqual([state, text], ["failed", "nobody has paid within a week"]);
});

test("an order survives a crash at each place where one can be", async () => {
  await survivesCrashes(makeAgent, async (agent) => {
    await agent.send("a chair");
    await agent.pay();
  });
});

test("a place is found", async () => {
  const fetch = (request) => {
    const { searchParams } = new URL(request.url);
    return Response.json({ results: [{ name: searchParams.get("name"), country: "Portugal" }] });
  };
  const outcome = await callTool(find_place, { name: "Lisbon" }, { fetch, env: { PLACES_URL: "https://places.example" } });
  assert.equal(outcome.value.country, "Portugal");
});
