import assert from "node:assert/strict";
import { test } from "node:test";
import { testAgent } from "a2a-edge/testing";
import { drawing } from "../src/drawing.ts";

test("the agent of the SDK asks, and draws in chunks", async () => {
  const agent = await testAgent(drawing);
  const asked = await agent.send("a square");
  assert.deepEqual([asked.state, asked.text], ["input-required", "How wide?"]);
  const { state, artifacts } = await agent.send("20");
  assert.deepEqual([state, artifacts["drawing"]?.text], ["completed", "<svg xmlns='http://www.w3.org/2000/svg'><rect width='20' height='20'/></svg>"]);
});
