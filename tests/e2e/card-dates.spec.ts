// The date of an agent card, for clients without support for ETags (spec §8.6).
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { startWorker, type Worker } from "./harness.ts";

const CARD = "/.well-known/agent-card.json";

let worker: Worker;
before(async () => {
  worker = await startWorker();
});
after(() => worker.stop());

const ask = (headers: Record<string, string> = {}) => fetch(worker.url + CARD, { headers });

async function modified(): Promise<Date> {
  return new Date((await ask()).headers.get("last-modified") ?? "");
}

const plus = (date: Date, seconds: number) => new Date(date.getTime() + seconds * 1000).toUTCString();

test("every card has the date of the build, which has passed (§8.6)", async () => {
  const date = await modified();
  assert.ok(date.getTime() > 0 && date.getTime() <= Date.now(), date.toString());
  const other = await fetch(`${worker.url}/demo${CARD}`);
  assert.equal(other.headers.get("last-modified"), date.toUTCString());
});

for (const seconds of [0, 1, 86_400]) {
  test(`a client that has the card of ${seconds} seconds later gets 304 without a body (§8.6)`, async () => {
    const date = await modified();
    const response = await ask({ "if-modified-since": plus(date, seconds) });
    assert.equal(response.status, 304);
    assert.equal(await response.text(), "");
    assert.equal(response.headers.get("last-modified"), date.toUTCString());
  });
}

test("a client that has an older card, or says no date, gets this one (§8.6)", async () => {
  const older = plus(await modified(), -1);
  for (const since of [older, "yesterday", "", "2026-01-05T09:00:00Z"]) {
    assert.equal((await ask({ "if-modified-since": since })).status, 200, since);
  }
});

test("an ETag goes before the date (§8.6)", async () => {
  const later = plus(await modified(), 1);
  const etag = (await ask()).headers.get("etag") ?? "";
  assert.equal((await ask({ "if-none-match": '"other"', "if-modified-since": later })).status, 200);
  assert.equal((await ask({ "if-none-match": etag, "if-modified-since": plus(new Date(0), 1) })).status, 304);
});
