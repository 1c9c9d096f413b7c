import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { startWorker, type Worker } from "./harness.ts";

let worker: Worker;
before(async () => {
  worker = await startWorker();
});
after(() => worker.stop());

test("the agent card is served as JSON (§8.2)", async () => {
  const response = await fetch(`${worker.url}/.well-known/agent-card.json`);
  assert.equal(response.status, 200);
  assert.match(response.headers.get("content-type") ?? "", /^application\/json\b/);
  const card = (await response.json()) as { name?: unknown };
  assert.equal(typeof card.name, "string");
});
