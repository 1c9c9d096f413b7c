// The program that `npm start` runs beside the agents.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { serveExampleAgent } from "../../scripts/lib/example-agent.mjs";

/** Starts one, and returns the name and the value of its variable. */
async function start() {
  const [variable] = await serveExampleAgent();
  return /^([A-Z_]+):(.+)$/.exec(variable).slice(1);
}

const [name, url] = await start();

test("it answers a turn with verbs", async () => {
  const turn = { message: { parts: [{ text: "to be or not" }] }, caller: { id: "ada" } };
  const answer = await fetch(url, { method: "POST", body: JSON.stringify(turn) });
  assert.equal(answer.headers.get("content-type"), "application/x-ndjson");
  const verbs = (await answer.text()).trim().split("\n").map((line) => JSON.parse(line));
  assert.deepEqual(verbs.map((verb) => verb.do), ["working", "artifact", "complete"]);
  assert.deepEqual(verbs[1].data, { count: 4, caller: "ada" });
});

test("a request that is none breaks off, and the next one is answered", async () => {
  await assert.rejects(fetch(url, { method: "POST", body: "no JSON" }));
  assert.equal((await fetch(url, { method: "POST", body: '{"message":{"parts":[]},"caller":{"id":"a"}}' })).status, 200);
});

test("the agent file names the variable with its URL", () => {
  const file = readFileSync(new URL("../../agents/wordcount.toml", import.meta.url), "utf8");
  assert.ok(file.includes(`url = "\${${name}}"`), file);
});

test("a second one runs beside it, at a port of its own", async () => {
  const [, other] = await start();
  assert.notEqual(other, url);
  for (const at of [url, other]) assert.equal((await fetch(at, { method: "POST", body: '{"message":{"parts":[]},"caller":{"id":"a"}}' })).status, 200);
});
