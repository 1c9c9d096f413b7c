import assert from "node:assert/strict";
import { test } from "node:test";
import { testAgent } from "a2a-edge/testing";
import { tables } from "../src/tables.ts";

test("it asks for a number, and goes on with the answer", async () => {
  const agent = await testAgent(tables);
  const asked = await agent.send("a table, please");
  assert.deepEqual([asked.state, asked.text], ["input-required", "For how many?"]);
  const { state, artifacts } = await agent.send("4");
  assert.deepEqual([state, artifacts["result"]?.text], ["completed", "a table for 4"]);
});
