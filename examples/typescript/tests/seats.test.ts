import assert from "node:assert/strict";
import { test } from "node:test";
import { survivesCrashes, testAgent } from "a2a-edge/testing";
import { seats } from "../src/seats.ts";

/** The agent, a hall in which a reservation with a known key is the same one, and the mails. */
async function make({ isFull = false } = {}) {
  const reserved = new Set<string>();
  const mails: string[] = [];
  const released: string[] = [];
  const agent = await testAgent(seats, {
    settings: { hall: "north" },
    env: { MAIL: { send: async ({ text = "" }: { text?: string }) => { mails.push(text); } } as unknown as SendEmail },
    fetch: ({ url, method, headers }) => {
      if (method === "DELETE") released.push(new URL(url).searchParams.get("task") ?? "");
      else reserved.add(headers.get("idempotency-key") ?? "");
      return isFull ? new Response("the hall is full", { status: 409 }) : Response.json({ row: 1, seat: reserved.size });
    },
  });
  return Object.assign(agent, { reserved, mails, released });
}

test("a seat is reserved, and a mail tells of it", async () => {
  const agent = await make();
  const { state, artifacts } = await agent.send("Ada");
  assert.deepEqual([state, artifacts["result"]?.parts], ["completed", [{ data: { row: 1, seat: 1 } }]]);
  assert.deepEqual(agent.mails, ["Row 1, seat 1."]);
});

test("a full hall is asked three times, and is the reason", async () => {
  const agent = await make({ isFull: true });
  const { state, text } = await agent.send("Ada");
  assert.deepEqual([state, text, agent.fetched.length], ["failed", "no seat: the hall is full", 3]);
  assert.equal(agent.reserved.size, 1, "with one key");
});

test("a crash in the middle reserves the same seat", async () => {
  const agent = await make();
  await agent.crash("reserve");
  const { artifacts } = await agent.send("Ada");
  assert.deepEqual(artifacts["result"]?.parts, [{ data: { row: 1, seat: 1 } }]);
  assert.equal(agent.fetched.length, 2);
});

test("no crash reserves a second seat", async () => {
  await survivesCrashes(() => make(), async (agent) => {
    await agent.send("Ada");
    assert.equal(agent.reserved.size, 1);
  });
});
