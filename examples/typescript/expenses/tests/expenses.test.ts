import assert from "node:assert/strict";
import { test } from "node:test";
import { survivesCrashes, testAgent } from "a2a-edge/testing";
import { expenses, office } from "../src/index.ts";

interface Entry { owner: string; what: string; euros: string; approvedBy: string | null; notify: string }

/** The agent for a caller, and a ledger, which counts a request with a known key once. */
async function make(caller = "ada") {
  const entries = new Map<string, Entry>();
  const agent = await testAgent(expenses, {
    settings: { ledger: "https://ledger.example.com/entries", limit: 100 },
    secrets: { LEDGER_KEY: "ledger-key-of-tests" },
    caller: { id: `key:${caller}`, owner: `key:${caller}` },
    fetch: async (request) => {
      if (request.headers.get("authorization") !== "Bearer ledger-key-of-tests") return new Response("who are you?", { status: 401 });
      const key = request.headers.get("idempotency-key") ?? "";
      entries.set(key, entries.get(key) ?? (await request.json<Entry>()));
      return Response.json({ entry: `E-${[...entries.keys()].indexOf(key) + 1}` });
    },
  });
  return Object.assign(agent, { entries: () => [...entries.values()] });
}

const booked = (agent: Awaited<ReturnType<typeof make>>) => agent.post(agent.entries()[0]?.notify ?? "", "booked");

test("a receipt is entered once, and booked by the webhook of the ledger, also after a deploy", async () => {
  const agent = await make();
  const { state, text } = await agent.send("Lunch with Ada, 42.50 EUR");
  assert.deepEqual([state, text], ["working", "entered as E-1"]);
  await agent.crash();
  assert.ok(await booked(agent));
  const task = agent.task();
  assert.deepEqual([task.state, task.artifacts["result"]?.text], ["completed", "Lunch with Ada: 42.50 EUR, booked as E-1"]);
  assert.equal(agent.entries().length, 1);
});

test("above the limit it asks who has approved, and tells the ledger", async () => {
  const agent = await make();
  const { state, text } = await agent.send("Train to Lisbon, 180 EUR");
  assert.deepEqual([state, text], ["input-required", "Train to Lisbon costs more than 100 EUR. Who has approved it?"]);
  assert.deepEqual(agent.entries(), []);
  assert.equal((await agent.send("Grace")).state, "working");
  assert.equal(agent.entries()[0]?.approvedBy, "Grace");
});

test("each caller has entries of its own", async () => {
  for (const caller of ["ada", "bob"]) {
    const agent = await make(caller);
    await agent.send("Taxi, 18 EUR");
    assert.deepEqual(agent.entries().map(({ owner }) => owner), [`key:${caller}`]);
  }
});

test("what is no receipt is refused, and what is never booked fails", async () => {
  assert.equal((await (await make()).send("hello")).state, "rejected");
  const agent = await make();
  await agent.send("Taxi, 18 EUR");
  const { state, text } = await agent.pass("31 days");
  assert.deepEqual([state, text], ["failed", "E-1 was not booked within 30 days"]);
});

test("no crash enters a receipt twice", async () => {
  await survivesCrashes(make, async (agent) => {
    await agent.send("Taxi, 18 EUR");
    await booked(agent);
  });
});

test("the coordinator gives each line to the agent, and says what was not entered", async () => {
  const agent = await testAgent(office, {
    remotes: { expenses: ({ parts: [part] }) => (part !== undefined && "text" in part && / EUR$/.test(part.text) ? `${part.text}: booked` : { state: "rejected", text: "no receipt" }) },
  });
  const { state, artifacts } = await agent.send("Lunch, 42.50 EUR\nhello\n");
  const said = Object.values(artifacts).map(({ text }) => text);
  assert.deepEqual([state, said], ["completed", ["Lunch, 42.50 EUR: booked", "not entered: no receipt"]]);
});

test("the coordinator passes a question on, and the answer back to the task that asked", async () => {
  const sent: { taskId: string | undefined; text: string }[] = [];
  const agent = await testAgent(office, {
    remotes: {
      expenses: ({ taskId, parts: [part] }) => {
        sent.push({ taskId, text: part !== undefined && "text" in part ? part.text : "" });
        return sent.length === 1 ? { state: "input-required", text: "Who has approved it?" } : "booked";
      },
    },
  });
  const { state, parts } = await agent.send("Train, 180 EUR");
  assert.deepEqual([state, parts[0]], ["input-required", { text: "Who has approved it?" }]);
  const { artifacts } = await agent.send("Grace");
  assert.deepEqual(Object.values(artifacts).map(({ text }) => text), ["booked"]);
  assert.deepEqual([{ data: [sent[1]?.taskId] }, sent[1]?.text], [parts[1], "Grace"]);
});
