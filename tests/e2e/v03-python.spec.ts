// The official Python SDK of A2A 0.3 as the client.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { startWorker, type Worker } from "./harness.ts";
import { pythonV03, withoutPythonV03 as skip } from "./python.ts";
import { speaking, TRANSPORTS } from "./v03.ts";

const walk = fileURLToPath(new URL("python/v03.py", import.meta.url));

let worker: Worker;
before(async () => {
  worker = await startWorker({ vars: speaking() });
});
after(() => worker.stop());

for (const transport of TRANSPORTS) {
  test(`the Python SDK of 0.3 sends, follows, cancels and manages webhooks over ${transport}`, { skip }, async () => {
    const { stdout } = await promisify(execFile)(pythonV03, [walk, worker.url, transport]);
    assert.deepEqual(stdout.trim().split("\n"), ["plain", "parts", "webhooks", "inline", "streams", "subscribers"].map((step) => `${transport} ${step}: ok`));
  });
}
