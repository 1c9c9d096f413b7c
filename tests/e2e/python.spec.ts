// The official Python SDK as the client.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { startWorker, type Worker } from "./harness.ts";
import { python, withoutPython as skip } from "./python.ts";

const walk = fileURLToPath(new URL("python/walk.py", import.meta.url));

let worker: Worker;
before(async () => {
  worker = await startWorker();
});
after(() => worker.stop());

for (const binding of ["JSONRPC", "HTTP+JSON"]) {
  test(`the Python SDK sends, follows, lists, cancels and manages webhooks over ${binding} (§3.1)`, { skip }, async () => {
    const { stdout } = await promisify(execFile)(python, [walk, worker.url, binding]);
    assert.deepEqual(stdout.trim().split("\n"), ["plain", "listing", "webhooks", "deletion", "streams", "finished"].map((step) => `${binding} ${step}: ok`));
  });
}
