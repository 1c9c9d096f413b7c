// The frame around the pages: where it is served, with which headers, and how one moves in it.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { startConsole, type Console } from "./console.ts";

let app: Console;
before(async () => {
  app = await startConsole();
});
after(() => app?.stop());

test("the console has an address that works with and without the last slash", async () => {
  const bare = await fetch(`${app.worker.url}/console`, { redirect: "manual" });
  assert.equal(bare.status, 307);
  assert.equal(bare.headers.get("location"), "/console/");
  const page = await fetch(app.url);
  assert.equal(page.status, 200);
  assert.match(await page.text(), /<title>a2a-edge console<\/title>/);
});
