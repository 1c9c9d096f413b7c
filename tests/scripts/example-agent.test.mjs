// The program that `npm start` runs beside the agents.
import assert from "node:assert/strict";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { after, test } from "node:test";
import { serveExampleAgent } from "../../scripts/lib/example-agent.mjs";

const server = await serveExampleAgent(0);
const { port } = server.address();
after(() => server.close());

test("it answers a turn with verbs", async () => {
  const turn = { message: { parts: [{ text: "to be or not" }] }, caller: { id: "ada" } };
  const answer = await fetch(`http://127.0.0.1:${port}`, { method: "POST", body: JSON.stringify(turn) });
  assert.equal(answer.headers.get("content-type"), "application/x-ndjson");
  const verbs = (await answer.text()).trim().split("\n").map((line) => JSON.parse(line));
  assert.deepEqual(verbs.map((verb) => verb.do), ["working", "artifact", "complete"]);
  assert.deepEqual(verbs[1].data, { count: 4, caller: "ada" });
});

test("a request that is none breaks off, and the next one is answered", async () => {
  await assert.rejects(fetch(`http://127.0.0.1:${port}`, { method: "POST", body: "no JSON" }));
  assert.equal((await fetch(`http://127.0.0.1:${port}`, { method: "POST", body: '{"message":{"parts":[]},"caller":{"id":"a"}}' })).status, 200);
});

test("its port is that of the agent file, and one that is taken is no failure", async () => {
  const file = readFileSync(new URL("../../agents/wordcount.toml", import.meta.url), "utf8");
  assert.match(file, /url = "http:\/\/127\.0\.0\.1:8790"/);
  assert.equal(await serveExampleAgent(port), undefined);
  await once(server.close(), "close").catch(() => undefined);
});
