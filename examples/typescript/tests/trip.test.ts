import assert from "node:assert/strict";
import { test } from "node:test";
import { testAgent } from "a2a-edge/testing";
import { trip } from "../src/trip.ts";

test("it asks both agents, and joins what they say", async () => {
  const agent = await testAgent(trip, { remotes: { weather: () => "It will not.", hotels: () => "Room 12." } });
  const { state, artifacts } = await agent.send("Lisbon");
  assert.deepEqual([state, artifacts["result"]?.text], ["completed", "It will not.\nRoom 12."]);
});

test("a question of an agent becomes its own, and a failure its reason", async () => {
  const asking = await testAgent(trip, { remotes: { weather: () => "It will not.", hotels: () => ({ state: "input-required", text: "Which day?" }) } });
  const asked = await asking.send("Lisbon");
  assert.deepEqual([asked.state, asked.text], ["input-required", "Which day?"]);
  const failing = await testAgent(trip, { remotes: { weather: () => "It will not.", hotels: () => ({ state: "failed", text: "no room" }) } });
  const failed = await failing.send("Lisbon");
  assert.deepEqual([failed.state, failed.text], ["failed", "no room"]);
});
