// The official Python SDK as the client. `npm test` makes its virtual environment where Python 3.10 or newer is to be
// had and names its interpreter in A2A_PYTHON.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { startWorker, type Worker } from "./harness.ts";

const python = process.env["A2A_PYTHON"];
const skip = python === undefined && "no Python 3.10 or newer with venv";
const walk = fileURLToPath(new URL("python/walk.py", import.meta.url));

let worker: Worker;
before(async () => {
  worker = await startWorker();
});
after(() => worker.stop());

for (const binding of ["JSONRPC", "HTTP+JSON"]) {
  test(`the Python SDK sends, follows, lists, cancels and manages webhooks over ${binding} (§3.1)`, { skip }, async () => {
    const { stdout } = await promisify(execFile)(python ?? "", [walk, worker.url, binding]);
    assert.deepEqual(stdout.trim().split("\n"), ["plain", "listing", "webhooks", "streams"].map((step) => `${binding} ${step}: ok`));
  });
}
